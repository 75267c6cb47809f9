"""Steps that one curve makes alone: a score that is measured otherwise from one evaluation on, a reward that is graded otherwise."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rl_advisor.curves.course import Course, course_of
from rl_advisor.features import TooFewPoints
from rl_advisor.features.change import change_points
from rl_advisor.output.wording import counted
from rl_advisor.run import Curve, Floats, Run

ROWS = 5
"""Rows on each side of a step that say from where to where a curve went."""
FEWEST, SIDE = 10, 3
"""Evaluations below which a step may be anything, and the evaluations on each side that say from where to where it went."""
LARGE, GRADED = 0.15, 0.25
"""Share of its scale that a step of a score must make, and of its range one of a reward."""
PAID = ("reward/mean", "reward/success", "reward/used")
BESIDE = ("kl/ref", "entropy/mean", "response/length", "episode/length", "policy/grad_norm")
"""What a policy that changes at one step moves with its score."""
MOST = 0.35
"""Share of a curve's range that it may move across the step and still go on as before."""
WARM, ROWS_WARM, NOTHING, AGAIN = 0.35, 20, 15.0, 2
"""What a warm-up takes at most: a share of the plan, or rows, or any time where it begins so many times below; how often a rate that adapts
goes up again."""
SHARED = 0.3
"""How much of the score's own step, in shares of their ranges, the reward may make: a policy that leaps takes its reward along."""
USUAL, BY_CHANCE = 3.0, 5.0
"""How many times its usual move within as many rows a reward (of what it scatters by, where it steps itself), and each of several side
metrics, must move to have moved there: with five of them asked, one in five steps lies beyond three usual moves of some metric by chance,
one in two hundred beyond five."""


class LoneStep(NamedTuple):
    """A lasting step of a curve between two neighbouring points that nothing beside it shares."""

    before: float
    """Step of the last point before it."""
    at: float
    old: float
    new: float


@lru_cache(maxsize=64)
def step_of_score(run: Run, score: Curve) -> LoneStep | None:
    """The step of a score that training does not share; None where there is none, or no training beside it to tell.

    Raises:
        TooFewPoints: fewer than ten evaluations.
    """
    step, value = score.finite()
    if value.size < FEWEST:
        raise TooFewPoints(f"{counted(value.size, 'evaluation')}, {FEWEST} needed to tell a changed protocol from a changed policy")
    place = int(np.argmax(np.abs(np.diff(value)))) + 1
    if not SIDE <= place <= value.size - SIDE:
        return None
    before, at = float(step[place - 1]), float(step[place])
    old, new = float(np.median(value[place - SIDE : place])), float(np.median(value[place : place + SIDE]))
    early, late = value[max(0, place - SIDE - 2) : place], value[place : place + SIDE + 2]
    own, others = abs(value[place] - value[place - 1]), np.abs(np.delete(np.diff(value), place - 1))
    # A step that stands out is large, made at once, twice what any other two evaluations differ by, and lasts.
    lasts = early.max() < late.min() or late.max() < early.min()
    large = abs(new - old) > LARGE * course_of(score).scale and own > max(0.7 * abs(new - old), 2 * others.max())
    if not lasts or not large:
        return None
    paid, beside = (
        [m for name in names if name in run.curves and (m := moves(run.curves[name], before, at, usual)) is not None]
        for names, usual in ((PAID, USUAL), (BESIDE, BY_CHANCE))
    )
    shared = SHARED * abs(new - old) / np.ptp(value)
    if not paid or max(map(abs, beside), default=0.0) > MOST or max(m * np.sign(new - old) for m in paid) > shared:
        return None
    return LoneStep(before, at, old, new)


