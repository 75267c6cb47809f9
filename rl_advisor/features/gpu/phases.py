"""What the signals of a GPU show tick by tick: quiet time, two levels of power, and the cycle in which they return."""

import numpy as np
import numpy.typing as npt

from rl_advisor.features import TooFewPoints

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

GENERATION, TRAINING, WAITING = 0, 1, 2
SPINNING = 0.25
"""How far above the floor, in parts of the way to the usual power, a GPU may be that only waits in a loop."""
LONGEST = 40_000
"""Values that the cycle is sought in."""


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


def shares_of(label: Ints) -> Floats:
    """Share of the ticks with label 0, 1 and 2."""
    return np.asarray(np.bincount(label, minlength=3)[:3] / max(label.size, 1))


def otsu(values: Floats, bins: int = 128) -> float:
    """The threshold that parts the values into two classes with the largest variance between them (Otsu 1979)."""
    if values.size < 2:
        raise TooFewPoints("fewer than two values")
    count, edges = np.histogram(values, bins)
    middle = (edges[1:] + edges[:-1]) / 2
    below, moment = np.cumsum(count)[:-1], np.cumsum(count * middle)[:-1]
    whole, total = values.size, float((count * middle).sum())
    between = (total * below / whole - moment) ** 2 / np.maximum(below * (whole - below), 1)
    return float(edges[1:-1][between.argmax()])


def cycle(values: Floats, spacing: float, shortest: float = 0.8) -> tuple[float, float]:
    """Seconds of the cycle in which the values return, and the autocorrelation there; (nan, 0) without one.

    The first local maximum of the autocorrelation that is at least 0.8 of the highest; it may span several steps.
    """
    if values.size < 40 or np.ptp(values) == 0:
        return float("nan"), 0.0
    values = values[:LONGEST]
    centred = values - values.mean()
    power = np.abs(np.fft.rfft(centred, 2 * values.size)) ** 2
    again = np.fft.irfft(power)[: values.size // 2]
    again = again / again[0]
    reach = max(round(shortest / spacing), 1)
    peaks = [i for i in range(reach, again.size - 1) if again[i] == again[max(i - reach, 0) : i + reach + 1].max() and again[i] > 0]
    if not peaks:
        return float("nan"), 0.0
    highest = max(again[i] for i in peaks)
    first = next(i for i in peaks if again[i] >= 0.8 * highest)
    return float(first * spacing), float(again[first])
