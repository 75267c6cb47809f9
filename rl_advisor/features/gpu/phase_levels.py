"""What power alone shows when step ends are not known: two levels, and the cycle in which they return."""

import numpy as np
import numpy.typing as npt

from rl_advisor.features import TooFewPoints

Floats = npt.NDArray[np.float64]


LONGEST = 40_000
"""Values that the cycle is sought in."""


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
