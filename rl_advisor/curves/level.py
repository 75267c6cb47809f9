"""The true course behind a noisy curve: many courses that fit the points about equally well, drawn once, from which every word is counted.

A level that wanders (local level model), seen through noise. How much it wanders against how noisy it is, is not known and is averaged
over; single points far off are noise and not the course, single steps far off are breaks and are not smoothed over.
Source: Durbin and Koopman, Time Series Analysis by State Space Methods, 2nd ed., 2.2 to 2.6; heavy tails by reweighting (Lange et al.
1989).
"""

from dataclasses import dataclass

import numpy as np

from rl_advisor.features.series import Floats

DRAWS = 160
RATIOS = np.geomspace(1e-4, 10, 11)
"""Variance of a step of the level over that of the noise of a point: from a level that stands to one without noise."""
FREEDOM = 4.0
"""Degrees of freedom of both heavy tails."""
ROUNDS = 3
"""How often points and steps far off are weighed anew."""


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


def level(step: Floats, value: Floats, least_noise: float = 0.0, seed: int = 0) -> Level:
    """The courses behind a curve of at least 2 finite points at rising steps; ``least_noise`` is the known error of one point."""
    spread = float(np.std(value))
    if spread == 0:
        return Level(step, value, np.tile(value, (DRAWS, 1)), 0.0)
    y = (value - value.mean()) / spread
    floor = (least_noise / spread) ** 2 + 1e-6
    gap = np.diff(step)
    gap = np.clip(gap / np.median(gap), 0.1, 10.0)
    point, jump = np.ones(y.size), np.ones(gap.size)
    for _ in range(ROUNDS):
        weight, noise = _likelihood(y, gap * jump, point, floor)
        k = int(weight.argmax())
        mean, spare = _smooth(y, gap * jump * RATIOS[k] * noise[k], point * noise[k])
        point = (FREEDOM + ((y - mean) ** 2 + spare) / noise[k]) / (FREEDOM + 1)
        moved = np.diff(mean) ** 2 / (gap * RATIOS[k] * noise[k])
        jump = np.maximum((FREEDOM + moved) / (FREEDOM + 1), 0.5)
        point = np.maximum(point, 0.5)
    generator = np.random.default_rng(seed)
    draws = _draws(y, gap * jump, point, (weight, noise), generator)
    left = float(np.sqrt(np.median((y - draws.mean(axis=0)) ** 2)) * 1.4826)
    return Level(step, value, value.mean() + spread * draws, spread * max(left, 0.0))


def _likelihood(y: Floats, gap: Floats, point: Floats, floor: float) -> tuple[Floats, Floats]:
    """Weight of every ratio, and the variance of the noise that suits it best."""
    state = np.full(RATIOS.size, y[0])
    variance = np.full(RATIOS.size, point[0])
    squares, logs = np.zeros(RATIOS.size), np.zeros(RATIOS.size)
    for t in range(1, y.size):
        variance = variance + RATIOS * gap[t - 1]
        total = variance + point[t]
        off = y[t] - state
        squares += off**2 / total
        logs += np.log(total)
        gain = variance / total
        state = state + gain * off
        variance = variance * (1 - gain)
    n = y.size - 1
    noise = np.maximum(squares / max(n, 1), floor)
    fit = -0.5 * (n * np.log(noise) + logs + squares / noise)
    return np.exp(fit - fit.max()) / np.exp(fit - fit.max()).sum(), noise


def _filter(y: Floats, moves: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Filtered level and its variance at each point (n, ...)."""
    state, variance = np.empty_like(noise), np.empty_like(noise)
    state[0], variance[0] = y[0], noise[0]
    for t in range(1, y.size):
        ahead = variance[t - 1] + moves[t - 1]
        gain = ahead / (ahead + noise[t])
        state[t] = state[t - 1] + gain * (y[t] - state[t - 1])
        variance[t] = ahead * (1 - gain)
    return state, variance


def _smooth(y: Floats, moves: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Smoothed level and its variance."""
    state, variance = _filter(y, moves, noise)
    mean, spare = state.copy(), variance.copy()
    for t in range(y.size - 2, -1, -1):
        ahead = variance[t] + moves[t]
        back = variance[t] / ahead
        mean[t] += back * (mean[t + 1] - state[t])
        spare[t] += back**2 * (spare[t + 1] - ahead)
    return mean, np.maximum(spare, 0.0)


def _draws(y: Floats, gap: Floats, point: Floats, found: tuple[Floats, Floats], generator: np.random.Generator) -> Floats:
    """Courses (DRAWS, n) by filtering forward and sampling backward, ratios drawn by their weight."""
    weight, noise = found
    pick = generator.choice(RATIOS.size, DRAWS, p=weight)
    own = noise[pick] * np.where(y.size > 3, (y.size - 1) / generator.chisquare(max(y.size - 1, 2), DRAWS), 1.0)
    moves = gap[:, None] * (RATIOS[pick] * own)
    state, variance = _filter(y, moves, point[:, None] * own)
    z = generator.standard_normal((y.size, DRAWS))
    out = np.empty((y.size, DRAWS))
    out[-1] = state[-1] + np.sqrt(variance[-1]) * z[-1]
    for t in range(y.size - 2, -1, -1):
        back = variance[t] / (variance[t] + moves[t])
        out[t] = state[t] + back * (out[t + 1] - state[t]) + np.sqrt(variance[t] * (1 - back)) * z[t]
    return out.T
