"""Noise that remembers: whitening, and linear models under noise of unknown memory, averaged over it.

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

    @property
    def phi(self) -> float:
        """Mean lag-one correlation."""
        return float(self.weight @ GRID)

    @property
    def value(self) -> float:
        """The mean of the estimates."""
        return float(self.weight @ self.values)

    def below(self, limit: Floats) -> Floats:
        """Probability that the coefficient lies below each limit."""
        far = (limit[:, None] - self.values) / np.maximum(self.errors, 1e-300)
        return np.asarray(student.below(self.freedom, far) @ self.weight, np.float64)

    def interval(self, level: float) -> tuple[float, float]:
        """Lower and upper end of the two-sided ``level`` interval."""
        share = np.array([0.5 - level / 2, 0.5 + level / 2])
        reach = self.errors * student.quantile(self.freedom, share[1])
        low, high = np.array([[(self.values - reach).min()] * 2, [(self.values + reach).max()] * 2])
        for _ in range(30):
            middle = (low + high) / 2
            under = self.below(middle) < share
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        lower, upper = ((low + high) / 2).tolist()
        return lower, upper

    @property
    def p(self) -> float:
        """Two-sided p-value against zero."""
        low = float(self.below(np.zeros(1))[0])
        return min(1.0, 2 * min(low, 1 - low))

    def doubted(self, n: int, most: float) -> "Coefficient":
        """The same coefficient of ``n`` points before anything is claimed of it: a strong memory counts up to exp(``most``) times as much.

        A short curve cannot show that its memory is short. The least favourable prior, which keeps the false claims near their nominal
        share at any correlation up to 0.9, puts extra weight there; how much was found by simulation (docs/dev/calibration.md).
        """
        more = self.weight.copy()
        more[STRONG] *= np.exp(most * max(0.0, 1 - (n / ENOUGH) ** 2))
        return self._replace(weight=more / more.sum())


def spacing(step: Floats) -> Floats:
    """Distance of each point from the one before in units of the usual distance; length n - 1."""
    gap = np.diff(step)
    return gap / np.median(gap)


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


def lag_one(residual: Floats, gap: Floats, parameters: int) -> float:
    """Lag-one correlation in 0..0.99, corrected for the bias that a fitted mean of ``parameters`` coefficients causes.

    To first order the estimate is low by ``(p + (p + 2) phi) / n`` for a polynomial mean (Kendall 1954, Marriott and Pope 1954 for p = 1).
    Negative correlation counts as none: it would only narrow intervals.
    """
    n = residual.size
    variance = float(residual @ residual) / n
    if variance <= 0:
        return 0.0
    near = gap <= 1.5
    products = residual[1:] * residual[:-1]
    raw = float((products[near] if near.sum() >= 2 else products).mean()) / variance * (1 - 1 / n)
    corrected = raw + (parameters + (parameters + 2) * max(raw, 0.0)) / n
    return float(np.clip(corrected, 0.0, MOST_PHI))


def deviance(white: Floats, phi: float, gap: Floats) -> float:
    """-2 log likelihood (up to a constant) of a whitened series under AR(1) noise of that correlation."""
    left = max(float(white @ white), 1e-300)
    return white.size * float(np.log(left)) + float(np.log1p(-(phi ** (2 * gap))).sum())


class Memories(NamedTuple):
    """A linear model under noise of every memory of the grid, by generalised least squares."""

    deviance: Floats
    """-2 log likelihood, up to a constant."""
    weight: Floats
    """How likely each memory is by the restricted likelihood, which carries no bias from fitting the mean."""
    values: Floats
    """Coefficients, a row a memory, and their errors."""
    errors: Floats


def memories(design: Floats, value: Floats, gap: Floats) -> Memories:
    """The model at each memory. The prior is flat for long curves, and leans to little memory for short ones, whose points lie far apart.

    Patterson and Thompson 1971, Harville 1974.
    """
    n, width = design.shape
    freedom, plain = max(n - width, 1), np.column_stack([design, value])
    both = np.stack([whiten(plain, float(phi), gap) for phi in GRID])
    x, y = both[..., :width], both[..., width]
    turned = x.swapaxes(1, 2)
    cross = turned @ x
    inverse = np.linalg.inv(cross)
    values = (inverse @ (turned @ y[..., None]))[..., 0]
    rest = y - (x @ values[..., None])[..., 0]
    left = np.maximum((rest**2).sum(axis=1), 1e-300)
    fit = np.array([deviance(some, phi, gap) for some, phi in zip(rest, GRID, strict=True)])
    height = (width * np.log(left) - fit - np.linalg.slogdet(cross)[1]) / 2
    errors = np.sqrt((left / freedom)[:, None] * np.diagonal(inverse, axis1=1, axis2=2))
    weight = np.exp(height - height.max()) * GRID_WIDTH * (1 - GRID) ** min(0.7, 7 / n)
    return Memories(fit, weight / weight.sum(), values, errors)


def estimate(design: Floats, value: Floats, column: int, gap: Floats) -> Coefficient:
    """One coefficient of a linear model, averaged over the lag-one correlation by its likelihood."""
    found = memories(design, value, gap)
    return Coefficient(found.weight, found.values[:, column], found.errors[:, column], max(value.size - design.shape[1], 1))