def step_of_reward(train: Course, held: Course, learnable: float) -> LoneStep | None:
    """The largest abrupt step of a reward that the held-out score does not share, nor one up to a level that was ``learnable``."""
    for found in sorted(change_points(train.step, train.value), key=lambda c: -abs(c.after - c.before)):
        size, before = found.after - found.before, float(train.step[train.step < found.step][-1])
        rows = sides(train.step, train.value, before, found.step, max(ROWS, train.step.size // 50))
        few = sides(held.step, held.value, before, found.step, SIDE + 1)
        large = abs(size) >= max(GRADED * train.scale, USUAL * train.noise)
        abrupt = rows is not None and large and (rows[1].mean() - rows[0].mean()) / size > 0.6
        alone = few is not None and abs(np.median(few[1]) - np.median(few[0])) / held.scale < abs(size) / train.scale / 4
        if abrupt and alone and not found.before < found.after < learnable:
            return LoneStep(before, found.step, found.before, found.after)
    return None


def step_of_rate(rate: Curve, planned: float) -> LoneStep | None:
    """The farthest climb of a learning rate above the lowest before it, from where it has doubled on; None where it is a warm-up or adapts.

    A warm-up climbs to the highest rate and never falls: early in the plan, or in the first few rows, or from next to nothing; a rate that
    follows the KL of the updates goes up again and again.

    Raises:
        TooFewPoints: fewer than five points.
    """
    step, value = rate.finite()
    if value.size < ROWS:
        raise TooFewPoints(f"{value.size} points of the learning rate")
    step, value = step[value > 0], value[value > 0]
    if value.size < 2:
        return None
    top = int(np.argmax(value >= 0.999 * value.max()))
    climb, short = np.diff(value[: top + 1]), step[top] - step[0] <= WARM * max(planned, float(step[-1] - step[0]))
    at_first = top > 0 and climb[0] > 0 and (top < ROWS_WARM or value[top] > NOTHING * value[0])
    warming = top > 0 and climb.min() >= 0 and (at_first or (short and (climb > 0).sum() > 1))
    step, value = (x[top if warming else 0 :] for x in (step, value))
    ways = np.sign(np.diff(value))
    lowest = np.minimum.accumulate(value)
    high = int(np.argmax(value / lowest))
    if value[high] < 2 * lowest[high] or (np.diff(ways[ways != 0]) > 0).sum() >= AGAIN:
        return None
    low = int(np.flatnonzero(value[:high] == lowest[high])[-1])
    doubled = low + int(np.argmax(value[low:] >= 2 * value[low]))
    return LoneStep(float(step[doubled - 1]), float(step[doubled]), float(value[low]), float(value[high]))


def sides(step: Floats, value: Floats, before: float, at: float, rows: int = ROWS) -> tuple[Floats, Floats] | None:
    """The values of so many rows up to one step, and from another on; None with few rows on a side."""
    early, late = value[step <= before][-rows:], value[step >= at][:rows]
    return (early, late) if min(early.size, late.size) >= SIDE else None


def moves(curve: Curve, before: float, at: float, usual: float) -> float | None:
    """By what share of its range a curve's level goes up (down: negative) between the rows before one step and those from another on.

    Nothing where it is not so many times what neighbouring stretches of the curve usually differ by; None with few rows on a side.
    """
    step, value = curve.finite()
    near = sides(step, value, before, at)
    if near is None:
        return None
    # The range within which nine tenths lie: a single outlier is no scale.
    spread, scatter = float(np.subtract(*np.quantile(value, [0.95, 0.05]))), float(np.median(np.abs(np.diff(value))))
    gap = float(np.median(near[1]) - np.median(near[0]))
    return gap / spread if spread > 0 and abs(gap) > max(3 * scatter, usual * _usual_move(value)) else 0.0


def _usual_move(value: Floats) -> float:
    """What the medians of two neighbouring stretches of so many rows differ by as a rule."""
    parts = value[: value.size // ROWS * ROWS].reshape(-1, ROWS)
    return float(np.median(np.abs(np.diff(np.median(parts, axis=1))))) if len(parts) > 3 else 0.0
