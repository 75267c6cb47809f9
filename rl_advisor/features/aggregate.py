"""Few runs each: interquartile mean, its bootstrap interval, the probability of improvement, and whether so few can tell anything.

A group is a one-dimensional array, one value a run (seed). The statistics are those of Agarwal et al. 2021 (arXiv 2108.13264): runs
are drawn anew with replacement inside each group (the stratum), 2,000 times, and the middle 95 % of the statistic is the interval.

With few runs a bootstrap interval is too narrow, whatever its method. So whether groups differ is asked of the ranks, exactly: of all ways
to deal the same values to two groups of these sizes, how many set them as far apart? With three against three the answer is never
below 0.1, which is what "three seeds are too few to say" means.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb, erfc, sqrt

import numpy as np

from rl_advisor.features.bins import evenly
from rl_advisor.features.series import Floats, ranks

DRAWS = 2000
MOST_DEALS = 50_000
"""Ways to deal the values that are all tried."""
MOST_MEMBERS = 1000
"""Members of a group beyond which evenly spaced ones stand for all."""


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
    return _interval(lambda drawn: interquartile_mean(*drawn), group)


def gap(a: Floats, b: Floats) -> Estimate:
    """By how much the interquartile mean of ``b`` lies above that of ``a``."""
    return _interval(lambda drawn: interquartile_mean(drawn[1]) - interquartile_mean(drawn[0]), a, b)


def improvement(a: Floats, b: Floats) -> Estimate:
    """The probability that a run of ``b`` beats a run of ``a``; a tie counts half."""
    a, b = _thinned(a), _thinned(b)
    beats, chance = (np.sign(b - a[:, None]) + 1) / 2, np.random.default_rng(0)
    often = [chance.multinomial(size, np.full(size, 1 / size), DRAWS).astype(np.float64) for size in beats.shape]
    return _estimate(float(beats.mean()), ((often[0] @ beats) * often[1]).sum(axis=1) / beats.size)


def _interval(statistic: Callable[[list[Floats]], Floats], *groups: Floats) -> Estimate:
    chance = np.random.default_rng(0)
    groups = tuple(_thinned(g) for g in groups)
    return _estimate(float(statistic([g[None] for g in groups])[0]), statistic([chance.choice(g, (DRAWS, g.size)) for g in groups]))


def _estimate(value: float, drawn: Floats) -> Estimate:
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Estimate(value, float(low), float(high))


def _thinned(group: Floats) -> Floats:
    """A group of at most 1,000: the interval of a larger one is told a little too wide, and costs no more."""
    kept: Floats = np.sort(group)[evenly(group.size, MOST_MEMBERS)]
    return kept


def least_p(n: int, m: int) -> float:
    """The smallest two-sided p value that ``n`` and ``m`` runs can give, however far apart they lie."""
    return min(1.0, 2 / comb(n + m, n))


def rank_p(a: Floats, b: Floats) -> float:
    """Two-sided p value of the probability of improvement under dealing the values anew: of how many deals are the ranks as far apart.

    Exact; of the normal approximation with ties (Mann and Whitney 1947) where there are more than 50,000 deals.
    """
    n, m = a.size, b.size
    place = ranks(np.concatenate([a, b]))
    place = place - place.mean()
    observed = abs(float(place[:n].sum()))
    if comb(n + m, n) > MOST_DEALS:
        spread = n * m / (n + m - 1) * float(place.var())
        return erfc(observed / sqrt(2 * spread)) if spread > 0 else 1.0
    dealt = place[np.array(list(combinations(range(n + m), n)))].sum(axis=1)
    return float(np.mean(np.abs(dealt) >= observed - 1e-9))
