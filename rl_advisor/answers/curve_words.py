"""The shape of a curve in words, before anybody judges it: where it starts, each of its legs, where it ends, and how far points scatter."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from rl_advisor.curves.course import FEWEST, Course, course
from rl_advisor.features.series import Floats
from rl_advisor.output.wording import apart, counted, listed, value
from rl_advisor.run import Curve
from rl_advisor.vocabulary import metric_unit

DEEP = 2.0
"""By how many of the smallest changes that matter, or errors of a level, a curve turns before it is said to turn."""
MOST_LEGS, COARSER = 4, 1.5
"""Legs that are told one by one; where there are more, turns must be so much deeper to be one, and the others are swings."""
NOTHING = 1e-3
"""Share of a curve's range that is called nothing."""
STILL, ABRUPT = 0.3, 0.06
"""Share of a leg that is over before it moves, or left after it did, to be called rest; and of all steps within which a move is a break."""
STAYS = "stays there to step {:.0f}"
EVENLY = 0.5
"""Probability from which a curve is said to go on rising or falling."""
EVEN = (0.35, 0.65)
"""When half of a steady move is done, as a share of its time."""


def described(curve: Curve) -> str:
    """The sentence; ``curve`` is without its lag where it is a mean over past episodes."""
    step, logged = curve.finite()
    name, found = curve.name, course(curve, FEWEST)
    unit = metric_unit(name)
    if found is None:
        points = [f"{value(v, unit, 3)} at step {s:.0f}" for s, v in zip(step, logged, strict=True)]
        return f"{name} has {counted(len(points), 'finite point')}: {listed(points, 5)}." if points else f"{name} has no finite value."
    if np.ptp(logged) == 0:
        return f"{name} is {value(logged[0], unit)} throughout, from step {step[0]:.0f} to {step[-1]:.0f}."
    x, line = np.concatenate([step[:1], found.level.step[1:-1], step[-1:]]), found.middle
    deep = first = DEEP * max(found.margin, found.error)
    digits = apart((line[0], line[-1], line.max(), line.min()), unit) if np.ptp(line) > deep else 2

    def said(level: float) -> str:
        return f"about {value(0.0 if abs(level) < NOTHING * np.ptp(line) else level, unit, digits)}"

    while len(legs := list(pairwise(turning(line, deep)))) > MOST_LEGS:
        deep *= COARSER
    told = [words for a, b in legs for words in _leg(x[a : b + 1], line[a : b + 1], ABRUPT * (x[-1] - x[0]), said)]
    told = told or [STAYS.format(x[-1])]
    if told[-1] == STAYS.format(x[-1]) and (lately := _lately(found)):
        told[-1] = f"{lately} slowly to {said(line[-1])} by step {x[-1]:.0f}"
    told = [f"starts at {said(line[0])}", *told]
    told += [f"swings by up to {said(deep)} on the way"] if deep > first else []
    scatter = f"; single points lie {value(found.noise, unit, 2)} off" if found.noise > 0 else ""
    return f"{name} {listed(told, len(told))}{scatter}."


def _lately(found: Course) -> str:
    """Which way a curve without a turn, or at rest since its last one, still goes by the judge's own measure; nothing where it stays."""
    rises, falls = found.amounts["still rises"] >= EVENLY, found.amounts["falls lately"] >= EVENLY
    return "rises" if rises and found.last > found.start else "falls" if falls and found.last < found.best else ""


def turning(line: Floats, deep: float) -> list[int]:
    """Where a line begins to move, turns by at least so much, and ends; nothing where it never moves so far."""
    turns: list[int] = []
    going, farthest, low, high = 0, 0, 0, 0
    for i, x in enumerate(line):
        low, high = (i if x < line[low] else low), (i if x > line[high] else high)
        if not going:
            going, farthest = int(x - line[low] >= deep) - int(line[high] - x >= deep), i
            turns = [low if going > 0 else high] if going else []
        elif (x - line[farthest]) * going > 0:
            farthest = i
        elif (line[farthest] - x) * going >= deep:
            turns, going, farthest = [*turns, farthest], -going, i
    return [*turns, line.size - 1] if going else []


def _leg(x: Floats, line: Floats, brief: float, said: Callable[[float], str]) -> Iterator[str]:
    """One way, with the rest before and behind it; what takes no longer than ``brief`` is a break."""
    end = line[np.argmax(np.abs(line - line[0]))]
    done = (line - line[0]) / (end - line[0])
    begun, half, over = (x[np.argmax(done >= share)] for share in (0.1, 0.5, 0.9))
    up, rests = end > line[0], (x[-1] - over) > STILL * (x[-1] - x[0])
    if begun - x[0] > STILL * (x[-1] - x[0]):
        yield STAYS.format(begun)
    if over - begun <= brief:
        yield f"{'jumps' if up else 'drops'} to {said(end)} at a break at step {half:.0f}"
    else:
        share = (half - begun) / (over - begun)
        how = "fast, then more slowly," if share < EVEN[0] else "slowly, then faster," if share > EVEN[1] else "steadily"
        to = line[done >= 0.9].mean() if rests else end
        yield f"{'rises' if up else 'falls'} {how} to {said(to)} by step {over if rests else x[-1]:.0f}"
    if rests:
        yield STAYS.format(x[-1])
