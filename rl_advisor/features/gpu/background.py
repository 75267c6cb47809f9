"""The noise of a curve: its memory and size about whatever smooth or broken line the curve follows."""

import numpy as np

from rl_advisor.features.autoregression import deviance, lag_one, solve, spacing, whiten
from rl_advisor.features.breaks import Search, best_fit, penalty
from rl_advisor.features.series import Floats, remembered

PLACE = 3.0
"""What the place of a kink costs beside its coefficients, in twice the log likelihood."""
DEGREES = (1, 2, 3, 5, 7)
"""Degrees of the polynomials about which noise may be judged."""


@remembered(64)
def noise(step: Floats, value: Floats) -> tuple[float, float]:
    """Lag-one correlation and standard deviation of a curve about a polynomial or the best single step.

    The mean is the one that the likelihood under AR(1) noise prefers when each coefficient costs log n and a break what ``penalty`` says:
    neither do curvature and collapse pass for memory, nor memory for them. Correlation 0 and the plain deviation for fewer than 4 points.
    """
    if step.size < 4:
        return 0.0, float(value.std(ddof=1))
    _, phi, spread, _ = min(_tried(step, value, DEGREES), key=lambda t: t[:3])
    return phi, spread


def background(step: Floats, value: Floats) -> Floats:
    """The design that ``noise`` prefers, of a straight line, a parabola, one step and one kink: nothing that follows slow noise."""
    tried, n = _tried(step, value, (1, 2)), step.size
    if n >= 12:
        gap, line = spacing(step), polynomial(step, 1)
        kinked = np.column_stack([line, best_fit(Search(step, gap, line, 3, ("hinge",)), value).column])
        cost, phi, spread = _about(kinked, value, gap)
        tried.append((cost + PLACE, phi, spread, kinked))
    return min(tried, key=lambda t: t[:3])[3]


def _tried(step: Floats, value: Floats, degrees: tuple[int, ...]) -> list[tuple[float, float, float, Floats]]:
    """Penalised deviance, memory, spread and design of every mean that is tried."""
    gap, n = spacing(step), step.size
    designs = [polynomial(step, d) for d in degrees if d == 1 or n >= 4 * d]
    tried = [(*_about(design, value, gap), design) for design in designs]
    if n >= 12:
        fit = best_fit(Search(step, gap, np.ones((n, 1)), 2, ("step",)), value)
        design = np.column_stack([np.ones(n), fit.column])
        broken, phi, spread = _about(design, value, gap)
        tried.append((broken + penalty(n) - float(np.log(n)), phi, spread, design))
    return tried


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
