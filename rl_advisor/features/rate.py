"""Is the rate of improvement itself changing: the one kink that explains a curve best, and what it means for its pace."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from rl_advisor.features.autoregression import spacing, whiten
from rl_advisor.features.breaks import Fit, best_fit
from rl_advisor.features.series import Floats, constant, thinned

Pace = Literal["accelerating", "steady", "slowing", "stopped", "reversed", "undecidable"]
RATE_BINS = 256
PLACES = 4
"""Places of a kink that are as good as independent; the interval pays for having searched them."""


@dataclass(frozen=True)
class Rate:
    """Slopes per step before and after the best kink, and the interval of their difference."""

    at: float
    before: float
    after: float
    low: float
    """Interval (95 %, corrected for the search) of after - before."""
    high: float
    after_low: float
    """Interval of the slope after the kink."""
    after_high: float
    first: float
    last: float
    """Steps between which the curve was seen."""


def rate(step: npt.ArrayLike, value: npt.ArrayLike) -> Rate:
    """The slope after minus the slope before the best kink of a continuous two-piece line under AR(1) noise.

    Raises TooFewPoints below 6 finite points.
    """
    x, y = thinned(step, value, least=6, most=RATE_BINS)
    first, last = float(x[0]), float(x[-1])
    if constant(y):
        return Rate(last, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, first, last)
    unit = (x - first) / (last - first)
    base = np.column_stack([np.ones_like(unit), unit])
    edge = max(2, x.size // 20)
    fit = best_fit(x, y, spacing(x), edge, shapes=("hinge",), base=base)
    return _slopes(x, y, unit, fit)


def _slopes(x: Floats, y: Floats, unit: Floats, fit: Fit) -> Rate:
    gap, span = spacing(x), float(x[-1] - x[0])
    late = np.maximum(unit - unit[fit.index], 0.0)
    design = whiten(np.column_stack([np.ones_like(unit), unit, late]), fit.phi, gap)
    inverse = np.linalg.pinv(design.T @ design)
    beta = inverse @ (design.T @ whiten(y, fit.phi, gap))
    # The correlation and the place were fitted too: their freedom is taken off, that of memory by the effective count.
    freedom = max(x.size * (1 - fit.phi) / (1 + fit.phi) - 4, 1.0)
    left = fit.white @ fit.white / max(x.size - 4, 1)
    error = np.sqrt(left * inverse[2, 2]) / span
    after_error = np.sqrt(left * (inverse[1, 1] + inverse[2, 2] + 2 * inverse[1, 2])) / span
    reach = float(stdtrit(freedom, 1 - 0.025 / PLACES))
    before, change = float(beta[1]) / span, float(beta[2]) / span
    after = before + change
    return Rate(
        float(x[fit.index]),
        before,
        after,
        change - reach * float(error),
        change + reach * float(error),
        after - reach * float(after_error),
        after + reach * float(after_error),
        float(x[0]),
        float(x[-1]),
    )


def pace(found: Rate, margin: float = 0.0, sign: int = 1) -> Pace:
    """What became of the improvement; ``sign`` is -1 where lower is better, ``margin`` a total change over the span that counts as nothing.

    ``stopped`` and ``steady`` are measured (interval inside the margin, or slowed to within it); doubt is ``undecidable``.
    """
    span = max(found.last - found.first, 1e-300)
    limit = margin / span
    low, high = sorted((sign * found.low, sign * found.high))
    after_low, after_high = sorted((sign * found.after_low, sign * found.after_high))
    before = sign * found.before
    if -limit <= low and high <= limit:
        return "steady"
    if low > 0:
        return "accelerating"
    if high >= 0:
        return "undecidable"
    if after_high < 0 and before > 0:
        return "reversed"
    if before > 0 and -limit <= after_low and after_high <= limit:
        return "stopped"
    return "slowing" if before > 0 else "reversed"
