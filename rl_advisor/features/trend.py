"""Is a curve rising or falling, and how sure is that when its noise remembers: slopes with honest intervals."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from rl_advisor.features.autoregression import estimate, spacing
from rl_advisor.features.series import constant, thinned
from rl_advisor.features.student import normal_quantile

Direction = Literal["rising", "flat", "falling", "undecidable"]
LEVEL = 0.95
DOUBT = 4.7
"""How much the slope of a short curve is doubted (see ``Coefficient.doubted``)."""


@dataclass(frozen=True)
class Trend:
    """A straight line's slope per step, with its interval."""

    slope: float
    low: float
    high: float
    p: float
    """Two-sided, against no trend, for noise of any memory up to 0.9: larger on a short curve than its interval says."""
    n: int
    """Finite points of the curve."""
    phi: float
    """Lag-one correlation of the noise."""
    detectable: float
    """Smallest total change over the span that would be found in four of five such curves."""
    span: float
    """Steps from the first point to the last."""


def trend(step: npt.ArrayLike, value: npt.ArrayLike) -> Trend:
    """The slope of a curve with a two-sided 95 % interval under AR(1) noise.

    Generalised least squares averaged over the lag-one correlation by its restricted likelihood. Raises TooFewPoints below 3 finite points.
    """
    x, y = thinned(step, value, least=3)
    n, span = int(np.isfinite(np.asarray(value, np.float64)).sum()), float(x[-1] - x[0])
    if constant(y):
        return Trend(0.0, 0.0, 0.0, 1.0, n, 0.0, 0.0, span)
    unit = (x - x.mean()) / span
    slope = estimate(np.column_stack([np.ones_like(unit), unit]), y, 1, spacing(x))
    low, high = slope.interval(LEVEL)
    # The half width is a quantile of 0.5 + level / 2 of the same error; four of five need 0.84 deviations more.
    detectable = (high - low) / 2 * (1 + normal_quantile(0.8) / normal_quantile(0.5 + LEVEL / 2))
    return Trend(slope.value / span, low / span, high / span, slope.doubted(x.size, DOUBT).p, n, slope.phi, detectable, span)


def direction(found: Trend, margin: float) -> Direction:
    """Which way a trend goes; ``flat`` needs the whole interval of the total change inside +-``margin``, doubt is ``undecidable``."""
    if not margin >= 0:
        raise ValueError(f"margin must be a change of 0 or more, not {margin}")
    low, high = found.low * found.span, found.high * found.span
    if -margin <= low and high <= margin:
        return "flat"
    if low <= 0 <= high or found.p > 1 - LEVEL:
        return "undecidable"
    return "rising" if low > 0 else "falling"
