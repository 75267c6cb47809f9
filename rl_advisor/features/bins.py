"""A long curve as bins, a smooth line through a curve, and what lies far from its neighbours."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from rl_advisor.features.series import MOST, Floats, Indices, bin_edges, finite

NORMAL_MAD = 1.4826


@dataclass(frozen=True)
class Bins:
    """Stretches of a curve of (nearly) equal count; all arrays have one entry a bin."""

    step: Floats
    """Mean step of the bin."""
    median: Floats
    low: Floats
    high: Floats


def reduce(step: npt.ArrayLike, value: npt.ArrayLike, most: int = MOST) -> Bins:
    """At most ``most`` bins of a curve; NaN is dropped. Raises TooFewPoints for a curve without a finite point."""
    x, y = finite(step, value)
    edges = bin_edges(x.size, most)
    count = np.diff(np.append(edges, x.size))
    return Bins(
        step=np.add.reduceat(x, edges) / count,
        median=np.array([np.median(part) for part in np.split(y, edges[1:])]),
        low=np.minimum.reduceat(y, edges),
        high=np.maximum.reduceat(y, edges),
    )


def evenly(count: int, most: int) -> list[int]:
    """At most ``most`` of ``count`` places, evenly chosen, the first and the last among them."""
    return sorted({round(i * (count - 1) / max(most - 1, 1)) for i in range(most)}) if count > most else list(range(count))


def running_mean(value: Floats, width: int) -> Floats:
    """Centred mean over ``width`` points along the first axis, over those that exist at the ends."""
    n = value.shape[0]
    half = min(width // 2, n - 1)
    total = np.concatenate([np.zeros_like(value[:1]), np.cumsum(value, axis=0)])
    low, high = np.maximum(np.arange(n) - half, 0), np.minimum(np.arange(n) + half + 1, n)
    count = (high - low).reshape(-1, *[1] * (value.ndim - 1))
    mean: Floats = (total[high] - total[low]) / count
    return mean


def clipped(value: Floats) -> Floats:
    """The curve with points beyond 4 deviations from their running median pulled in, so that an outlier is no pair of breaks."""
    middle, spread = hampel(value, 11)
    # Where most values are equal the MAD is nothing; the mean distance is not.
    spread = np.maximum(spread, np.abs(value - middle).mean())
    return np.clip(value, middle - 4 * spread, middle + 4 * spread)


def hampel(value: Floats, width: int) -> tuple[Floats, Floats]:
    """Running median and the scaled median distance from it, in blocks so that long curves fit in memory."""
    half = min(width, value.size) // 2
    padded = np.pad(value, half, mode="reflect" if value.size > half else "edge")
    middle, spread = np.empty_like(value), np.empty_like(value)
    for start in range(0, value.size, 65536):
        stop = min(start + 65536, value.size)
        windows = sliding_window_view(padded[start : stop + 2 * half], 2 * half + 1)
        middle[start:stop] = np.median(windows, axis=1)
        spread[start:stop] = np.median(np.abs(windows - middle[start:stop, None]), axis=1)
    return middle, NORMAL_MAD * spread


def means(value: Floats, breaks: Indices) -> Floats:
    """A mean of the neighbours of each value that weighs near ones more, a twentieth of the curve wide; none reaches across a break."""
    width = max(3, value.size // 20)
    return np.concatenate([running_mean(running_mean(part, width), width) for part in np.split(value, breaks)])
