"""Two curves together: do they move alike, do they part, what does a nat of KL buy, and which of the nine regimes is it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rl_advisor.features import TooFewPoints
from rl_advisor.features.autoregression import estimate, lag_one, spacing
from rl_advisor.features.bins import smooth
from rl_advisor.features.series import Floats, constant, finite, thinned
from rl_advisor.features.trend import Direction, Trend, direction, trend


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


@dataclass(frozen=True)
class Efficiency:
    """Reward gained per square root of KL over the last window, 95 % interval."""

    slope: float
    low: float
    high: float
    window_first: float
    window_last: float


def efficiency(step: npt.ArrayLike, reward: npt.ArrayLike, kl: npt.ArrayLike, share: float = 1 / 3) -> Efficiency:
    """D reward / d sqrt(KL) over the last ``share`` of the steps, errors under AR(1) noise; infinite interval while KL does not move.

    Raises TooFewPoints below 5 points with both in the window.
    """
    x, y, k = _window(step, reward, kl, share)
    root = np.sqrt(np.maximum(k, 0.0))
    if constant(root):
        return Efficiency(0.0, -np.inf, np.inf, float(x[0]), float(x[-1]))
    design = np.column_stack([np.ones_like(root), root])
    found = estimate(design, y, 1, spacing(x))
    low, high = found.interval(0.95)
    return Efficiency(found.value, low, high, float(x[0]), float(x[-1]))


def _window(step: npt.ArrayLike, reward: npt.ArrayLike, kl: npt.ArrayLike, share: float) -> tuple[Floats, Floats, Floats]:
    s, r, k = (np.asarray(v, np.float64).ravel() for v in (step, reward, kl))
    keep = np.isfinite(r) & np.isfinite(k)
    x, y = finite(s[keep], r[keep])
    late = x >= x[-1] - share * (x[-1] - x[0])
    if late.sum() < 5:
        raise TooFewPoints(f"{int(late.sum())} points in the last window, 5 needed")
    first, second = thinned(x[late], y[late]), thinned(x[late], k[keep][late])
    return first[0], first[1], second[1]


@dataclass(frozen=True)
class Regime:
    """Which way reward and KL went over the last window."""

    reward: Direction
    kl: Direction
    window_first: float
    window_last: float


def regime(step: npt.ArrayLike, reward: npt.ArrayLike, kl: npt.ArrayLike, margin: float = 0.1, share: float = 1 / 3) -> Regime:
    """One of the nine cells of reward and KL (or undecidable) over the last ``share`` of the steps.

    ``margin`` is the change over the window that counts as none, as a share of each curve's whole smoothed range.
    Raises TooFewPoints below 5 points with both in the window.
    """
    x, y, k = _window(step, reward, kl, share)
    return Regime(
        direction(trend(x, y), margin * _range(step, reward)), direction(trend(x, k), margin * _range(step, kl)), float(x[0]), float(x[-1])
    )


def _range(step: npt.ArrayLike, value: npt.ArrayLike) -> float:
    return float(np.ptp(smooth(*thinned(step, value))))
