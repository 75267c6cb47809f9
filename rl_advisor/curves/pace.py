"""Whether a curve gains faster or more slowly than before: its second half against its first, over the courses that fit it."""

from typing import Literal

import numpy as np

from rl_advisor.curves.course import SURE, Course
from rl_advisor.features.series import Floats

Pace = Literal["accelerating", "steady", "slowing", "stopped", "reversed", "undecidable"]


def pace(found: Course, margin: float, better: int = 1) -> Pace:
    """What became of the improvement; ``better`` is -1 where lower is better, ``margin`` a change over half of the steps that is nothing.

    ``steady`` and ``stopped`` are measured: the change of pace, or what is left of it, lies inside the margin in 19 of 20 courses.
    """
    step = found.level.step
    half = int(np.searchsorted(step, (step[0] + step[-1]) / 2))  # late points stand closer together than early ones
    early, late = (better * _risen(found, where) for where in (slice(0, half + 1), slice(half, None)))

    def sure(held: np.ndarray) -> bool:
        return bool(held.mean() >= SURE)

    if sure(np.abs(late - early) < margin):
        return "steady"
    if sure(np.abs(late) < margin):
        return "stopped"
    if sure((late < -margin) & (late < early)):
        return "reversed"
    if sure((late > early) & (late > 0)):
        return "accelerating"
    return "slowing" if sure((late < early) & (early > 0)) else "undecidable"


def _risen(found: Course, where: slice) -> Floats:
    """What each course gains over a stretch by its straight line."""
    x = found.level.step[where]
    off = x - x.mean()
    return np.asarray(found.level.draws[:, where] @ off / max(float((off**2).sum()), 1e-300) * (x[-1] - x[0]))
