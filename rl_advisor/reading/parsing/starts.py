"""One file to which a trainer was started several times, and rows whose counter counts something else: what the steps of the rows are."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from rl_advisor.run import Floats

MOST_STARTS = 60
FEWEST_STEPS = 2
FEWEST = 3
"""Rows that a start has at least, in the middle of them."""
EARLY = 0.05
"""Share of what an earlier start reached up to which a later one that begins there began anew; further on it resumed."""
RARE = 0.2
"""Share of steps that are no whole numbers up to which these rows are damaged; beyond it the axis counts in fractions."""
REPEATED = 0.5
"""Share of different steps below which the counter does not count the rows."""


def starts(steps: Floats) -> list[tuple[int, int]]:
    """First and last row (exclusive) of each start in the order written; one for rows that go on, or that resume a checkpoint."""
    known = np.flatnonzero(np.isfinite(steps))
    if not known.size:
        return [(0, len(steps))]
    value = steps[known]
    back = np.flatnonzero(np.diff(value) < 0) + 1
    # A lone row from which the steps go on where they were is a damaged one, no start.
    back = back[np.append(value[1:], -np.inf)[back] < value[back - 1]]
    first, high = value[0], np.maximum.accumulate(value)[back - 1]
    anew = known[back[value[back] <= np.where(high > first, value.min() + EARLY * (high - first), first)]]
    if not anew.size or anew.size != back.size or anew.size >= MOST_STARTS:
        return [(0, len(steps))]
    bounds = [0, *anew.tolist(), len(steps)]
    found = list(pairwise(bounds))
    return found if np.median([b - a for a, b in found]) >= FEWEST else [(0, len(steps))]


def broken_steps(steps: Floats) -> npt.NDArray[np.bool_]:
    """Rows whose step is no whole number where nearly all others' are."""
    odd = np.isfinite(steps) & (steps != np.round(steps))
    return odd if odd.sum() <= RARE * np.isfinite(steps).sum() else np.zeros(len(steps), bool)


def no_count(steps: Floats) -> str:
    """Why steps do not count the rows: most come again, they go down from 0, or are shares of one; empty where they do."""
    known = steps[np.isfinite(steps)]
    back = int((np.diff(known) < 0).sum())
    if back > max(2, known.size // 8) and np.unique(known).size < REPEATED * known.size:
        return "goes back again and again"
    if known.size > FEWEST and known.max() <= 0 and back == known.size - 1:
        return "counts down from zero"
    return "stays below one" if known.size > FEWEST and 0 < np.abs(known).max() < 1 else ""


def steady(number: Floats) -> bool:
    """Whether whole numbers go up nearly always, and mostly at one pace, perhaps with new starts."""
    number = number[np.isfinite(number)]
    pace = np.diff(number)
    if pace.size < FEWEST_STEPS or number.min() < 0 or 20 * int((number % 1 != 0).sum()) > number.size:
        return False
    up = pace[pace > 0]
    return bool(10 * up.size >= 9 * pace.size) and bool(2 * (up == np.median(up)).sum() >= up.size)
