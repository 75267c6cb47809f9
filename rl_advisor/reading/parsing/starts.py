"""One file to which a trainer was started several times, and rows whose counter counts something else: what the steps of the rows are."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from rl_advisor.run import Event, Floats, is_straight

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


MOST_COMPARED, MOVED = 20, 4.0
"""Rows whose means are compared at most, and standard errors between two of them from which a column moved."""
ANEW = "the counter begins anew at"


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


def counted_on(
    steps: Floats, bounds: Sequence[tuple[int, int]], columns: Iterable[Floats], said: Callable[[int], bool] = lambda _: False
) -> tuple[list[tuple[int, int]], Floats, list[Event]]:
    """The starts without those that only begin to count anew, the steps counted on through them, and an event at the step before each.

    Such a start goes on at the level at which the one before ended, not at that where it began, in nearly all of two or more things that
    moved (columns have a number or NaN for each step); or the file ``said`` at that row that it was resumed.
    """
    steps, found, events, columns = steps.copy(), [bounds[0]], list[Event](), list(columns) if len(bounds) > 1 else []
    for first, last in bounds[1:]:
        begun, end = found[-1]
        votes = [vote for c in columns if (vote := _goes_on(c[begun:end], c[first:last])) is not None]
        if not said(first) and (len(votes) < 2 or 4 * sum(votes) < 3 * len(votes)):
            found.append((first, last))
            continue
        before, after = (part[np.isfinite(part)] for part in (steps[begun:end], steps[first:last]))
        steps[first:last] += before[-1] - after[0] + np.median(np.abs(np.diff(after)))
        found[-1] = begun, last
        events.append(
            Event("resume", f"{ANEW} {after[0]:g}, and what moved goes on from there: the run was resumed", "", float(before[-1]))
        )
    return found, steps, events


def _goes_on(before: Floats, after: Floats) -> bool | None:
    """Whether a start begins nearer to where the one before ended than to where that began; None of what did not move, or is a clock."""
    before, after = before[np.isfinite(before)], after[np.isfinite(after)]
    few = min(MOST_COMPARED, before.size // 5, after.size // 2)
    if few < FEWEST or is_straight(before):
        return None
    begun, ended, then = before[:few], before[-few:], after[:few]
    error = np.sqrt((begun.var() + ended.var()) / few)
    if abs(ended.mean() - begun.mean()) <= MOVED * error:
        return None
    return bool(2 * abs(then.mean() - ended.mean()) < abs(then.mean() - begun.mean()))


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
