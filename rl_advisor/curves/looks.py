"""How often a held-out set was looked at, and by how much noise alone flatters the best of so many looks."""

from collections.abc import Sequence

import numpy as np

from rl_advisor.curves.course import FEWEST, Course

DRAWS = 100_000
"""Numbers drawn, all looks together."""


def looks(of: Sequence[Course], items: float | None = None) -> tuple[int, float | None]:
    """How many there were, and what chance adds to the highest of them on average; None where the error of one is not known.

    The error is the scatter about each course's line, of too few looks that of a share of ``items`` answers. A policy that climbs lets few
    of its looks compete: each is drawn about its own level.
    """
    level = np.concatenate([c.smoothed if c.n >= FEWEST else c.value for c in of])
    off = [np.diff(c.value - np.polyval(np.polyfit(c.step, c.value, 1), c.step)) for c in of if c.n >= FEWEST]
    share, count = float(level.mean()), sum(c.n for c in of)
    if off:
        error = float(1.4826 * np.median(np.abs(np.concatenate(off))) / 2**0.5)
    elif items and all(c.ceiling == 1.0 for c in of):
        error = (share * (1 - share) / items) ** 0.5
    else:
        return count, None
    chance = error * np.random.default_rng(0).standard_normal((max(1, DRAWS // level.size), level.size))
    flattered = np.take_along_axis(chance, (level + chance).argmax(axis=1)[:, None], axis=1).mean()
    return count, max(float(flattered), 0.0)
