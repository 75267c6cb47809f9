"""What going on would bring: each course that fits a curve continued at the pace of its own last third, which fades, and wandering on."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rl_advisor.curves.course import Course
from rl_advisor.run import Floats

FADES = 1 / 2
"""Share of the steps so far after which a third of the present pace is left."""
WORTH = 4.0
"""By how many of the smallest changes that matter a level must lie above the best for going on to pay."""
LOOKS = 16
"""Steps at which the continued courses are looked at."""
LEAST_GAIN, LEAST_CHANCE = 0.05, 0.2
"""The least that a gain that pays brings, as a share of the outcome's scale, and the least chance by which what is expected is divided."""


class Ahead(NamedTuple):
    """What more steps are foreseen to bring."""

    pays: float
    """Probability of a level above the best so far by ``WORTH``."""
    expected: float
    """How far above it is expected to lie; 0 where it stays below."""

    @property
    def gain(self) -> float:
        """What a gain brings if there is one, of what is expected as a share of the outcome's scale."""
        return max(LEAST_GAIN, self.expected / max(self.pays, LEAST_CHANCE))


@lru_cache(maxsize=256)
def ahead(found: Course, until: float) -> Ahead:
    """What going on to the step ``until`` would bring."""
    if until <= found.level.step[-1]:
        return Ahead(0.0, 0.0)
    paths, top = continued(found, until), found.level.draws.max(axis=1)
    above = np.minimum(paths.max(axis=1), np.inf if found.ceiling is None else np.maximum(found.ceiling, top)) - top
    return Ahead(float((above > WORTH * found.margin).mean()), float(np.maximum(above, 0).mean()))


def continued(found: Course, until: float) -> Floats:
    """Each course that fits the curve, at ``LOOKS`` steps up to one that is still to come."""
    step, draws = found.level.step, found.level.draws
    late = slice(-max(3, step.size // 3), None)
    x = step[late] - step[late].mean()
    pace = draws[:, late] @ x / (x @ x)
    off = np.diff(draws[:, late] - pace[:, None] * x, axis=1)
    wander = np.sqrt((off**2 / np.diff(x)).mean(axis=1))
    more = np.linspace(0, until - step[-1], LOOKS + 1)
    luck = np.random.default_rng(0).standard_normal((len(draws), LOOKS)) * np.sqrt(np.diff(more))
    fades = FADES * (step[-1] - step[0])
    gained = pace[:, None] * fades * (1 - np.exp(-more[1:] / fades))
    return np.asarray(found.ends[:, None] + gained + wander[:, None] * luck.cumsum(axis=1))
