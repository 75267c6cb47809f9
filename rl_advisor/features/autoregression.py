"""Noise that remembers: lag-one autocorrelation without its small-sample bias, whitening, effective counts, and simulation.

Steps may be unequal: between points that lie ``g`` usual spacings apart the correlation is ``phi ** g``.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lstsq
from scipy.special import stdtr, stdtrit

from rl_advisor.features.series import Floats

MOST_PHI = 0.99


class Coefficient(NamedTuple):
    """One regression coefficient with its standard error and the degrees of freedom of that error."""

    value: float
    error: float
    freedom: float

    def interval(self, level: float) -> tuple[float, float]:
        """Lower and upper end of the two-sided ``level`` interval."""
        half = self.error * float(stdtrit(self.freedom, 0.5 + level / 2))
        return self.value - half, self.value + half

    @property
    def p(self) -> float:
        """Two-sided p-value against zero."""
        if self.error <= 0:
            return 1.0 if self.value == 0 else 0.0
        return float(2 * stdtr(self.freedom, -abs(self.value) / self.error))


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


def colour(white: Floats, phi: float, gap: Floats) -> Floats:
    """The inverse of ``whiten``: independent rows (n, draws) become AR(1) series of the same variance."""
    if phi <= 0:
        return white.copy()
    weight = phi**gap
    out = white.copy()
    out[1:] *= np.sqrt(1 - weight**2).reshape(-1, *[1] * (white.ndim - 1))
    for i, w in enumerate(weight, start=1):
        out[i] += w * out[i - 1]
    return out


def effective_count(n: int, phi: float) -> float:
    """Independent points that carry as much about a mean as ``n`` points of AR(1) noise."""
    return float(np.clip(n * (1 - phi) / (1 + phi), min(n, 1), n))


def polynomial(step: Floats, degree: int) -> Floats:
    """Design matrix (n, degree + 1) of orthogonal-ish (Legendre) columns over the span of the steps."""
    scaled = 2 * (step - step[0]) / (step[-1] - step[0]) - 1
    return np.polynomial.legendre.legvander(scaled, degree)


def curvature_degree(n: int) -> int:
    """Degree of the polynomial that is taken out before noise is judged: lines for short curves, cubics for longer ones."""
    return 1 if n < 20 else 3


def noise(step: Floats, value: Floats, degree: int | None = None) -> tuple[float, float, Floats]:
    """Lag-one correlation, standard deviation and residuals of a curve about a smooth polynomial."""
    design = polynomial(step, min(curvature_degree(step.size) if degree is None else degree, max(step.size - 2, 0)))
    residual = value - design @ solve(design, value)
    phi = lag_one(residual, spacing(step), design.shape[1])
    return phi, float(np.sqrt(residual @ residual / max(step.size - design.shape[1], 1))), residual


def solve(design: Floats, value: Floats) -> Floats:
    """Least-squares coefficients."""
    return np.asarray(lstsq(design, value, check_finite=False, lapack_driver="gelsy")[0], np.float64)


def generalised(design: Floats, value: Floats, column: int, phi: float, gap: Floats) -> Coefficient:
    """One coefficient by generalised least squares under AR(1) noise (Prais and Winsten 1954)."""
    x, y = whiten(design, phi, gap), whiten(value, phi, gap)
    freedom = max(value.size - design.shape[1], 1)
    coefficients = solve(x, y)
    rest = y - x @ coefficients
    covariance = np.linalg.pinv(x.T @ x)
    return Coefficient(float(coefficients[column]), float(np.sqrt(rest @ rest / freedom * covariance[column, column])), freedom)


def deflated(design: Floats, value: Floats, column: int, phi: float) -> Coefficient:
    """One coefficient by ordinary least squares with errors and freedom of the effective count (Santer et al. 2000)."""
    coefficients = solve(design, value)
    rest = value - design @ coefficients
    freedom = max(effective_count(value.size, phi) - design.shape[1], 1.0)
    covariance = np.linalg.pinv(design.T @ design)
    return Coefficient(float(coefficients[column]), float(np.sqrt(rest @ rest / freedom * covariance[column, column])), freedom)


def wider(first: Coefficient, second: Coefficient, level: float) -> Coefficient:
    """Of two estimates of one coefficient the one with the longer interval."""
    return max(first, second, key=lambda c: c.error * float(stdtrit(c.freedom, 0.5 + level / 2)))
