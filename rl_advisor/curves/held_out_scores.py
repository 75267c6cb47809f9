"""Held-out scores as such: which split a name speaks of, and whether a score stepped by itself while training went on as before."""

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rl_advisor.curves.course import course_of
from rl_advisor.run import Curve, Floats, Run

PRIVATE = r"private|hidden|held_?out"
"""Words for a split that is kept from every decision: the one to release by."""
FEWEST, SIDE = 10, 3
"""Evaluations below which a step may be anything, and the evaluations on each side that say from where to where it went."""
LARGE = 0.15
"""Share of a score's scale that a step must make."""
PAID = ("reward/mean", "reward/success", "reward/used")
BESIDE = ("kl/ref", "entropy/mean", "response/length", "episode/length", "policy/grad_norm")
"""What a policy that changes at one step moves with its score."""
MOST = 0.35
"""Share of a curve's range that it may move across the step and still go on as before."""
SHARED = 0.3
"""How much of the score's own step, in shares of their ranges, the reward may make: a policy that leaps takes its reward along."""
USUAL, BY_CHANCE = 3.0, 5.0
"""How many times its usual move within as many rows a reward, and each of several side metrics, must move to have moved there: with five
of them asked, one in five steps lies beyond three usual moves of some metric by chance, one in two hundred beyond five."""


@dataclass(frozen=True)
class LoneStep:
    """A lasting step of a score between two neighbouring evaluations that nothing in training shares."""

    before: float
    """Step of the last evaluation before it."""
    at: float
    old: float
    new: float


def private(name: str) -> bool:
    """Whether a score's name says that its split was kept from every decision."""
    return re.search(rf"(?i)(?:^|[^a-z])(?:{PRIVATE})(?:[^a-z]|$)", name) is not None


@lru_cache(maxsize=64)
def lone_step(run: Run, score: Curve) -> LoneStep | None:
    """The step of a score that training does not share; None where there is none, or no training beside it to tell."""
    step, value = score.finite()
    if value.size < FEWEST:
        return None
    place = int(np.argmax(np.abs(np.diff(value)))) + 1
    if not SIDE <= place <= value.size - SIDE or not _stands_out(score, value, place):
        return None
    before, at = float(step[place - 1]), float(step[place])
    old, new = float(np.median(value[place - SIDE : place])), float(np.median(value[place : place + SIDE]))
    paid = [m * np.sign(new - old) for m in _moved(run, PAID, before, at, USUAL)]
    beside = [abs(m) for m in _moved(run, BESIDE, before, at, BY_CHANCE)]
    if not paid or max(beside, default=0.0) > MOST or max(paid) > SHARED * abs(new - old) / float(np.ptp(value)):
        return None
    return LoneStep(before, at, old, new)


def _moved(run: Run, names: tuple[str, ...], before: float, at: float, usual: float) -> list[float]:
    """How far, and which way, each of the curves that are logged moves across the step."""
    return [m for name in names if name in run.curves and (m := moves(run.curves[name], before, at, usual)) is not None]


def _stands_out(score: Curve, value: Floats, place: int) -> bool:
    """Whether a step is large, made at once, twice what any other two evaluations differ by, and lasts."""
    early, late = value[max(0, place - SIDE - 2) : place], value[place : place + SIDE + 2]
    own, others = float(value[place] - value[place - 1]), np.abs(np.delete(np.diff(value), place - 1))
    size = float(np.median(value[place : place + SIDE]) - np.median(value[place - SIDE : place]))
    lasts = bool(early.max() < late.min() or late.max() < early.min())
    return (
        lasts
        and abs(size) > LARGE * course_of(score).scale
        and own * size > 0
        and abs(own) > 0.7 * abs(size)
        and abs(own) > 2 * float(others.max())
    )


def moves(curve: Curve, before: float, at: float, usual: float, rows: int = 5) -> float | None:
    """By what share of its range a curve's level goes up (down: negative) between the rows before one step and those from another on.

    Nothing where it is not so many times what neighbouring stretches of the curve usually differ by; None with few rows on a side.
    """
    step, value = curve.finite()
    early, late = value[step <= before][-rows:], value[step >= at][:rows]
    if min(early.size, late.size) < 3:
        return None
    # The range within which nine tenths lie: a single outlier is no scale.
    spread, scatter = float(np.subtract(*np.quantile(value, [0.95, 0.05]))), float(np.median(np.abs(np.diff(value))))
    gap = float(np.median(late) - np.median(early))
    return gap / spread if spread > 0 and abs(gap) > max(3 * scatter, usual * _usual_move(value, rows)) else 0.0


def _usual_move(value: Floats, rows: int) -> float:
    """What the medians of two neighbouring stretches of so many rows differ by as a rule."""
    parts = value[: value.size // rows * rows].reshape(-1, rows)
    return float(np.median(np.abs(np.diff(np.median(parts, axis=1))))) if len(parts) > 3 else 0.0
