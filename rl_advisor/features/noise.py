"""How much of a curve is signal, how much noise, and how many more points it would take to tell."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rl_advisor.features.autoregression import effective_count
from rl_advisor.features.bins import smooth
from rl_advisor.features.gpu.background import noise
from rl_advisor.features.series import constant, thinned
from rl_advisor.features.trend import Trend, trend


@dataclass(frozen=True)
class Noise:
    """Range of the smooth part against the spread about it."""

    signal: float
    noise: float
    ratio: float
    """signal / noise; infinite for a curve without noise, 0 for a constant one."""
    n_eff: float
    detectable: float
    """Smallest total drift that would be found in four of five such curves."""


def signal_to_noise(step: npt.ArrayLike, value: npt.ArrayLike) -> Noise:
    """Range of the smoothed curve over the standard deviation of the noise. Raises TooFewPoints below 5 finite points."""
    x, y = thinned(step, value, least=5)
    if constant(y):
        return Noise(0.0, 0.0, 0.0, float(x.size), 0.0)
    phi, spread = noise(x, y)
    signal = float(np.ptp(smooth(x, y, max(3, x.size // 10))))
    ratio = signal / spread if spread > 0 else float("inf")
    return Noise(signal, spread, ratio, effective_count(x.size, phi), trend(x, y).detectable)


def more_points_needed(found: Trend, change: float) -> int:
    """Further points at the same cadence until a total ``change`` like this would be found in four of five cases; 0 when it already would.

    The error of a total change falls with the square root of the count.
    """
    if not change > 0:
        raise ValueError(f"change must be above 0, not {change}")
    return max(0, int(np.ceil(found.n * min((found.detectable / change) ** 2, 1e9) - found.n)))
