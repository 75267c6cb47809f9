"""Where a training step's time goes: quiet time, one homogeneous block of training at its end, generation before it.

All arrays are evenly sampled *ticks*. A tick belongs to a step (``step_of``, -1 outside) and is quiet or active. The order
inside a step is taken as known: whatever comes first, the training block last; how long the block is, the signals say.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

GENERATION, TRAINING, WAITING = 0, 1, 2
STARTS = 16
KEEP = 3
DIP = 3
SPINNING = 0.25
"""How far above the floor, in parts of the way to the usual power, a GPU may be that only waits in a loop."""
RIDGE = 0.02
"""Added to variances, in units of each signal's own: no class is narrower than the sensors' noise."""


def runs_of(flags: Flags) -> Ints:
    """First and one-past-last index of every run of true values, one row a run."""
    edges = np.diff(np.r_[0, flags.astype(np.int8), 0])
    return np.stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)], axis=1)


def quiet_ticks(utilization: Floats, activity: Floats | None, power: Floats | None, *, shortest: int, margin: int = 0) -> Flags:
    """Ticks at which the GPU did nothing: memory untouched, utilisation at most 10 %, power on its way to its floor.

    The floor is the median of power over such ticks; a run of them counts when power comes nearer to the floor than to what it is
    elsewhere. Ticks that leave memory untouched near the floor are quiet whatever utilisation says: waits at a collective spin. Runs
    shorter than ``shortest`` ticks are no quiet.
    """
    low = np.minimum(utilization, np.r_[utilization[1:], utilization[-1:]]) <= 0.10
    if activity is not None:
        low &= ~(activity > 0)
    half = np.inf
    if power is not None and low.any() and not low.all():
        floor = float(np.median(power[low]))
        gap = max(float(np.median(power[~low])) - floor, 0.0)
        half = max(floor + gap / 2, 1.12 * floor + 3)
        if activity is not None:
            low |= ~(activity > 0) & (power <= floor + gap * SPINNING)
    quiet = np.zeros(low.size, bool)
    for first, last in runs_of(low):
        if last - first >= shortest and (power is None or power[first:last].min() <= half):
            quiet[max(first - margin, 0) : last + margin] = True
    return quiet


@dataclass(frozen=True)
class _Gauss:
    mean: Floats
    root: Floats
    """Inverse Cholesky factor of the covariance."""
    norm: float

    def log(self, points: Floats) -> Floats:
        scaled = (points - self.mean) @ self.root.T
        return np.asarray(self.norm - 0.5 * (scaled**2).sum(axis=1))


def _gauss(points: Floats, weight: Floats) -> _Gauss:
    total = weight.sum() + 1e-12
    mean = weight @ points / total
    centred = points - mean
    covariance = (centred * weight[:, None]).T @ centred / total + RIDGE * np.eye(points.shape[1])
    root = np.linalg.inv(np.linalg.cholesky(covariance))
    return _Gauss(mean, root, float(np.log(np.diag(root)).sum()))


def _mixture_log(points: Floats, parts: list[tuple[float, _Gauss]]) -> tuple[Floats, Floats]:
    """Log-density of the mixture, and the responsibility of each part."""
    logs = np.stack([np.log(share + 1e-12) + gauss.log(points) for share, gauss in parts], axis=1)
    top = logs.max(axis=1, keepdims=True)
    dense = np.exp(logs - top)
    total = dense.sum(axis=1, keepdims=True)
    return (top + np.log(total))[:, 0], dense / total


def _mixture(points: Floats, levels: int, sweeps: int = 5) -> list[tuple[float, _Gauss]]:
    """A Gaussian mixture by expectation maximisation, started from equal parts in the order of the first signal."""
    rank = points[:, 0].argsort().argsort() * levels // max(len(points), 1)
    responsibility = np.eye(levels)[rank]
    parts: list[tuple[float, _Gauss]] = []
    for _ in range(sweeps if levels > 1 else 1):
        parts = [(float(r.mean()), _gauss(points, r)) for r in responsibility.T]
        responsibility = _mixture_log(points, parts)[1]
    return parts


def end_blocks(signals: Floats, step_of: Ints, quiet: Flags, *, levels: tuple[int, int] = (3, 1)) -> Ints:
    """Label every tick: quiet ones wait, the last stretch of each step trains, what is before it generates.

    What is before and the block itself are mixtures of so many Gaussians (``levels``) in the signals; each step's boundary maximises
    the summed log-likelihood, in turns with the fit, from 16 starting durations; the likeliest end state is kept.
    """
    active = np.flatnonzero(~quiet & (step_of >= 0))
    points = _standard(signals[active])
    steps = step_of[active]
    starts = np.linspace(0.03, 0.92, STARTS)
    drafts = [_settle(points, steps, _tail(steps, share), levels, sweeps=3) for share in starts]
    best = sorted(drafts, key=lambda d: -d[1])[:KEEP]
    training, _, gain = max((_settle(points, steps, d[0], levels, sweeps=12) for d in best), key=lambda d: d[1])
    training = _over_the_dip(training, gain, steps)
    training = _half_height(training, signals[active, 0], steps)
    label = np.where(quiet, WAITING, GENERATION).astype(np.int64)
    label[active[training]] = TRAINING
    return label


def _standard(signals: Floats) -> Floats:
    """Each signal less its median, over its spread."""
    spread = np.std(signals, axis=0)
    return np.asarray((signals - np.median(signals, axis=0)) / np.where(spread > 0, spread, 1))


def _ends(steps: Ints) -> tuple[Ints, Ints]:
    """First and one-past-last position of each step in an array of sorted step numbers."""
    edge = np.flatnonzero(np.diff(steps)) + 1
    return np.r_[0, edge], np.r_[edge, steps.size]


def _tail(steps: Ints, share: float) -> Flags:
    """The last ``share`` of every step."""
    first, last = _ends(steps)
    size = last - first
    place = np.arange(steps.size) - np.repeat(first, size)
    return np.asarray(place >= np.repeat(np.minimum(size - 1, np.round(size * (1 - share))), size))


def _settle(points: Floats, steps: Ints, training: Flags, levels: tuple[int, int], *, sweeps: int) -> tuple[Flags, float, Floats]:
    """The training ticks, their log-likelihood and each tick's gain from training, after fitting and moving boundaries in turns."""
    likelihood, gain = -np.inf, np.zeros(steps.size)
    for _ in range(sweeps):
        if (~training).sum() < 4 * levels[0] or training.sum() < 4 * levels[1]:
            break
        base = _mixture_log(points, _mixture(points[~training], levels[0]))[0]
        gain = _mixture_log(points, _mixture(points[training], levels[1]))[0] - base
        moved, added = _boundaries(gain, steps)
        likelihood = float(base.sum() + added)
        if (moved == training).all():
            break
        training = moved
    return training, likelihood, gain


