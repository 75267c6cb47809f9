"""Did a curve peak and then decline, or does noise alone make it look so."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rl_advisor.features.autoregression import GRID, colour, deviance, doubted, least_deviance, likelihood, spacing, uncertain, whiten
from rl_advisor.features.bins import clipped, median_of_three, running_mean, window_width
from rl_advisor.features.breaks import Search, best_fit, chance
from rl_advisor.features.gpu.background import background, noise
from rl_advisor.features.series import Floats, constant, thinned

PEAK_BINS = 256
EDGE = 3
SHAPES = ("step", "hinge", "ramp")
CLIFF_BINS = 128
SLOW = 0.8
"""Share of the error that the test for slow declines may make; a cliff that is one needs no more than the rest."""
DOUBT, ENOUGH = 6.0, 150
"""How much the memory of a curve of few points is doubted, and how many are not few (see ``autoregression.doubted``)."""


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

    Two tests share the error. Slow declines: the null is an isotonic fit with simulated AR(1) noise, the statistic the largest fall of the
    smoothed curve. Cliffs, which to that noise look like memory: what one fall adds to the likelihood of the best curve without one.
    Raises TooFewPoints below 4 finite points.
    """
    x, y = thinned(step, value, least=4, most=PEAK_BINS)
    width = window_width(x.size)
    line = _smoothed(y, width)
    top = int(line.argmax())
    drop = float(line[top] - line[-1])
    if constant(y):
        return Peak(float(x[0]), float(line[0]), float(x[0]), float(x[-1]), float(line[-1]), 0.0, 0.0, 0.0, 1.0)
    generator = np.random.default_rng(seed)
    lines = isotonic(running_mean(y, max(width, x.size // 8)))[:, None] + _feared(x, y, draws, generator)
    null = _drawdown(_smoothed(lines, width))
    slow = float((1 + (null >= _drawdown(line[:, None])[0]).sum()) / (draws + 1))
    p = min(1.0, slow / SLOW, _cliff(x, y) / (1 - SLOW))
    around = running_mean(line, width)[:, None] + _smoothed(_shaken(x, y, draws, generator), width)
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


def _shaken(x: Floats, y: Floats, draws: int, generator: np.random.Generator) -> Floats:
    """Noise series (n, draws) with the memory and size of the curve's own about the line that suits it best.

    The innovations are what is well known: a longer memory of the same innovations means a larger spread.
    """
    phi, spread = noise(x, y)
    phis, freedom = uncertain(phi, x.size, draws, generator), max(x.size - 4, 2)
    spreads = spread * np.sqrt((1 - phi**2) / (1 - phis**2) * freedom / generator.chisquare(freedom, draws))
    return colour(generator.standard_normal((x.size, draws)) * spreads, phis, spacing(x))


def _feared(x: Floats, y: Floats, draws: int, generator: np.random.Generator) -> Floats:
    """Noise series (n, draws) with all the memory that the curve leaves possible: what a claim of a decline must hold against."""
    gap, n = spacing(x), x.size
    found = likelihood(background(x, y), y, gap)
    pick = generator.choice(GRID.size, draws, p=doubted(found.weight(n), n, DOUBT, ENOUGH))
    spread = np.sqrt(found.left[pick] / generator.chisquare(found.freedom, draws))
    return colour(generator.standard_normal((n, draws)) * spread, GRID[pick], gap)


def _cliff(x: Floats, y: Floats) -> float:
    """p-value of one fall (a step, a kink, a ramp down) beside one rise, against a level, a rise, and any curve that never falls."""
    x, y = thinned(x, y, most=CLIFF_BINS)
    if x.size < 8:
        return 1.0
    y, gap, level = clipped(y), spacing(x), np.ones((x.size, 1))
    down = best_fit(Search(x, gap, level, EDGE, SHAPES, -1), y)
    ups = [best_fit(Search(x, gap, base, EDGE, SHAPES, 1), y) for base in (level, np.column_stack([level, down.column]))]
    means = [level, *(np.column_stack([level, up.column]) for up in ups)]
    fall = best_fit(Search(x, gap, means[-1], EDGE, SHAPES, -1), y)
    if fall.size >= 0:
        return 1.0
    left = y - isotonic(y)
    never = min(
        *(least_deviance(mean, y, gap) for mean in means), *(deviance(whiten(left, float(phi), gap), float(phi), gap) for phi in GRID)
    )
    return chance(never - deviance(fall.white, fall.phi, gap), x.size, x.size - 5, fall.found.index.size)


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
