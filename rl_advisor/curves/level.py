"""The true course behind a noisy curve: many courses that fit the points about equally well, drawn once, from which every word is counted.

    point    y(t)   = level(t) + noise(t) + own(t)
    level    level(t) = level(t-1) + step(t),       step ~ Student's t, variance RATIO x that of the noise, per usual gap
    noise    noise(t) = memory^gap x noise(t-1) + news, so that a value above the level is followed by others above it
    own      own(t) ~ little, and much for a point far off, as Student's t would have it

Where the level starts and how large the noise is are unknown beforehand (flat priors, in closed form); RATIO and memory are averaged over a
grid by the likelihood of the points. A point far off is widened alone: the noise of its neighbours does not share in it, so no course
leaves its points. A step far off is a break and is not smoothed over.
Source: Durbin and Koopman, Time Series Analysis by State Space Methods, 4 (filter, backward draws), 7.2 (unknown start and scale), 14
(heavy tails); the tails as a mixture of widths: Lange, Little and Taylor 1989.
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from rl_advisor.features.series import Floats

DRAWS = 160
RATIOS = np.array([1e-6, *np.geomspace(1e-4, 10, 9)])
"""Variance of a step of the level over that of the noise of a point: from a level that stands to one that moves with every point."""
MEMORIES = np.array([0.0, 0.3, 0.5, 0.6, 0.7])
"""Lag-one correlations of the noise."""
FORGETS = 2.5
"""How much less likely long memories are beforehand: a power of one minus the correlation. With less, short curves that readers see move
are called still; with more, noise of long memory is taken for a course more often (docs/log.md)."""
OWN = 0.02
"""Share of the noise that each point has for itself."""
FREEDOM = 4.0
"""Degrees of freedom of both heavy tails."""
LEAST = 1e-6
"""The least variance of the noise, in that of the points."""
ROUNDS, TRIALS = 2, 32
"""How often points and steps far off are weighed anew, and by how many courses."""


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
        return np.asarray(self.draws.mean(axis=0))

    @property
    def tail(self) -> int:
        """Points that are its end: the last twentieth, three where there are fifteen."""
        return max(1, min(3, self.step.size // 5), self.step.size // 20)


class _Widths(NamedTuple):
    """How much wider than usual the points and the steps of the level are."""

    gap: Floats
    """Distances of neighbours (n - 1), in usual ones."""
    point: Floats
    """Variance that a point has beyond the noise, in that of the noise (n)."""
    jump: Floats
    """Variance of a step of the level in its usual one (n - 1)."""


class _Passed(NamedTuple):
    """What the filter found, a column a pair of ratio and memory."""

    fade: Floats
    """What is left of the noise from point to point (n - 1, k)."""
    spread: Floats
    """Covariance of level and noise before each point was seen (n, 2, 2, k)."""
    mean: Floats
    """Level and noise before each point was seen (n, 2, k)."""
    gain: Floats
    """How much each point moved them (n, 2, k)."""
    news: Floats
    """By how much each point was unlike what was expected (n, k)."""
    weight: Floats
    """Probability of each pair (k)."""
    noise: Floats
    """Variance of the noise that suits each pair (k)."""


def level(step: Floats, value: Floats) -> Level:
    """The courses behind a curve of at least 2 finite points at rising steps."""
    spread = float(np.std(value))
    if spread == 0:
        return Level(step, value, np.tile(value, (DRAWS, 1)), 0.0)
    y = (value - value.mean()) / spread
    gap = np.diff(step)
    gap = np.clip(gap / np.median(gap), 0.1, 10.0)
    generator = np.random.default_rng(0)
    widths = _Widths(gap, np.zeros(y.size), np.ones(gap.size))
    passed = _filtered(y, widths)
    for _ in range(ROUNDS):
        widths = _reweighed(y, widths, _drawn(passed, generator, TRIALS))
        passed = _filtered(y, widths)
    draws = _drawn(passed, generator, DRAWS).level
    left = float(np.sqrt(np.median((y - draws.mean(axis=0)) ** 2)) * 1.4826)
    return Level(step, value, value.mean() + spread * draws, spread * left)


@cache
def _grid() -> tuple[Floats, Floats, Floats]:
    """Every pair of ratio and memory, and the logarithm of how likely each is before a point was seen."""
    ratio, memory = (x.ravel() for x in np.meshgrid(RATIOS, MEMORIES, indexing="ij"))
    prior = np.tile(np.gradient(MEMORIES) * (1 - MEMORIES) ** FORGETS, RATIOS.size)
    return ratio, memory, np.log(prior / prior.sum())


def _filtered(y: Floats, widths: _Widths) -> _Passed:
    """The Kalman filter over every pair at once; the first point is where the level starts, so that its start is unknown beforehand."""
    ratio, memory, prior = _grid()
    n, many, shared = y.size, ratio.size, 1 - OWN
    fade, own = memory ** widths.gap[:, None], (OWN + widths.point).tolist()
    kept, added = np.stack([np.ones_like(fade), fade], axis=1), np.zeros((n - 1, 2, 2, many))
    added[:, 0, 0], added[:, 1, 1] = ratio * (widths.gap * widths.jump)[:, None], shared * (1 - fade**2)
    kept_twice, spread = kept[:, :, None] * kept[:, None], np.zeros((n, 2, 2, many))
    (mean, gain), news, size = np.zeros((2, n, 2, many)), np.zeros((n, many)), np.ones((n, many))
    spread[0], mean[0, 0] = [[[shared + own[0]], [-shared]], [[-shared], [shared]]], y[0]
    # Of both level and noise at once: the cost of a point is that of calling numpy.
    now, left = mean[0], spread[0]
    points = zip(own[1:], y[1:].tolist(), kept, kept_twice, added, spread[1:], mean[1:], gain[1:], news[1:], size[1:], strict=True)
    for wide, point, keeps, keeps_twice, adds, seen, before, pull, new, large in points:
        np.add(left * keeps_twice, adds, out=seen)
        np.multiply(now, keeps, out=before)
        to = seen[0] + seen[1]
        np.add(to[0] + to[1], wide, out=large)
        np.subtract(point - before[0], before[1], out=new)
        np.divide(to, large, out=pull)
        now = before + pull * new
        left = seen - pull[:, None] * to
    squares = (news**2 / size).sum(axis=0)
    variance = np.maximum(squares / (n - 1), LEAST)
    fit = prior - 0.5 * ((n - 1) * np.log(variance) + np.log(size).sum(axis=0) + squares / variance)
    weight = np.exp(fit - fit.max())
    return _Passed(fade, spread, mean, gain, news, weight / weight.sum(), variance)


class _Courses(NamedTuple):
    """Courses drawn from what the filter found."""

    level: Floats
    """(many, n)."""
    ratio: Floats
    """Of each course: variance of a step of the level in that of the noise (many)."""
    noise: Floats
    """Of each course: variance of the noise (many)."""


def _drawn(passed: _Passed, generator: np.random.Generator, many: int) -> _Courses:
    """Courses drawn backward from the last point, each under a pair of its own.

    Pairs are taken in proportion to their weight, and every course has a mirror image, so that the middle of all hardly depends on luck.
    """
    n, half = passed.news.shape[0], many // 2
    pair = np.searchsorted(np.cumsum(passed.weight), (np.arange(half) + generator.random()) / half).clip(max=passed.weight.size - 1)
    pairs, which = np.unique(pair, return_inverse=True)
    freedom = (n - 1) / generator.chisquare(n - 1, half) if n > 3 else np.ones(half)
    variance = passed.noise[pair] * freedom
    lucky, luckier = np.moveaxis(generator.standard_normal((n, 2, half)) * np.sqrt(variance), 1, 0)
    mean, back, left = _smoothing(passed, pairs)
    (own, both, rest), which = (left[:, x][:, which] for x in range(3)), np.tile(which, 2)
    off = own * lucky, both * lucky + rest * luckier
    to = mean[:, :, which] + np.stack([np.hstack([x, -x]) for x in off], axis=1)
    back, now = back[:, :, which].reshape(n, 2, 2, 2 * half), np.zeros((2, 2 * half))
    by_level, by_noise = adds = np.empty((2, 2, 2 * half))
    for course, follows in zip(to[::-1], back[::-1], strict=True):
        np.multiply(follows, now[:, None], out=adds)
        now = course
        now += by_level
        now += by_noise
    return _Courses(to[:, 0].T, np.tile(_grid()[0][pair], 2), np.tile(variance, 2))


def _smoothing(passed: _Passed, pairs: np.ndarray) -> tuple[Floats, Floats, Floats]:
    """Level and noise at each point given those at the next: without it, what these add, and what is left to luck.

    A mean (n, 2, k), a matrix of two by two (n, 4, k) and the triangle of a root (n, 3, k).
    """
    ((a, b), (_, c)), (g, h) = np.moveaxis(passed.spread[..., pairs], 0, 2), np.moveaxis(passed.gain[..., pairs], 1, 0)
    p, q, r = a - g * (a + b), b - g * (b + c), c - h * (b + c)
    mean = passed.mean[..., pairs] + passed.gain[..., pairs] * passed.news[:, None, pairs]
    last = np.zeros((1, pairs.size))
    fade = np.vstack([passed.fade[:, pairs], last])
    a, b, c, to_level, to_noise = (np.vstack([x[1:], last]) for x in (a, b, c, *np.moveaxis(passed.mean[..., pairs], 1, 0)))
    whole = np.where(a > 0, a * c - b * b, 1.0)
    back = np.stack([p * c - q * fade * b, q * c - r * fade * b, q * fade * a - p * b, r * fade * a - q * b], axis=1) / whole[:, None]
    mean -= back[:, :2] * to_level[:, None] + back[:, 2:] * to_noise[:, None]
    own = np.sqrt(np.maximum(p - back[:, 0] * p - back[:, 2] * q * fade, 1e-15))
    both = (q - back[:, 1] * p - back[:, 3] * q * fade) / own
    rest = np.sqrt(np.maximum(r - back[:, 1] * q - back[:, 3] * r * fade - both**2, 0))
    return mean, back, np.stack([own, both, rest], axis=1)


def _reweighed(y: Floats, widths: _Widths, courses: _Courses) -> _Widths:
    """Points and steps that lie far off, by the courses drawn, widened."""
    far = ((y - courses.level) ** 2 / courses.noise[:, None]).mean(axis=0)
    moved = (np.diff(courses.level, axis=1) ** 2 / (courses.ratio * courses.noise)[:, None]).mean(axis=0) / widths.gap
    point = np.maximum((FREEDOM + far) / (FREEDOM + 1) - 1, 0)
    point[0] = 0  # where training began is no accident: what leaves it at once is a break
    return widths._replace(point=point, jump=(FREEDOM + moved) / (FREEDOM + 1))
