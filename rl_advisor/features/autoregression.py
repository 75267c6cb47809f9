"""Noise that remembers: lag-one autocorrelation without its small-sample bias, whitening, effective counts, and simulation.

Steps may be unequal: between points that lie ``g`` usual spacings apart the correlation is ``phi ** g``.
"""

from typing import NamedTuple

import numpy as np

from rl_advisor.features import student
from rl_advisor.features.series import Floats

MOST_PHI = 0.99
GRID = np.array([*np.arange(0.0, 0.9, 0.1), 0.9, 0.94, 0.97, 0.985])
"""Lag-one correlations that are tried."""
GRID_WIDTH = np.gradient(GRID)
STRONG = int(np.flatnonzero(GRID == 0.9)[0])
"""Place of the strongest memory up to which a claim about a short curve must hold."""
ENOUGH = 60
"""Points from which a curve tells its own memory well enough (found by simulation: docs/dev/calibration.md)."""


class Coefficient(NamedTuple):
    """One regression coefficient under noise of unknown memory: a t-distribution for every lag-one correlation, and how likely each is."""

    weight: Floats
    values: Floats
    errors: Floats
    freedom: float
    phi: float
    """Mean lag-one correlation."""

    @property
    def value(self) -> float:
        """The mean of the estimates."""
        return float(self.weight @ self.values)

    def below(self, limit: float) -> float:
        """Probability that the coefficient lies below ``limit``."""
        return float(self.weight @ student.below(self.freedom, (limit - self.values) / np.maximum(self.errors, 1e-300)))

    def quantile(self, share: float) -> float:
        """The value that the coefficient stays below with probability ``share``."""
        reach = self.errors * student.quantile(self.freedom, share)
        low, high = float((self.values + reach).min()), float((self.values + reach).max())
        for _ in range(30):
            middle = (low + high) / 2
            low, high = (middle, high) if self.below(middle) < share else (low, middle)
        return (low + high) / 2

    def interval(self, level: float) -> tuple[float, float]:
        """Lower and upper end of the two-sided ``level`` interval."""
        return self.quantile(0.5 - level / 2), self.quantile(0.5 + level / 2)

    @property
    def p(self) -> float:
        """Two-sided p-value against zero."""
        low = self.below(0.0)
        return min(1.0, 2 * min(low, 1 - low))

    def doubted(self, n: int, most: float, enough: int = ENOUGH) -> "Coefficient":
        """The same coefficient with strong memory of a curve of ``n`` points weighed more (see ``doubted``)."""
        weight = doubted(self.weight, n, most, enough)
        return self._replace(weight=weight, phi=float(weight @ GRID))


def spacing(step: Floats) -> Floats:
    """Distance of each point from the one before in units of the usual distance; length n - 1."""
    gap = np.diff(step)
    return gap / np.median(gap)


def lag_one(residual: Floats, gap: Floats, parameters: int) -> float:
    """Lag-one correlation in 0..0.99, corrected for the bias that a fitted mean of ``parameters`` coefficients causes.

    To first order the estimate is low by ``(p + (p + 2) phi) / n`` for a polynomial mean (Kendall 1954, Marriott and Pope 1954 for p = 1).
    Negative correlation counts as none: it would only narrow intervals.
    """
    n = residual.size
    variance = float(residual @ residual) / n
    if variance <= 0 or n < 3:
        return 0.0
    near = gap <= 1.5
    products = (residual[1:] * residual[:-1])[near] if near.sum() >= 2 else residual[1:] * residual[:-1]
    raw = float(products.mean()) / variance * (1 - 1 / n)
    corrected = raw + (parameters + (parameters + 2) * max(raw, 0.0)) / n
    return float(np.clip(corrected, 0.0, MOST_PHI))


def whiten(x: Floats, phi: float, gap: Floats) -> Floats:
    """Rows of ``x`` (length n first) with AR(1) correlation taken out, marginal variance kept (Prais-Winsten keeps the first row)."""
    weight = phi**gap
    scale = np.sqrt(1 - weight**2)
    if x.ndim > 1:
        weight, scale = weight[:, None], scale[:, None]
    out = np.empty_like(x)
    out[0] = x[0]
    out[1:] = (x[1:] - weight * x[:-1]) / scale
    return out


