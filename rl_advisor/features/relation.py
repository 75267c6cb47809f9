"""Two curves together: do they move alike, do they part."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rl_advisor.features import TooFewPoints
from rl_advisor.features.autoregression import lag_one
from rl_advisor.features.series import Floats, constant, finite
from rl_advisor.features.trend import Trend, trend


@dataclass(frozen=True)
class Correlation:
    """Spearman's rank correlation with a 95 % interval that knows of memory in both curves."""

    rho: float
    low: float
    high: float
    n_eff: float


def correlation(a: npt.ArrayLike, b: npt.ArrayLike) -> Correlation:
    """Rank correlation of two equally long series, point by point; pairs with NaN are dropped.

    The effective count deflates n by both lag-one correlations (Bartlett 1935). A constant series gives rho 0 with the interval -1..1.
    Raises TooFewPoints below 4 pairs.
    """
    u, v = np.asarray(a, np.float64).ravel(), np.asarray(b, np.float64).ravel()
    if u.size != v.size:
        raise ValueError(f"a has {u.size} entries and b {v.size}; they must be of one length")
    keep = np.isfinite(u) & np.isfinite(v)
    u, v = u[keep], v[keep]
    if u.size < 4:
        raise TooFewPoints(f"{u.size} pairs, 4 needed")
    if constant(u) or constant(v):
        return Correlation(0.0, -1.0, 1.0, 0.0)
    u, v = ranks(u) - (u.size + 1) / 2, ranks(v) - (v.size + 1) / 2
    rho = float(np.clip(u @ v / np.sqrt((u @ u) * (v @ v)), -1, 1))
    gap = np.ones(u.size - 1)
    product = lag_one(u, gap, 1) * lag_one(v, gap, 1)
    n_eff = float(np.clip(u.size * (1 - product) / (1 + product), 1, u.size))
    if n_eff <= 4:
        return Correlation(rho, -1.0, 1.0, n_eff)
    # Fisher's z; 1.03 is the variance factor of ranks (Fieller, Hartley and Pearson 1957).
    middle, half = np.arctanh(np.clip(rho, -1 + 1e-12, 1 - 1e-12)), 1.96 * np.sqrt(1.03 / (n_eff - 3))
    return Correlation(rho, float(np.tanh(middle - half)), float(np.tanh(middle + half)), n_eff)


def ranks(value: Floats) -> Floats:
    """Ranks from 1, ties sharing their mean."""
    _, inverse, counts = np.unique(value, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((2 * last - counts + 1) / 2)[inverse]


def aligned(step_a: npt.ArrayLike, a: npt.ArrayLike, step_b: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Both curves on the steps of the sparser one inside their common range: the denser one smoothed, then interpolated.

    Raises TooFewPoints below 3 common points.
    """
    (xa, ya), (xb, yb) = finite(step_a, a), finite(step_b, b)
    low, high = max(xa[0], xb[0]), min(xa[-1], xb[-1])
    inside_a, inside_b = ((x >= low) & (x <= high) for x in (xa, xb))
    x = xa[inside_a] if inside_a.sum() <= inside_b.sum() else xb[inside_b]
    if x.size < 3:
        raise TooFewPoints(f"{x.size} common points, 3 needed")
    return x, _at(x, xa, ya), _at(x, xb, yb)


def _at(x: Floats, step: Floats, value: Floats) -> Floats:
    """Values at ``x``: means over the half-way cells around each of its points, interpolated where a cell is empty."""
    edges = np.concatenate([[-np.inf], (x[1:] + x[:-1]) / 2, [np.inf]])
    cell = np.searchsorted(edges, step, side="right") - 1
    count = np.bincount(cell, minlength=x.size)
    mean = np.bincount(cell, weights=value, minlength=x.size) / np.maximum(count, 1)
    return np.where(count > 0, mean, np.interp(x, step, value))


def gap_trend(step_a: npt.ArrayLike, a: npt.ArrayLike, step_b: npt.ArrayLike, b: npt.ArrayLike, *, scaled: bool = True) -> Trend:
    """The trend of a - b on their common steps; with ``scaled`` each is first put into its own standard deviations.

    A constant gap has no trend. Raises TooFewPoints below 3 common points.
    """
    x, u, v = aligned(step_a, a, step_b, b)
    return trend(x, _z(u) - _z(v) if scaled else u - v)


def _z(value: Floats) -> Floats:
    return value * 0.0 if constant(value) else (value - value.mean()) / value.std()
