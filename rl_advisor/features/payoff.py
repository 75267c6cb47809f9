"""What does the reward pay for: a property against the reward among responses to one prompt, and differences between stretches."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rl_advisor.features import TooFewPoints, student
from rl_advisor.features.series import Floats, ranks

_FEWEST_GROUPS = 8


@dataclass(frozen=True)
class Payoff:
    """A property's relation to the reward inside groups of responses to one prompt."""

    rho: float
    """Rank correlation inside groups, pooled."""
    low: float
    high: float
    """Its 95 % interval, groups being the independent units."""
    slope: float
    """Reward per unit of the property, inside groups."""
    groups: int
    """Groups in which both differ."""


def payoff(value: npt.ArrayLike, reward: npt.ArrayLike, group: Sequence[object]) -> Payoff:
    """How the reward follows a property among responses to the same prompt, with group-clustered 95 % intervals.

    Comparing inside groups takes away what the prompts bring (a hard prompt has long answers and low rewards). Raises TooFewPoints when
    fewer than 8 groups have a spread in both.
    """
    x, y = np.asarray(value, np.float64), np.asarray(reward, np.float64)
    _, codes = np.unique(np.asarray([str(g) for g in group]), return_inverse=True)
    keep = np.isfinite(x) & np.isfinite(y)
    x, y, codes = x[keep], y[keep], codes[keep]
    parts = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    parts = [p for p in parts if p.size > 1 and np.ptp(x[p]) > 0 and np.ptp(y[p]) > 1e-12]
    if len(parts) < _FEWEST_GROUPS:
        raise TooFewPoints(f"{len(parts)} groups with different rewards and different values, {_FEWEST_GROUPS} needed")
    rho, low, high = _clustered([(ranks(x[p]), ranks(y[p])) for p in parts])
    centred = [(x[p] - x[p].mean(), y[p]) for p in parts]
    slope = sum(float(a @ b) for a, b in centred) / sum(float(a @ a) for a, _ in centred)
    return Payoff(rho, max(low, -1.0), min(high, 1.0), slope, len(parts))


def _clustered(parts: list[tuple[Floats, Floats]]) -> tuple[float, float, float]:
    """Pooled correlation inside groups, with an interval from group residuals."""
    pairs = [(x - x.mean(), y - y.mean()) for x, y in parts]
    sxy, sxx, syy = (np.array([float(pair[i] @ pair[k]) for pair in pairs]) for i, k in ((0, 1), (0, 0), (1, 1)))
    size = float(np.sqrt(sxx.sum() * syy.sum()))
    value = float(sxy.sum()) / size
    residual = sxy - value * np.sqrt(sxx * syy)
    error = float(np.sqrt((residual**2).sum() * len(pairs) / (len(pairs) - 1))) / size
    reach = student.quantile(len(pairs) - 1, 0.975) * error
    return value, value - reach, value + reach


def difference(
    before: npt.ArrayLike, after: npt.ArrayLike, before_group: Sequence[object], after_group: Sequence[object]
) -> tuple[float, float, float]:
    """Mean after minus mean before with a 95 % interval, groups (not responses) being the independent units.

    Raises TooFewPoints when a side has fewer than 2 groups with a finite value.
    """
    a, b = _group_means(before, before_group), _group_means(after, after_group)
    if min(a.size, b.size) < 2:
        raise TooFewPoints(f"{a.size} and {b.size} groups, 2 needed on each side")
    delta = float(b.mean() - a.mean())
    va, vb = a.var(ddof=1) / a.size, b.var(ddof=1) / b.size
    if va + vb <= 0:
        return delta, delta, delta
    freedom = (va + vb) ** 2 / (va**2 / (a.size - 1) + vb**2 / (b.size - 1))
    reach = float(student.quantile(freedom, 0.975) * np.sqrt(va + vb))
    return delta, delta - reach, delta + reach


def _group_means(value: npt.ArrayLike, group: Sequence[object]) -> Floats:
    x = np.asarray(value, np.float64)
    _, codes = np.unique(np.asarray([str(g) for g in group]), return_inverse=True)
    keep = np.isfinite(x)
    if not keep.any():
        return np.empty(0)
    sums, counts = np.bincount(codes[keep], x[keep]), np.bincount(codes[keep])
    return sums[counts > 0] / counts[counts > 0]
