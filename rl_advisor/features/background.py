"""The noise of a curve: its memory and size about whatever smooth or broken line the curve follows."""

import numpy as np

from rl_advisor.features.autoregression import deviance, lag_one, solve, spacing, whiten
from rl_advisor.features.breaks import Search, best_fit, penalty
from rl_advisor.features.series import Floats

DEGREES = (1, 2, 3, 5, 7)
"""Degrees of the polynomials about which noise may be judged."""


def noise(step: Floats, value: Floats) -> tuple[float, float]:
    """Lag-one correlation and standard deviation of a curve about a polynomial or the best single step.

    The mean is the one that the likelihood under AR(1) noise prefers when each coefficient costs log n and a break what ``penalty`` says:
    neither do curvature and collapse pass for memory, nor memory for them. Correlation 0 and the plain deviation for fewer than 4 points.
    """
    gap, n = spacing(step), step.size
    if n < 4:
        return 0.0, float(value.std(ddof=1))
    tried = [_about(polynomial(step, d), value, gap) for d in DEGREES if d == 1 or n >= 4 * d]
    if n >= 12:
        fit = best_fit(Search(step, gap, np.ones((n, 1)), 2, ("step",)), value)
        broken, phi, spread = _about(np.column_stack([np.ones(n), fit.column]), value, gap)
        tried.append((broken + penalty(n) - float(np.log(n)), phi, spread))
    _, phi, spread = min(tried)
    return phi, spread


def polynomial(step: Floats, degree: int) -> Floats:
    """Design matrix (n, degree + 1) of Legendre columns over the span of the steps."""
    scaled = 2 * (step - step[0]) / (step[-1] - step[0]) - 1
    return np.polynomial.legendre.legvander(scaled, degree)


def _about(design: Floats, value: Floats, gap: Floats) -> tuple[float, float, float]:
    """Penalised deviance, lag-one correlation and spread of a curve about the columns of a design."""
    n, width = design.shape
    residual = value - design @ solve(design, value)
    phi = lag_one(residual, gap, width)
    # A fitted mean swallows slow noise; the whitened errors give the spread that such noise has in the long run.
    x, y = whiten(design, phi, gap), whiten(value, phi, gap)
    rest = y - x @ solve(x, y)
    return deviance(rest, phi, gap) + width * float(np.log(n)), phi, float(np.sqrt(rest @ rest / max(n - width, 1)))
