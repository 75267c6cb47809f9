"""The one best step of a run: where the level of its outcome was highest, the earlier of equals."""

from dataclasses import dataclass

import numpy as np

from rl_advisor.curves.course import Course
from rl_advisor.curves.outcome_shape import FEWEST
from rl_advisor.features.bins import running_mean
from rl_advisor.run import Floats

TIE = 0.1
"""Standard errors within which two levels are equals. On the second half of strangers' evaluation episodes a whole one gives away more
than the earlier checkpoint is worth: docs/log.md."""
BREAK = 0.4
"""Share of its range that a course must fall from one point to the next to break."""


@dataclass(frozen=True)
class Best:
    """How good a policy was at each point, and where it was best."""

    step: Floats
    level: Floats
    tie: float
    """Within which two levels are equals."""

    @property
    def place(self) -> int:
        """Where the level is highest, the earlier of equals."""
        return int(np.argmax(self.level >= self.level.max() - self.tie))

    @property
    def at(self) -> float:
        """The best step."""
        return float(self.step[self.place])

    @property
    def top(self) -> float:
        """The level there."""
        return float(self.level[self.place])


def best_of(course: Course) -> Best:
    """The best step of an outcome; by raw points where they are too few to smooth."""
    if course.n < FEWEST:
        return Best(course.level.step, course.level.value, 0.0)
    error = error_of(course)
    return Best(course.level.step, levels(course), max(TIE * error, 1e-9 * abs(course.best)))  # rounding is no difference


def error_of(course: Course) -> float:
    """The error of a mean of about five points."""
    return float(course.level.noise / 5**0.5)


def levels(course: Course) -> Floats:
    """How good the policy was at each point: a mean of its neighbours that weighs near ones more, a twentieth of the curve wide.

    No mean reaches across a break: before a cliff the level is that before the cliff. On 109 real runs whose other evaluation episodes were
    held back, the highest of these levels lost less than the highest of the course itself or of an even mean (docs/log.md).
    """
    logged, width = course.level.value, max(3, course.level.value.size // 20)
    fell = -np.diff(course.middle)
    breaks = np.flatnonzero(fell > max(BREAK * float(np.ptp(course.middle)), 5 * course.level.noise)) + 1
    parts = np.split(logged, breaks)
    return np.concatenate([running_mean(running_mean(part, width), width) for part in parts])
