"""Did a curve peak and then decline, or does noise alone make it look so."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rl_advisor.features.autoregression import colour, spacing, uncertain
from rl_advisor.features.background import noise
from rl_advisor.features.bins import median_of_three, running_mean, window_width
from rl_advisor.features.series import Floats, constant, thinned

PEAK_BINS = 256


@dataclass(frozen=True)
class Peak:
    """The highest point of the smoothed curve and the decline from it to the smoothed end."""

    step: float
    value: float
    low: float
    """Interval of the peak's step, 95 %."""
    high: float
    last: float
    """Smoothed value at the end."""
    drop: float
    """value - last, 0 or more."""
    drop_low: float
    drop_high: float
    p: float
    """Of a largest decline this deep on a curve that never truly falls."""


def peak(step: npt.ArrayLike, value: npt.ArrayLike, draws: int = 200, seed: int = 0) -> Peak:
    """The peak, the decline since, and how often a never-falling curve with the same noise shows a decline as deep.

    The null is an isotonic fit with simulated AR(1) noise; the statistic is the largest fall of the smoothed curve.
    Raises TooFewPoints below 4 finite points.
    """
    x, y = thinned(step, value, least=4, most=PEAK_BINS)
    width = window_width(x.size)
    line = _smoothed(y, width)
    top = int(line.argmax())
    drop = float(line[top] - line[-1])
    if constant(y):
        return Peak(float(x[0]), float(line[0]), float(x[0]), float(x[-1]), float(line[-1]), 0.0, 0.0, 0.0, 1.0)
    phi, spread = noise(x, y)
    generator = np.random.default_rng(seed)
    shaken = _shaken(x, phi, spread, draws, generator)
    null = _drawdown(_smoothed(isotonic(running_mean(y, max(width, x.size // 8)))[:, None] + shaken, width))
    p = float((1 + (null >= _drawdown(line[:, None])[0]).sum()) / (draws + 1))
    around = running_mean(line, width)[:, None] + _smoothed(shaken, width)
    places = x[around.argmax(axis=0)]
    wobble = (around[top] - around[-1]) - float(running_mean(line, width)[top] - running_mean(line, width)[-1])
    low, high = np.quantile(wobble, [0.025, 0.975])
    first, last = np.quantile(places, [0.025, 0.975])
    return Peak(
        float(x[top]),
        float(line[top]),
        min(float(first), float(x[top])),
        max(float(last), float(x[top])),
        float(line[-1]),
        drop,
        drop - float(high),
        drop - float(low),
        p,
    )


def _smoothed(value: Floats, width: int) -> Floats:
    return running_mean(median_of_three(value), width)


def _shaken(x: Floats, phi: float, spread: float, draws: int, generator: np.random.Generator) -> Floats:
    """Noise series (n, draws) with the memory and size of the curve's own, as far as these are known.

    The innovations are what is well known: a longer memory of the same innovations means a larger spread.
    """
    phis = uncertain(phi, x.size, draws, generator)
    freedom = max(x.size - 4, 2)
    spreads = spread * np.sqrt((1 - phi**2) / (1 - phis**2) * freedom / generator.chisquare(freedom, draws))
    return colour(generator.standard_normal((x.size, draws)) * spreads, phis, spacing(x))


def _drawdown(lines: Floats) -> Floats:
    """Largest fall from an earlier high, of each column."""
    fall: Floats = (np.maximum.accumulate(lines, axis=0) - lines).max(axis=0)
    return fall


def isotonic(value: Floats) -> Floats:
    """The never-falling curve closest to ``value`` (pool adjacent violators)."""
    sums: list[float] = []
    counts: list[int] = []
    for v in value.tolist():
        sums.append(v)
        counts.append(1)
        while len(sums) > 1 and sums[-2] * counts[-1] >= sums[-1] * counts[-2]:
            last_sum, last_count = sums.pop(), counts.pop()
            sums[-1] += last_sum
            counts[-1] += last_count
    return np.repeat(np.array(sums) / np.array(counts), counts)