def _over_the_dip(training: Flags, gain: Floats, steps: Ints) -> Flags:
    """Training with what looks like it and is parted from the block by at most DIP ticks: log-probabilities before a quick reward."""
    wider = training.copy()
    for first, _ in runs_of(training):
        before = np.flatnonzero(gain[max(first - DIP - 1, 0) : first] > 0) + max(first - DIP - 1, 0)
        before = before[steps[before] == steps[first]]
        if before.size:
            start = before[-1]
            while start > 0 and gain[start - 1] > 0 and steps[start - 1] == steps[first]:
                start -= 1
            wider[start:first] = True
    return wider


def _half_height(training: Flags, power: Floats, steps: Ints, reach: int = 3) -> Flags:
    """Training with each block's start moved, by at most ``reach`` ticks, to where power is half way between the two levels.

    Smoothing turns the edge into a ramp, and the likelihood puts the whole ramp into the looser of the two classes.
    """
    moved = training.copy()
    for first, last in runs_of(training):
        low = max(first - reach, int(np.searchsorted(steps, steps[first])))
        high = min(first + reach, last - 1)
        before, inside = power[max(low - 3, 0) : max(low, 1)], power[first:last]
        if low == 0 or not before.size:
            continue
        middle = (np.median(before) + np.median(inside)) / 2
        over = (power[low : high + 1] - middle) * np.sign(np.median(inside) - np.median(before)) >= 0
        if over.any() and not over.all():
            moved[low : high + 1] = False
            moved[low + int(over.argmax()) : last] = True
    return moved


def edge(signals: Floats, label: Ints, step_of: Ints, reach: int = 4) -> Floats:
    """How far each signal jumps, in its own spread, where the training of a step begins: the mean over the steps.

    The ``reach`` active ticks before the block are set against those in it, the tick at either side of the edge left out; a step
    that has none of either counts as no jump.
    """
    active = np.flatnonzero((label != WAITING) & (step_of >= 0))
    points, training, steps = _standard(signals[active]), label[active] == TRAINING, step_of[active]
    jumps = []
    for first, last in zip(*_ends(steps), strict=True):
        begin = first + int(training[first:last].argmax())
        before, inside = points[max(begin - 1 - reach, first) : max(begin - 1, first)], points[begin + 1 : min(begin + 1 + reach, last)]
        if training[begin] and len(before) and len(inside):
            jumps.append(np.clip(np.median(inside, axis=0) - np.median(before, axis=0), -3, 3))
        else:
            jumps.append(np.zeros(signals.shape[1]))
    return np.asarray(np.mean(jumps, axis=0)) if jumps else np.zeros(signals.shape[1])


def change_at_ends(signal: Floats, step_of: Ints, reach: int = 4) -> float:
    """How far a signal jumps, in its own spread, from the last ticks of a step to the first of the next one given: the mean of steps."""
    ends = np.flatnonzero((np.diff(step_of) > 0) & (step_of[:-1] >= 0)) + 1
    ends = ends[(ends > reach) & (ends < signal.size - reach)]
    spread = float(np.std(signal[step_of >= 0])) if ends.size else 0.0
    if spread == 0:
        return 0.0
    before = np.median(signal[ends[:, None] - np.arange(2, reach + 2)], axis=1)
    after = np.median(signal[ends[:, None] + np.arange(1, reach + 1)], axis=1)
    return float(np.clip((after - before) / spread, -3, 3).mean())


def _boundaries(gain: Floats, steps: Ints) -> tuple[Flags, float]:
    """Per step, the last stretch over which the summed ``gain`` is largest; at least one tick, and the sum over steps."""
    tail = np.cumsum(gain[::-1])[::-1]
    training = np.zeros(gain.size, bool)
    total = 0.0
    for first, last in zip(*_ends(steps), strict=True):
        inside = tail[first:last] - (tail[last] if last < gain.size else 0.0)
        at = int(inside.argmax())
        training[first + at : last] = True
        total += float(inside[at])
    return training, total
