"""Is the rate of improvement itself changing: the one kink that explains a curve best, and what it means for its pace."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from rl_advisor.features.autoregression import estimate, spacing
from rl_advisor.features.breaks import Fit, Search, best_fit
from rl_advisor.features.series import Floats, constant, remembered, thinned

Pace = Literal["accelerating", "steady", "slowing", "stopped", "reversed", "undecidable"]
RATE_BINS = 256
PLACES, AFTER = 12, 6
"""Places of a kink that are as good as independent; the intervals of the change and of what follows pay for having searched them."""

DOUBT, ENOUGH = 6.5, 150
"""How much a kink of a curve of few points is doubted, and how many are not few (see ``Coefficient.doubted``)."""


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


@remembered(32)
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
    fit = best_fit(Search(x, spacing(x), base, edge, ("hinge",)), y)
    return _slopes(x, y, unit, fit)


def _slopes(x: Floats, y: Floats, unit: Floats, fit: Fit) -> Rate:
    gap, span = spacing(x), float(x[-1] - x[0])
    kink = float(unit[fit.index])
    early, late = np.minimum(unit - kink, 0.0), np.maximum(unit - kink, 0.0)
    one = np.ones_like(unit)
    change = estimate(np.column_stack([one, unit, late]), y, 2, gap)
    after = estimate(np.column_stack([one, early, late]), y, 2, gap)
    low, high = (v / span for v in change.doubted(x.size, DOUBT, ENOUGH).interval(1 - 0.05 / PLACES))
    after_low, after_high = (v / span for v in after.interval(1 - 0.05 / AFTER))
    before = (after.value - change.value) / span
    at, first, last = float(x[fit.index]), float(x[0]), float(x[-1])
    return Rate(at, before, after.value / span, low, high, after_low, after_high, first, last)


def pace(found: Rate, margin: float = 0.0, sign: int = 1) -> Pace:
    """What became of the improvement; ``sign`` is -1 where lower is better, ``margin`` a total change over the span that counts as nothing.

    ``steady`` and ``stopped`` are measured (the change, or what is left after it, lies inside the margin); doubt is ``undecidable``.
    """
    span = max(found.last - found.first, 1e-300)
    limit = margin / span
    low, high = sorted((sign * found.low, sign * found.high))
    after_low, after_high = sorted((sign * found.after_low, sign * found.after_high))
    before = sign * found.before
    if -limit <= low and high <= limit:
        return "steady"
    if low <= 0 <= high:
        return "undecidable"
    if after_high < 0:
        return "reversed" if high < 0 else "undecidable"
    if -limit <= after_low and after_high <= limit:
        return "stopped"
    if low > 0:
        return "accelerating" if after_low > 0 else "undecidable"
    return "slowing" if before > 0 else "undecidable"
