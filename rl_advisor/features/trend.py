"""Is a curve rising or falling, and how sure is that when its noise remembers: slopes and level changes with honest intervals."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from rl_advisor.features import TooFewPoints
from rl_advisor.features.autoregression import estimate, spacing
from rl_advisor.features.series import constant, thinned
from rl_advisor.features.student import normal_quantile

Direction = Literal["rising", "flat", "falling", "undecidable"]
LEVEL = 0.95
DOUBT, STEP_DOUBT = 4.7, 3.0
"""How much a slope and a step of a short curve are doubted (see ``Coefficient.doubted``): noise of long memory looks more like the one."""


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


@dataclass(frozen=True)
class Change:
    """Means of two stretches and their difference (after minus before) with its interval."""

    before: float
    after: float
    delta: float
    low: float
    high: float


def trend(step: npt.ArrayLike, value: npt.ArrayLike, level: float = LEVEL) -> Trend:
    """The slope of a curve with a two-sided ``level`` interval under AR(1) noise.

    Generalised least squares averaged over the lag-one correlation by its restricted likelihood. Raises TooFewPoints below 3 finite points.
    """
    x, y = thinned(step, value, least=3)
    n, span = int(np.isfinite(np.asarray(value, np.float64)).sum()), float(x[-1] - x[0])
    if constant(y):
        return Trend(0.0, 0.0, 0.0, 1.0, n, 0.0, 0.0, span)
    unit = (x - x.mean()) / span
    slope = estimate(np.column_stack([np.ones_like(unit), unit]), y, 1, spacing(x))
    low, high = slope.interval(level)
    # The half width is a quantile of 0.5 + level / 2 of the same error; four of five need 0.84 deviations more.
    detectable = (high - low) / 2 * (1 + normal_quantile(0.8) / normal_quantile(0.5 + level / 2))
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


def level_change(step: npt.ArrayLike, value: npt.ArrayLike, split: float, level: float = LEVEL) -> Change:
    """Mean from step ``split`` on minus mean before, with an interval under AR(1) noise.

    Raises TooFewPoints unless each stretch holds at least 2 finite points and both together 4.
    """
    x, y = thinned(step, value, least=4)
    later = (x >= split).astype(np.float64)
    if min(later.sum(), later.size - later.sum()) < 2:
        raise TooFewPoints(f"a stretch before or after step {split} holds fewer than 2 points")
    before, after = float(y[later == 0].mean()), float(y[later == 1].mean())
    if constant(y):
        return Change(before, after, 0.0, 0.0, 0.0)
    low, high = estimate(np.column_stack([np.ones_like(later), later]), y, 1, spacing(x)).doubted(x.size, STEP_DOUBT).interval(level)
    delta = after - before
    return Change(before, after, delta, min(low, delta), max(high, delta))
