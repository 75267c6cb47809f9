"""Student's t and the normal distribution: the few values that intervals need, without a library that loads longer than a run is judged.

scipy.special has them too; its import costs more than judging an ordinary run (docs/decisions/001). The tests hold these to scipy's.
"""

from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

import numpy as np

from rl_advisor.features.series import Floats

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)


def normal_quantile(share: float) -> float:
    """The value below which a standard normal lies with this probability; infinite at 0 and 1."""
    return NormalDist().inv_cdf(share) if 0 < share < 1 else (-inf if share <= 0 else inf)


def below(freedom: float, value: Floats | float) -> Floats:
    """P(T <= value) for Student's t, to about 1e-10: the density integrated from 0 by Gauss and Legendre's rule.

    Over ``u`` of ``x = sqrt(f) sinh(u)``, in which a heavy tail falls off like an exponential and a light one like a normal; beyond the end
    nothing is left of either.
    """
    x = np.asarray(value, np.float64)
    end = np.minimum(np.arcsinh(np.abs(x) / sqrt(freedom)), 36.0 / freedom + sqrt(72.0 / freedom))
    u = end[..., None] * (_NODES + 1) / 2
    inside = np.exp(_density(freedom) - freedom * np.log(np.cosh(u))) * sqrt(freedom)
    half = np.clip(inside @ _WEIGHTS * end / 2, 0.0, 0.5)
    return np.where(np.isnan(x), np.nan, np.where(x < 0, 0.5 - half, 0.5 + half))


def _density(freedom: float) -> float:
    """The logarithm of the density at 0."""
    return lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - 0.5 * log(freedom * pi)


@lru_cache(4096)
def quantile(freedom: float, share: float) -> float:
    """The value below which Student's t lies with this probability: Newton's steps from the normal's, which lies on the near side."""
    if not 0 < share < 1 or not freedom > 0:
        return -inf if share <= 0 else inf
    if share < 0.5:
        return -quantile(freedom, 1 - share)
    x = normal_quantile(share)
    for _ in range(200):
        step = (share - float(below(freedom, x))) / exp(_density(freedom) - (freedom + 1) / 2 * log1p(x * x / freedom))
        x += step
        if step <= 1e-12 * (1 + x):
            break
    return x
