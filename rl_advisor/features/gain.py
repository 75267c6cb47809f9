"""What would going on bring: an ensemble of learning-curve shapes, weighed by how well each foretold what is already known."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rl_advisor.features.autoregression import colour, spacing
from rl_advisor.features.bins import running_mean, smooth, window_width
from rl_advisor.features.gpu.background import noise
from rl_advisor.features.series import Floats, constant, remembered, thinned

GAIN_BINS = 128
DRAWS = 400
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


@remembered(32)
def expected_gain(step: npt.ArrayLike, value: npt.ArrayLike, to_step: float, higher_is_better: bool = True, seed: int = 0) -> Gain:
    """What training on to ``to_step`` would add to the best smoothed value so far.

    Shapes: saturating exponential, power, sigmoid in log step, the line of the last third, and staying where it is; each starts from
    the present level. Raises TooFewPoints below 4 finite points.
    """
    x, y = thinned(step, value, least=4, most=GAIN_BINS)
    y = y if higher_is_better else -y
    if to_step <= x[-1] or constant(y):
        return Gain(0.0, 0.0, 0.0, 0.0)
    future = np.linspace(x[-1], to_step, 1 + int(np.clip((to_step - x[-1]) / np.median(np.diff(x)), 2, GAIN_BINS)))[1:]
    weight, growth = _weights(x, y)
    generator = np.random.default_rng(seed)
    chosen = generator.choice(len(SHAPES), DRAWS, p=weight)
    reach = np.sqrt((future - x[-1]) / (x[-1] - x[0]))
    paths = np.array([_forecast(shape, x, y, future) for shape in SHAPES])[chosen]
    paths += (generator.standard_normal(DRAWS) * growth[chosen])[:, None] * reach
    phi, spread = noise(x, y)
    width = window_width(x.size)
    wobble = running_mean(colour(generator.standard_normal((x.size, DRAWS)) * spread, phi, spacing(x)), width).std()
    # What has been seen is the best of many noisy values: as much noise is owed to the values to come.
    above = paths.max(axis=1) - _best(x, y)
    low, high = np.quantile(np.maximum(above, 0.0), [0.1, 0.9])
    return Gain(float(np.maximum(above, 0.0).mean()), float(low), float(high), float((above > wobble).mean()))


def _best(x: Floats, y: Floats) -> float:
    """The best level so far: the highest value of a line smooth enough that its maximum is not the luckiest noise."""
    return float(smooth(x, y, max(window_width(x.size), x.size // 10)).max())


def _weights(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Weight of each shape, and how fast its forecast error grows (per root of a span of the past), from cuts of the past."""
    cuts = sorted({c for c in (max(3, int(share * x.size)) for share in SHARES) if c < x.size})
    errors, growth = np.empty((2, len(SHAPES), len(cuts)))
    line = smooth(x, y)
    for j, cut in enumerate(cuts):
        reach = np.sqrt((x[cut:] - x[cut - 1]) / (x[cut - 1] - x[0]))
        for i, shape in enumerate(SHAPES):
            miss = _forecast(shape, x[:cut], y[:cut], x[cut:]) - line[cut:]
            errors[i, j] = np.sqrt((miss**2).mean())
            growth[i, j] = errors[i, j] / max(float(np.sqrt((reach**2).mean())), 0.3)
    floor = 1e-3 * float(np.ptp(y))
    closeness = np.maximum(np.sqrt((errors**2).mean(axis=1)), floor) ** -4.0
    return closeness / closeness.sum(), np.asarray(np.median(growth, axis=1), np.float64)


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
    return 1.0 - (1 + u[:, None] / 0.05) ** -np.linspace(0.1, 2.0, 20)


def _sigmoid(u: Floats) -> Floats:
    middle, steep = (a.ravel() for a in np.meshgrid(np.geomspace(0.05, 2.0, 12), np.array([1.0, 1.5, 2.0, 3.0, 4.0, 6.0])))
    return np.asarray(1 / (1 + (middle / np.maximum(u[:, None], 1e-6)) ** steep), np.float64)


def _line(u: Floats) -> Floats:
    return u[:, None]


def _stay(u: Floats) -> Floats:
    return np.zeros((u.size, 1))


CurveForm = Callable[[Floats], Floats]
SHAPES: tuple[CurveForm, ...] = (_exponential, _power, _sigmoid, _line, _stay)


def _forecast(shape: CurveForm, x: Floats, y: Floats, later: Floats) -> Floats:
    """What a shape fitted to the curve says of later steps, starting from the present level; the line is fitted to the last third."""
    tail = max(3, x.size // 3)
    first, span = float(x[0]), float(x[-1] - x[0])
    used = slice(-tail, None) if shape is _line else slice(None)
    recent = slice(-max(2, x.size // 10), None)
    columns, targets, now = (shape((v - first) / span) for v in (x[used], later, x[recent]))
    fitted = _grid(columns, np.concatenate([now, targets]), y[used])
    offset = float((y[recent] - fitted[: now.shape[0]]).mean())
    return np.asarray(fitted[now.shape[0] :] + offset, np.float64)
