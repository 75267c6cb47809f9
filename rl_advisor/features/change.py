"""When did a curve break, and how: onset with an interval, change points, abrupt changes of scale, and spikes.

Every place of a step, a ramp or a kink is tried at once, under noise that remembers.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rl_advisor.features import student
from rl_advisor.features.autoregression import deviance, lag_one, memories, spacing, whiten
from rl_advisor.features.bins import clipped, hampel
from rl_advisor.features.series import Bools, Floats, Indices, constant, finite, thinned
from rl_advisor.features.trend import trend

ChangeKind = Literal["step", "hinge"]
ONSET_BINS = 256
SURE = 0.02
"""p-value of a trend below which a curve did leave what it was, though neither a step nor a kink describes how."""
RAMPS = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
"""Shares of the span that a change may take before it is complete."""
AS_LIKELY = 8.0
"""By how much less twice its log likelihood a place may be than the best one to lie in the interval of an onset."""


@dataclass(frozen=True)
class OnsetEstimate:
    """Where a curve leaves what it was: the kind of break, its place with an interval, and its size."""

    kind: ChangeKind
    at: float
    """First step of the new level, or the kink of a hinge."""
    low: float
    high: float
    size: float
    """Height of a step; rise of a hinge from its kink (to a new level or to the end)."""


def onset(step: npt.ArrayLike, value: npt.ArrayLike) -> OnsetEstimate | None:
    """The best step or kink by penalised likelihood, with all places that are about as likely; None where neither is there.

    Raises TooFewPoints below 6 finite points.
    """
    x, y = thinned(step, value, least=6, most=ONSET_BINS)
    if constant(y):
        return None
    columns, index = _step_columns(x.size, 2)
    kinks = np.arange(1, x.size - 2)
    some = kinks[:: 1 + x.size // 64]
    begin = np.concatenate([kinks, np.tile(some, len(RAMPS))])
    width = (x[-1] - x[0]) * np.concatenate([np.ones(kinks.size), np.repeat(RAMPS, some.size)])
    shapes = np.hstack([columns, np.clip((x[:, None] - x[begin]) / width, 0.0, 1.0)])
    places = x[np.concatenate([index, begin])]
    fit = _best(y, shapes, np.ones((x.size, 1)), spacing(x))
    if fit.gain < _penalty(x.size) and trend(x, y).p > SURE:
        return None
    near = places[fit.worse < AS_LIKELY]
    kind: ChangeKind = "step" if fit.pick < index.size else "hinge"
    return OnsetEstimate(kind, float(places[fit.pick]), float(near.min()), float(near.max()), fit.size * float(shapes[-1, fit.pick]))


def _step_columns(n: int, edge: int) -> tuple[Floats, Indices]:
    """Level shifts that leave at least ``edge`` points on each side, and the first shifted point of each."""
    index = np.arange(edge, n - edge + 1)
    return (np.arange(n)[:, None] >= index).astype(np.float64), index


class _Fit(NamedTuple):
    """The best of many breaks."""

    pick: int
    size: float
    """What it adds to the mean, in its column."""
    error: float
    gain: float
    """Twice the log likelihood that it adds to noise with whatever memory serves that best without a break."""
    worse: Floats
    """By how much less every break adds."""


def _best(value: Floats, columns: Floats, base: Floats, gap: Floats) -> _Fit:
    """The column that explains most beside those of the base; memory is judged about the best of white noise, lest a break pass for it."""
    phi, freedom = 0.0, max(value.size - base.shape[1] - 2, 1)
    for _ in range(2):
        used, (frame, _upper) = phi, np.linalg.qr(whiten(base, phi, gap))
        free, white = (x - frame @ (frame.T @ x) for x in (whiten(columns, phi, gap), whiten(value, phi, gap)))
        length = np.maximum((free**2).sum(axis=0), 1e-18)
        sizes = np.where(length > 1e-18, free.T @ white / length, 0.0)
        left = np.maximum(white @ white - sizes**2 * length, 1e-300)
        pick = int(left.argmin())
        rest = white - sizes[pick] * free[:, pick]
        phi = lag_one(rest, gap, base.shape[1] + 2)
    gain = float(memories(base, value, gap).deviance.min()) - deviance(rest, used, gap)
    error = float(np.sqrt(rest @ rest / freedom / length[pick]))
    return _Fit(pick, float(sizes[pick]), error, gain, value.size * (np.log(left) - np.log(left[pick])))


@dataclass(frozen=True)
class ChangePoint:
    """One level shift: first step of the new level, and the levels around it."""

    step: float
    before: float
    after: float


def change_points(step: npt.ArrayLike, value: npt.ArrayLike) -> tuple[ChangePoint, ...]:
    """Level shifts in order of step, at most five: forward search under AR(1) noise, then each tested against that noise.

    The p-value is corrected for the number of places that were searched. Raises TooFewPoints below 6 finite points.
    """
    x, y = thinned(step, value, least=6, most=ONSET_BINS)
    if constant(y):
        return ()
    gap, clean = spacing(x), clipped(y)
    columns, index = _step_columns(x.size, 3 if x.size >= 12 else 2)
    one = np.ones((x.size, 1))
    loose = _search(clean, columns, one)
    kept, _ = np.linalg.qr(np.column_stack([one, columns[:, loose]]))
    phi = lag_one(clean - kept @ (kept.T @ clean), gap, kept.shape[1])
    picks = _search(whiten(clean, phi, gap), whiten(columns, phi, gap), whiten(one, phi, gap), _penalty(x.size))
    edges = [0, *sorted(int(index[k]) for k in _tested(clean, columns, gap, picks)), x.size]
    middles = [float(np.median(y[a:b])) for a, b in pairwise(edges)]
    return tuple(ChangePoint(float(x[i]), before, after) for i, (before, after) in zip(edges[1:-1], pairwise(middles), strict=True))


def _search(value: Floats, columns: Floats, base: Floats, cost: float = 0.0) -> list[int]:
    """Columns added one by one, each the one that takes away most error, while it explains more than ``cost``."""
    frame, _ = np.linalg.qr(base)
    picks: list[int] = []
    free, rest = columns - frame @ (frame.T @ columns), value - frame @ (frame.T @ value)
    for _ in range(5):
        length = (free**2).sum(axis=0)
        gains = np.where(length > 1e-9, (free.T @ rest) ** 2 / np.maximum(length, 1e-9), 0.0)
        k, total = int(gains.argmax()), float(rest @ rest)
        if total <= 1e-20 or gains[k] <= 0 or value.size * np.log(total / max(total - gains[k], 1e-12 * total)) < cost:
            break
        picks.append(k)
        unit = free[:, k] / np.sqrt(length[k])
        rest, free = rest - unit * (unit @ rest), free - np.outer(unit, unit @ free)
    return picks


def _tested(value: Floats, columns: Floats, gap: Floats, picks: list[int], level: float = 0.05) -> list[int]:
    """The breaks that survive when each is tested beside the others, the weakest leaving first; p-values know of all places."""

    def least(some: list[int]) -> float:
        return float(memories(np.column_stack([np.ones(value.size), columns[:, some]]), value, gap).deviance.min())

    while picks:
        best = least(picks)
        gains = [least([q for q in picks if q != k]) - best for k in picks]
        if _chance(min(gains), value.size, value.size - len(picks) - 2, columns.shape[1]) <= level:
            return picks
        picks = [k for k, gain in zip(picks, gains, strict=True) if gain > min(gains)]
    return []


@dataclass(frozen=True)
class Discontinuity:
    """The most abrupt change of scale of a curve: ratio of typical sizes after and before, with a 95 % interval."""

    at: float
    ratio: float
    low: float
    high: float
    p: float
    """Against none, corrected for the search; 1 when nothing stands out."""


def discontinuity(step: npt.ArrayLike, value: npt.ArrayLike) -> Discontinuity:
    """Where the size of a loss or norm jumps ("doubled or halved") beside a steady drift of its logarithm.

    Raises TooFewPoints below 8 finite points.
    """
    x, y = thinned(step, value, least=8, most=ONSET_BINS)
    size = np.abs(y)
    if constant(size):
        return Discontinuity(float(x[-1]), 1.0, 1.0, 1.0, 1.0)
    logs = clipped(np.log(np.maximum(size, size[size > 0].min())))
    columns, index = _step_columns(x.size, 3)
    fit = _best(logs, columns, np.column_stack([np.ones(x.size), (x - x[0]) / (x[-1] - x[0])]), spacing(x))
    half = fit.error * student.quantile(max(x.size - 4, 1), 0.975)
    low, middle, high = (float(np.exp(np.clip(v, -700, 700))) for v in (fit.size - half, fit.size, fit.size + half))
    return Discontinuity(float(x[index[fit.pick]]), middle, low, high, _chance(fit.gain, x.size, max(x.size - 4, 1), index.size))


class Spikes(NamedTuple):
    """Single points far above their surroundings; arrays of one length."""

    steps: Floats
    sizes: Floats
    """Size of the point over the typical size around it."""
    recovered: Bools
    """Whether the points after it are back at the level before it; false while none has come."""


def spikes(step: npt.ArrayLike, value: npt.ArrayLike, width: int = 51, deviations: float = 5.0, ratio: float = 3.0) -> Spikes:
    """Raw points beyond ``deviations`` (scaled) MADs of their running median and at least ``ratio`` times its size.

    Both are asked because the MAD of a tight series is next to nothing. Raises TooFewPoints below 5 finite points.
    """
    x, y = finite(step, value, least=5)
    middle, spread = hampel(y, width)
    # Where most values are zero a tenth of the mean size stands for the typical one.
    typical = np.maximum(np.abs(middle), max(float(np.median(np.abs(y))), 0.1 * float(np.abs(y).mean())))
    out = (np.abs(y - middle) > deviations * spread) & (np.abs(y) >= ratio * typical) & (np.abs(y) > 0)
    at = np.flatnonzero(out)
    sizes = np.abs(y[at]) / typical[at]
    after = np.array([abs(np.median(y[i + 1 : i + 6])) if i + 1 < y.size else np.inf for i in at.tolist()])
    return Spikes(x[at], sizes, after <= 1.5 * typical[at] + 2 * spread[at])


def _penalty(n: int) -> float:
    """What a break must add to twice the log likelihood to be believed, more where n is small.

    Noise without a break adds less in 95 of 100 curves at any memory up to 0.9 (by simulation: docs/dev/calibration.md).
    """
    return 15 * (1 + 4 / n)


def _chance(gain: float, n: int, freedom: int, places: int) -> float:
    """p-value of a break that adds ``gain`` to twice the log likelihood, found among ``places`` (Bonferroni over them).

    The gain is shrunk as if ten points had gone into the memory of the noise, which is fitted with and without the break:
    with that the share of false breaks is held at any memory up to 0.9 (by simulation: docs/dev/calibration.md).
    """
    t = np.sqrt(max(freedom, 1) * np.expm1(np.clip(gain / (n + 10.0), 0.0, 700.0)))
    return float(min(1.0, places * 2 * float(student.below(max(freedom, 1), -t))))
