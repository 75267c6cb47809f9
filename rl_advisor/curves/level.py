"""The true course behind a noisy curve: many courses that fit the points about equally well, drawn once, from which every word is counted.

A level that wanders, seen through noise that remembers: a value above the level is followed by others above it, and that is no movement.
How much the level wanders against how noisy it is, and how long the noise remembers, are not known and are averaged over, by a likelihood
in closed form. Single points far off are noise and not the course, single steps far off are breaks and are not smoothed over.
Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2.7 (an unknown mean) and 5.4 (averaging over what is not known);
draws by conditioning simulated curves (Matheron's rule, Wilson et al. 2020); heavy tails by reweighting (Lange et al. 1989).
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from rl_advisor.features.series import Floats

DRAWS = 160
RATIOS = np.array([1e-6, *np.geomspace(1e-4, 10, 9)])
"""Variance of a step of the level over that of the noise of a point: from a level that stands to one that moves with every point."""
MEMORIES = np.array([0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95])
"""Lag-one correlations of the noise."""
FORGETS = 2.0
"""How much less likely long memories are beforehand: a power of one minus the correlation. With one, noise of long memory is taken for a
course less often and short curves that readers see move are called still; with two the verdicts of labelled runs hold (docs/log.md)."""
OWN = 0.02
"""Share of the noise that each point has for itself."""
FREEDOM = 4.0
"""Degrees of freedom of both heavy tails."""
ROUNDS, STEPS = 2, 2
"""How often points and steps far off are weighed anew, and in how many steps each time."""


@dataclass(frozen=True, eq=False)
class Level:
    """Courses that fit a curve."""

    step: Floats
    value: Floats
    """The points as logged (or their bins)."""
    draws: Floats
    """Courses (DRAWS, n)."""
    noise: float
    """Standard deviation of one point about the course."""

    @property
    def mean(self) -> Floats:
        """The course in the middle of all."""
        return np.asarray(self.draws.mean(axis=0), np.float64)


class _Model(NamedTuple):
    """What is assumed of the points: covariances per variance of the noise."""

    gap: Floats
    """Distances of neighbours (n - 1), in usual ones."""
    memory: Floats
    """Correlation of the noise of two points, one matrix a memory (MEMORIES, n, n)."""
    point: Floats
    """How much wider than usual the noise of each point is (n)."""
    jump: Floats
    """The same of each step of the level (n - 1)."""

    def noise(self) -> Floats:
        """Covariance of the noise, one matrix a memory."""
        wide = np.sqrt(self.point)
        return np.asarray(self.memory * wide * wide[:, None])

    def walk(self) -> Floats:
        """Covariance of a level whose steps have the variance of the noise."""
        way = np.r_[0.0, np.cumsum(self.gap * self.jump)]
        return np.asarray(np.minimum(way, way[:, None]), np.float64)

    def whole(self) -> Floats:
        """Covariance of the points (RATIOS, MEMORIES, n, n)."""
        return np.asarray(RATIOS[:, None, None, None] * self.walk() + self.noise())


def level(step: Floats, value: Floats, least_noise: float = 0.0, seed: int = 0) -> Level:
    """The courses behind a curve of at least 2 finite points at rising steps; ``least_noise`` is the known error of one point."""
    spread = float(np.std(value))
    if spread == 0:
        return Level(step, value, np.tile(value, (DRAWS, 1)), 0.0)
    y = (value - value.mean()) / spread
    floor = (least_noise / spread) ** 2 + 1e-6
    gap = np.diff(step)
    gap = np.clip(gap / np.median(gap), 0.1, 10.0)
    model = _Model(gap, _memories(gap), np.ones(y.size), np.ones(gap.size))
    weight, noise = _likelihood(y, model.whole(), floor)
    for _ in range(ROUNDS):
        model = _reweighed(y, model, weight, noise)
        weight, noise = _likelihood(y, model.whole(), floor)
    draws = _draws(y, model, weight, noise, np.random.default_rng(seed))
    left = float(np.sqrt(np.median((y - draws.mean(axis=0)) ** 2)) * 1.4826)
    return Level(step, value, value.mean() + spread * draws, spread * max(left, 0.0))


def _memories(gap: Floats) -> Floats:
    """Correlation of the noise of every two points under each memory."""
    at = np.r_[0.0, np.cumsum(gap)]
    alike = (1 - OWN) * MEMORIES[:, None, None] ** np.abs(at - at[:, None])
    alike[:, np.arange(at.size), np.arange(at.size)] = 1.0
    return np.asarray(alike)


@cache
def _prior() -> Floats:
    """Logarithm of how likely each ratio and memory is before a point was seen."""
    memory = np.gradient(MEMORIES) * (1 - MEMORIES) ** FORGETS
    return np.tile(np.log(memory / memory.sum()), (RATIOS.size, 1))


def _likelihood(y: Floats, whole: Floats, floor: float) -> tuple[Floats, Floats]:
    """Weight of every ratio and memory, and the variance of the noise that suits each best; the mean is unknown (restricted likelihood)."""
    n = y.size
    beside = np.zeros((*whole.shape[:2], n + 2, n + 2))
    beside[..., :n, :n] = whole
    beside[..., n, :n], beside[..., n + 1, :n] = 1.0, y  # the factor of a bordered matrix holds the solutions for its border
    beside[..., [n, n + 1], [n, n + 1]] = 1e14
    factor = np.linalg.cholesky(beside)
    one, value = factor[..., n, :n], factor[..., n + 1, :n]
    ones = (one**2).sum(axis=-1)
    squares = (value**2).sum(axis=-1) - (one * value).sum(axis=-1) ** 2 / ones
    size = 2 * np.log(np.diagonal(factor, axis1=-2, axis2=-1)[..., :n]).sum(axis=-1) + np.log(ones)
    noise = np.maximum(squares / max(n - 1, 1), floor)
    fit = _prior() - 0.5 * ((n - 1) * np.log(noise) + size + squares / noise)
    weight = np.exp(fit - fit.max())
    return weight / weight.sum(), noise


def _reweighed(y: Floats, model: _Model, weight: Floats, noise: Floats) -> _Model:
    """The same model with points and steps that lie far off, by what is likeliest, widened."""
    i, j = np.unravel_index(weight.argmax(), weight.shape)
    ratio, variance = float(RATIOS[i]), float(noise[i, j])
    for _ in range(STEPS):
        walk = ratio * model.walk()
        inverse = np.linalg.inv(walk + model.noise()[j])
        middle = float(inverse.sum(axis=0) @ y / inverse.sum())
        mean = middle + walk @ (inverse @ (y - middle))
        spare = variance * np.diag(walk - walk @ inverse @ walk)
        point = np.maximum((FREEDOM + ((y - mean) ** 2 + spare) / variance) / (FREEDOM + 1), 0.5)
        moved = np.diff(mean) ** 2 / (model.gap * ratio * variance)
        model = model._replace(point=point, jump=np.maximum((FREEDOM + moved) / (FREEDOM + 1), 0.5))
    return model


def _draws(y: Floats, model: _Model, weight: Floats, noise: Floats, generator: np.random.Generator) -> Floats:
    """Courses (DRAWS, n): simulated curves, each bent to the points by what its own points say of them."""
    n, out = y.size, np.empty((DRAWS, y.size))
    pick = generator.choice(weight.size, DRAWS, p=weight.ravel())
    walk, sizes = model.walk(), model.noise()
    for k in np.unique(pick):
        mine = np.flatnonzero(pick == k)
        i, j = np.unravel_index(k, weight.shape)
        freedom = (n - 1) / generator.chisquare(n - 1, mine.size) if n > 3 else np.ones(mine.size)
        sd = np.sqrt(noise[i, j] * freedom)
        steps = generator.standard_normal((n - 1, mine.size)) * np.sqrt(RATIOS[i] * model.gap * model.jump)[:, None]
        course = np.vstack([np.zeros(mine.size), np.cumsum(steps, axis=0)]) * sd
        seen = course + np.linalg.cholesky(sizes[j]) @ generator.standard_normal((n, mine.size)) * sd
        solved = np.linalg.solve(RATIOS[i] * walk + sizes[j], np.column_stack([np.ones(n), y[:, None] - seen]))
        middle = solved[:, 1:].sum(axis=0) / solved[:, 0].sum()
        out[mine] = (middle + course + RATIOS[i] * walk @ (solved[:, 1:] - solved[:, :1] * middle)).T
    return out
