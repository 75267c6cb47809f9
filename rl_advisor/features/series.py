"""A curve as the statistics see it: finite points in order of step, on at most a given number of bins."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rl_advisor.features import TooFewPoints

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
LEAST, GREATEST = 1e-80, 1e80
"""Differences below the one are rounding, sizes above the other are no measurement: their squares leave floating point."""
MOST = 512
"""Points that a quadratic statistic is allowed to see."""


@dataclass(frozen=True)
class Change:
    """Means at first and latest, and their difference with its 95 % interval."""

    first: float
    latest: float
    delta: float
    low: float
    high: float

    @property
    def up(self) -> bool:
        """Whether it rose by more than chance."""
        return self.low > 0

    @property
    def down(self) -> bool:
        """Whether it fell by more than chance."""
        return self.high < 0


def finite(step: npt.ArrayLike, value: npt.ArrayLike, least: int = 1) -> tuple[Floats, Floats]:
    """Steps and values without NaN, infinity and values beyond 1e80.

    Raises:
        TooFewPoints: fewer than ``least`` points are left.
        ValueError: the arrays differ in length, or steps do not rise.

    """
    x, y = np.asarray(step, np.float64).ravel(), np.asarray(value, np.float64).ravel()
    if x.size != y.size:
        raise ValueError(f"step has {x.size} entries and value {y.size}; they must be of one length")
    keep = np.isfinite(x) & np.isfinite(y) & (np.abs(y) < GREATEST)
    x, y = x[keep], y[keep]
    if x.size < least:
        raise TooFewPoints(f"{x.size} finite points, {least} needed")
    if (np.diff(x) <= 0).any():
        raise ValueError("step must be strictly increasing")
    return x, y


def thinned(step: npt.ArrayLike, value: npt.ArrayLike, least: int = 1, most: int = MOST) -> tuple[Floats, Floats]:
    """Finite points, averaged into at most ``most`` bins of equal count (so that every bin is equally noisy)."""
    x, y = finite(step, value, least)
    if x.size <= most:
        return x, y
    edges = bin_edges(x.size, most)
    count = np.diff(np.append(edges, x.size))
    return np.add.reduceat(x, edges) / count, np.add.reduceat(y, edges) / count


def bin_edges(n: int, most: int) -> Indices:
    """Index of the first point of each of at most ``most`` bins whose counts differ by at most one."""
    bins = min(n, most)
    return (np.arange(bins) * n) // bins


def ranks(value: Floats) -> Floats:
    """Ranks from 1, ties sharing their mean."""
    _, inverse, counts = np.unique(value, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((2 * last - counts + 1) / 2)[inverse]


def constant(value: Floats) -> bool:
    """Whether a curve varies by no more than rounding."""
    return bool(np.ptp(value) <= 1e-12 * max(LEAST, float(np.abs(value).max())))


def scatter(value: Floats) -> float:
    """Standard deviation of one point from the median step between neighbours: blind to jumps and drifts."""
    return float(1.4826 * np.median(np.abs(np.diff(value))) / np.sqrt(2))
