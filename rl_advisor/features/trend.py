"""Is a curve rising or falling, and how sure is that when its noise remembers: slopes and level changes with honest intervals."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from rl_advisor.features.autoregression import Coefficient, deflated, effective_count, generalised, lag_one, noise, spacing, wider
from rl_advisor.features.series import Floats, TooFewPoints, constant, thinned

Direction = Literal["rising", "flat", "falling", "undecidable"]


@dataclass(frozen=True)
class Trend:
    """A straight line's slope per step, with its interval."""

    slope: float
    low: float
    high: float
    p: float
    """Two-sided, against no trend."""
    n: int
    """Finite points of the curve."""
    n_eff: float
    """Independent points that the (binned) curve is worth."""
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


def trend(step: npt.ArrayLike, value: npt.ArrayLike, level: float = 0.95) -> Trend:
    """The slope of a curve with a two-sided ``level`` interval under AR(1) noise.

    Generalised least squares and count-deflated ordinary least squares are both done, with the lag-one correlation corrected for bias; the
    wider interval is given. Raises TooFewPoints below 3 finite points.
    """
    x, y = thinned(step, value, least=3)
    n, span = int(np.isfinite(np.asarray(value, np.float64)).sum()), float(x[-1] - x[0])
    if constant(y):
        return Trend(0.0, 0.0, 0.0, 1.0, n, float(x.size), 0.0, 0.0, span)
    unit = (x - x.mean()) / span
    phi, _, _ = noise(x, y)
    slope = _coefficient(np.column_stack([np.ones_like(unit), unit]), y, phi, spacing(x), level)
    low, high = slope.interval(level)
    power = float(stdtrit(slope.freedom, 0.5 + level / 2) + stdtrit(slope.freedom, 0.8))
    return Trend(slope.value / span, low / span, high / span, slope.p, n, effective_count(x.size, phi), phi, power * slope.error, span)


def direction(found: Trend, margin: float) -> Direction:
    """Which way a trend goes; ``flat`` needs the whole interval of the total change inside +-``margin``, doubt is ``undecidable``."""
    if not margin >= 0:
        raise ValueError(f"margin must be a change of 0 or more, not {margin}")
    low, high = found.low * found.span, found.high * found.span
    if -margin <= low and high <= margin:
        return "flat"
    if low > 0:
        return "rising"
    return "falling" if high < 0 else "undecidable"


def level_change(step: npt.ArrayLike, value: npt.ArrayLike, split: float, level: float = 0.95) -> Change:
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
    gap = spacing(x)
    design = np.column_stack([np.ones_like(later), later])
    phi = _stretch_phi(y, later, gap)
    low, high = _coefficient(design, y, phi, gap, level).interval(level)
    delta = after - before
    return Change(before, after, delta, min(low, delta), max(high, delta))


def _stretch_phi(value: Floats, later: Floats, gap: Floats) -> float:
    residual = value - np.where(later == 1, value[later == 1].mean(), value[later == 0].mean())
    return lag_one(residual, gap, 2)


def _coefficient(design: Floats, value: Floats, phi: float, gap: Floats, level: float) -> Coefficient:
    """The last column's coefficient, by whichever of the two methods is less sure of it."""
    last = design.shape[1] - 1
    return wider(generalised(design, value, last, phi, gap), deflated(design, value, last, phi), level)