def colour(white: Floats, phi: float | Floats, gap: Floats) -> Floats:
    """The inverse of ``whiten``: independent rows (n, draws) become AR(1) series of the same variance.

    ``phi`` is one number or one a draw.
    """
    weight = np.asarray(phi, np.float64) ** gap.reshape(-1, *[1] * (white.ndim - 1))
    out = white.copy()
    out[1:] *= np.sqrt(1 - weight**2)
    for i, w in enumerate(weight, start=1):
        out[i] += w * out[i - 1]
    return out


def deviance(white: Floats, phi: float, gap: Floats) -> float:
    """-2 log likelihood (up to a constant) of a whitened series under AR(1) noise of that correlation."""
    left = max(float(white @ white), 1e-300)
    return white.size * float(np.log(left)) + float(np.log1p(-(phi ** (2 * gap))).sum())


def least_deviance(design: Floats, value: Floats, gap: Floats) -> float:
    """The smallest deviance of a linear model over the lag-one correlations of the grid."""
    both = np.column_stack([design, value])
    found = []
    for phi in GRID:
        white = whiten(both, float(phi), gap)
        x, y = white[:, :-1], white[:, -1]
        found.append(deviance(y - x @ solve(x, y), float(phi), gap))
    return min(found)


def solve(design: Floats, value: Floats) -> Floats:
    """Least-squares coefficients."""
    return np.asarray(np.linalg.lstsq(design, value, rcond=None)[0], np.float64)


class Likelihood(NamedTuple):
    """A linear model under noise of every memory of the grid: restricted log likelihood, coefficients, their errors, squared error left."""

    height: Floats
    values: Floats
    errors: Floats
    left: Floats
    freedom: int

    def weight(self, n: int) -> Floats:
        """How likely each memory is: a prior flat for long curves, leaning to little memory for short ones, whose points lie far apart."""
        weight = np.exp(self.height - self.height.max()) * GRID_WIDTH * (1 - GRID) ** min(0.7, 7 / n)
        return np.asarray(weight / weight.sum(), np.float64)


def likelihood(design: Floats, value: Floats, gap: Floats) -> Likelihood:
    """Generalised least squares at each memory; the restricted likelihood carries no bias from fitting the mean.

    Patterson and Thompson 1971, Harville 1974.
    """
    n, width = design.shape
    freedom = max(n - width, 1)
    height, left = np.empty((2, GRID.size))
    values, errors = np.empty((2, GRID.size, width))
    for i, phi in enumerate(GRID):
        both = whiten(np.column_stack([design, value]), float(phi), gap)
        cross = both[:, :width].T @ both[:, :width]
        inverse = np.linalg.inv(cross)
        values[i] = inverse @ (both[:, :width].T @ both[:, width])
        rest = both[:, width] - both[:, :width] @ values[i]
        left[i] = max(float(rest @ rest), 1e-300)
        shrink = float(np.log1p(-(phi ** (2 * gap))).sum()) + float(np.linalg.slogdet(cross)[1])
        height[i] = -shrink / 2 - freedom / 2 * np.log(left[i])
        errors[i] = np.sqrt(left[i] / freedom * np.diag(inverse))
    return Likelihood(height, values, errors, left, freedom)


def estimate(design: Floats, value: Floats, column: int, gap: Floats) -> Coefficient:
    """One coefficient of a linear model by generalised least squares, averaged over the lag-one correlation by its likelihood."""
    found = likelihood(design, value, gap)
    weight = found.weight(value.size)
    return Coefficient(weight, found.values[:, column], found.errors[:, column], found.freedom, float(weight @ GRID))


def doubted(weight: Floats, n: int, most: float, enough: int = ENOUGH) -> Floats:
    """The weight of each memory before anything is claimed of ``n`` points: a strong one counts up to exp(``most``) times as much.

    A short curve cannot show that its memory is short. The least favourable prior, which keeps the false claims near their nominal
    share at any correlation up to 0.9, puts extra weight there; how much was found by simulation (docs/dev/calibration.md).
    """
    more = weight.copy()
    more[STRONG] *= np.exp(most * max(0.0, 1 - (n / enough) ** 2))
    return np.asarray(more / more.sum(), np.float64)
