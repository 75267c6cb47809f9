"""What does the reward pay for: a property against the reward among responses to one prompt, and differences between stretches."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rl_advisor.features import TooFewPoints, student
from rl_advisor.features.series import Floats, Indices, ranks

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
    x, y = np.asarray(value, np.float64), np.asarray(reward, np.float64).round(12)
    known = np.isfinite(x) & np.isfinite(y)
    x, y, codes = x[known], y[known], _codes(group)[known]
    many = np.maximum(np.bincount(codes), 1)

    def inside(v: Floats) -> Floats:
        return np.asarray(v - (np.bincount(codes, v) / many)[codes])

    a, b = (inside(ranks(codes * (v.size + 1.0) + ranks(v))) for v in (x, y))
    both, first, second = (np.bincount(codes, p * q) for p, q in ((a, b), (a, a), (b, b)))
    differ = (first > 0) & (second > 0)
    both, first, second, count = both[differ], first[differ], second[differ], int(differ.sum())
    if count < _FEWEST_GROUPS:
        raise TooFewPoints(f"{count} groups with different rewards and different values, {_FEWEST_GROUPS} needed")
    size = float(np.sqrt(first.sum() * second.sum()))
    rho = float(both.sum()) / size
    rest = both - rho * np.sqrt(first * second)
    reach = student.quantile(count - 1, 0.975) * float(np.sqrt((rest**2).sum() * count / (count - 1))) / size
    off, told = inside(x), differ[codes]
    return Payoff(rho, max(rho - reach, -1.0), min(rho + reach, 1.0), float(off[told] @ y[told] / (off[told] @ off[told])), count)


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
    known = np.isfinite(x)
    codes = _codes(group)[known]
    sums, counts = np.bincount(codes, x[known]), np.bincount(codes)
    return sums[counts > 0] / counts[counts > 0]


def _codes(group: Sequence[object]) -> Indices:
    """The number of each row's group."""
    return np.asarray(np.unique(np.asarray(list(map(str, group)), np.str_), return_inverse=True)[1], np.intp)
