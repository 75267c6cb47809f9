"""Few runs each: interquartile mean, its bootstrap interval, the probability of improvement, and whether so few can tell anything.

A group is a one-dimensional array, one value a run (seed). The statistics are those of Agarwal et al. 2021 (arXiv 2108.13264): runs
are drawn anew with replacement inside each group (the stratum), 2,000 times, and the middle 95 % of the statistic is the interval.

With few runs a bootstrap interval is too narrow, whatever its method. So whether groups differ is asked of the ranks, exactly: of all ways
to deal the same values to two groups of these sizes, how many set them as far apart? With three against three the answer is never
below 0.1, which is what "three seeds are too few to say" means.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb, erfc, sqrt

import numpy as np

from rl_advisor.features.series import Floats

DRAWS = 2000
MOST_DEALS = 50_000
"""Ways to deal the values that are all tried; of more, this many are drawn."""
MANY, MOST_MEMBERS = 50, 1000
"""Members of each group from which ranks are as good as normal; members of a group beyond which evenly spaced ones stand for all."""


@dataclass(frozen=True)
class Estimate:
    """A statistic with its 95 % interval."""

    value: float
    low: float
    high: float


def interquartile_mean(values: Floats) -> Floats:
    """Mean of the middle half of each row; ``values`` is draws x runs. A quarter of the runs is cut off at each end, rounded down."""
    cut = values.shape[1] // 4
    middle = np.sort(values, axis=1)[:, cut : values.shape[1] - cut]
    return np.asarray(middle.mean(axis=1), dtype=np.float64)


def level(group: Floats) -> Estimate:
    """The interquartile mean of a group."""
    return _interval(lambda drawn: interquartile_mean(drawn[0]), group)


def gap(a: Floats, b: Floats) -> Estimate:
    """By how much the interquartile mean of ``b`` lies above that of ``a``."""
    return _interval(lambda drawn: interquartile_mean(drawn[1]) - interquartile_mean(drawn[0]), a, b)


def improvement(a: Floats, b: Floats) -> Estimate:
    """The probability that a run of ``b`` beats a run of ``a``; a tie counts half."""
    return _interval(lambda drawn: _beats(drawn[0], drawn[1]), a, b)


def _interval(statistic: Callable[[list[Floats]], Floats], *groups: Floats) -> Estimate:
    chance = np.random.default_rng(0)
    groups = tuple(_thinned(g) for g in groups)
    drawn = statistic([chance.choice(g, (DRAWS, g.size)) for g in groups])
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Estimate(float(statistic([g[None] for g in groups])[0]), float(low), float(high))


def _beats(a: Floats, b: Floats) -> Floats:
    """The share of pairs, row by row, in which ``b`` is larger."""
    rows = zip(np.sort(a, axis=1), b, strict=True)
    below = [np.searchsorted(mine, other, "left").mean() + np.searchsorted(mine, other, "right").mean() for mine, other in rows]
    return np.asarray(np.array(below) / (2 * a.shape[1]), dtype=np.float64)


def _thinned(group: Floats) -> Floats:
    """A group of at most 1,000: the interval of a larger one is told a little too wide, and costs no more."""
    if group.size <= MOST_MEMBERS:
        return group
    return np.asarray(np.sort(group)[np.linspace(0, group.size - 1, MOST_MEMBERS).round().astype(int)], np.float64)


def least_p(n: int, m: int) -> float:
    """The smallest two-sided p value that ``n`` and ``m`` runs can give, however far apart they lie."""
    return min(1.0, 2 / comb(n + m, n))


def rank_p(a: Floats, b: Floats) -> float:
    """Two-sided p value of the probability of improvement under dealing the values anew.

    Exact; of 50,000 deals where there are more; of the normal approximation with ties (Mann and Whitney 1947) where both groups are large.
    """
    if min(a.size, b.size) >= MANY:
        return _normal_p(a, b)
    a, b = _thinned(a), _thinned(b)
    both, n = np.concatenate([a, b]), a.size
    wins = 0.5 + 0.5 * np.sign(both[None, :] - both[:, None])
    observed = abs(float(wins[:n, n:].mean()) - 0.5)
    deals = comb(both.size, n)
    if deals <= MOST_DEALS:
        chosen = np.array(list(islice(combinations(range(both.size), n), deals)))
    else:
        chosen = np.random.default_rng(0).random((MOST_DEALS, both.size)).argsort(axis=1)[:, :n]
    inside = np.zeros((len(chosen), both.size))
    np.put_along_axis(inside, chosen, 1.0, axis=1)
    dealt = np.abs(np.einsum("di,ij,dj->d", inside, wins, 1 - inside, optimize=True) / (n * b.size) - 0.5)
    extreme = float(np.sum(dealt >= observed - 1e-9))
    return extreme / len(chosen) if deals <= MOST_DEALS else (extreme + 1) / (len(chosen) + 1)


def _normal_p(a: Floats, b: Floats) -> float:
    """The same where both groups are large."""
    n, m = a.size, b.size
    _, ties = np.unique(np.concatenate([a, b]), return_counts=True)
    total = n + m
    spread = n * m / 12 * (total + 1 - float((ties.astype(float) ** 3 - ties).sum()) / (total * (total - 1)))
    if spread <= 0:
        return 1.0
    u = float(_beats(a[None], b[None])[0]) * n * m
    return erfc(abs(u - n * m / 2) / sqrt(2 * spread))
