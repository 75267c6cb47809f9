"""What would going on bring: an ensemble of learning-curve shapes, weighed by how well each foretold what is already known."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rl_advisor.features.autoregression import colour, noise, spacing
from rl_advisor.features.bins import running_mean, smooth, window_width
from rl_advisor.features.series import Floats, constant, thinned

GAIN_BINS = 128
SHARES = (0.5, 0.65, 0.8)
"""Cuts from which each shape must foretell the rest."""


@dataclass(frozen=True)
class Gain:
    """Change of the best smoothed value that training up to a later step would bring; an 80 % interval; never below 0."""

    expected: float
    low: float
    high: float
    pays: float
    """Probability that the best value by then beats the best so far by more than the noise of a smoothed value."""


def expected_gain(
    step: npt.ArrayLike, value: npt.ArrayLike, to_step: float, higher_is_better: bool = True, draws: int = 400, seed: int = 0
) -> Gain:
    """What training on to ``to_step`` would add to the best smoothed value so far.

    Shapes: saturating exponential, power, sigmoid in log step, and the line of the last third. Raises TooFewPoints below 4 finite points.
    """
    x, y = thinned(step, value, least=4, most=GAIN_BINS)
    y = y if higher_is_better else -y
    if to_step <= x[-1] or constant(y):
        return Gain(0.0, 0.0, 0.0, 0.0)
    ahead = np.arange(1, max(2, min(GAIN_BINS, round((to_step - x[-1]) / float(np.median(np.diff(x)))) + 1)))
    future = x[-1] + (to_step - x[-1]) * ahead / ahead[-1]
    weight, growth = _weights(x, y)
    paths = np.array([_forecast(shape, x, y, future) for shape in SHAPES])
    generator = np.random.default_rng(seed)
    chosen = generator.choice(len(SHAPES), draws, p=weight)
    reach = (future - x[-1]) / (x[-1] - x[0])
    drift = generator.standard_normal(draws)[:, None] * growth[chosen][:, None] * reach
    phi, spread, _ = noise(x, y)
    return _summary(x, y, paths[chosen] + drift, phi, spread, generator, draws)


def _summary(x: Floats, y: Floats, paths: Floats, phi: float, spread: float, generator: np.random.Generator, draws: int) -> Gain:
    width = window_width(x.size)
    line = smooth(x, y)
    best = float(line.max())
    shaken = colour(generator.standard_normal((paths.shape[1], draws)) * spread, phi, np.ones(paths.shape[1] - 1))
    level = float(line[-1])
    start = paths[:, :1] * 0 + level
    # A smoothed maximum over a noisy past is too high by about the noise that made it; its own wobble is what must be beaten.
    past = colour(generator.standard_normal((x.size, draws)) * spread, phi, spacing(x))
    wobble = float(running_mean(past, width).std())
    after = np.maximum(running_mean(paths.T + 0.0 * shaken, width).max(axis=0), start[:, 0]) - best
    gains = np.maximum(after, 0.0)
    low, high = np.quantile(gains, [0.1, 0.9])
    return Gain(float(gains.mean()), float(low), float(high), float((after > wobble).mean()))


def _weights(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Weight of each shape, and how fast its forecast error grows (per span of the past), from cuts of the past."""
    errors = np.full((len(SHAPES), len(SHARES)), np.nan)
    growth = np.full_like(errors, np.nan)
    line = smooth(x, y)
    for j, share in enumerate(SHARES):
        cut = max(3, int(share * x.size))
        if cut >= x.size:
            continue
        reach = float((x[-1] - x[cut - 1]) / (x[cut - 1] - x[0]))
        for i, shape in enumerate(SHAPES):
            miss = _forecast(shape, x[:cut], y[:cut], x[cut:]) - line[cut:]
            errors[i, j] = float(np.sqrt((miss**2).mean()))
            growth[i, j] = errors[i, j] / max(reach, 0.1)
    typical = np.nan_to_num(np.sqrt(np.nanmean(errors**2, axis=1)), nan=1.0)
    inverse = 1 / np.maximum(typical, 1e-3 * max(float(np.ptp(y)), 1e-300)) ** 2
    return inverse / inverse.sum(), np.nan_to_num(np.nanmedian(growth, axis=1))


def _grid(columns: Floats, targets: Floats, value: Floats) -> Floats:
    """Forecast of the column (of many: n, k) that fits best with a free level and height; ``targets`` (m, k) are its later values."""
    middle, height = columns.mean(axis=0), value - value.mean()
    free = columns - middle
    length = np.maximum((free**2).sum(axis=0), 1e-300)
    beta = free.T @ height / length
    k = int((beta**2 * length).argmax())
    forecast: Floats = value.mean() + beta[k] * (targets[:, k] - middle[k])
    return forecast


def _exponential(u: Floats) -> Floats:
    return 1 - np.exp(-u[:, None] / np.geomspace(0.05, 3.0, 24))


def _power(u: Floats) -> Floats:
    return 1 - (1 + u[:, None] / 0.05) ** -np.linspace(0.1, 2.0, 20)


def _sigmoid(u: Floats) -> Floats:
    middle, steep = (a.ravel() for a in np.meshgrid(np.geomspace(0.05, 2.0, 12), np.array([1.0, 1.5, 2.0, 3.0, 4.0, 6.0])))
    return 1 / (1 + (middle / np.maximum(u[:, None], 1e-6)) ** steep)


def _line(u: Floats) -> Floats:
    return u[:, None]


Shape = Callable[[Floats], Floats]
SHAPES: tuple[Shape, ...] = (_exponential, _power, _sigmoid, _line)


def _forecast(shape: Shape, x: Floats, y: Floats, later: Floats) -> Floats:
    """What a shape fitted to the curve says of later steps; the line is fitted to the last third (at least 3 points)."""
    if shape is _line:
        tail = max(3, x.size // 3)
        x, y = x[-tail:], y[-tail:]
    span = float(x[-1] - x[0])
    return _grid(shape((x - x[0]) / span), shape((later - x[0]) / span), y)
