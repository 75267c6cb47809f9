"""What the verdict words mean: each is a probability over the courses that fit the outcome, and each says what it measured.

``docs/verdicts.md`` is this page in words, with a run worked through. Whoever wants "plateaued" to mean something else changes it here: the
probabilities bound the verdict (what a definition denies, no other evidence makes up for), and the same measures are its reasons, so that a
reason cannot deny its verdict.
"""

from collections.abc import Callable, Mapping

import numpy as np

from rl_advisor.curves.course import Course
from rl_advisor.curves.pace import pace
from rl_advisor.curves.performance import Performance
from rl_advisor.finding import Verdict
from rl_advisor.output.wording import about, pair, percent, roughly, value
from rl_advisor.vocabulary import metric_unit

EVEN = 0.5
"""Probability from which a word is used."""
NEAR = 0.1
"""Share of its range within which a level is near the best."""
PACES = {"accelerating": ", faster than before", "slowing": ", more slowly than before"}
"""What is said of a rise whose second half gains more, or less, than its first."""
Amounts = Mapping[str, float]

MEANS: Mapping[Verdict, Callable[[Amounts], float]] = {
    "improving": lambda a: min(a["rose"], max(a["still rises"], a["best at"]), 1.6 - 5 * a["gone"]),
    "plateaued": lambda a: 1 - max(0.9 * a["still rises"] * a["best at"], 2 * a["lost"]),
    "not_learning": lambda a: 1 - max(a["gained"] * max(0.0, 1 - a["lost"]), a["lost"] / 2, a["deepest dip"] * a["still rises"] / 2),
    "degrading": lambda a: min(1.0, a["lost"] / 0.2),
    "collapsed": lambda a: min(1.0, a["lost"] / 0.4),
    "unstable": lambda a: min(1.0, a["deepest dip"] / 0.3),
}
"""How well what an outcome did fits each word; the others are not told by the outcome's course."""


def _level(c: Course, x: float) -> str:
    return roughly(x, metric_unit(c.name))


def _way(c: Course, first: float, last: float) -> str:
    return about(first, last, metric_unit(c.name))


def _scatter(c: Course, says: str) -> str:
    return f"{says} scatter by about {value(c.level.noise, metric_unit(c.name))}" if c.level.noise > 0 else ""


def _third(c: Course) -> tuple[float, float]:
    """Its level where the last third begins, and at the end."""
    step = c.level.step
    place = int(np.searchsorted(step, step[0] + (step[-1] - step[0]) * 2 / 3))
    return float(c.middle[place]), float(c.middle[-1])


def improving(c: Course) -> list[str]:
    """It rose, and rises now or was best at last."""
    told, third = [f"{c.name} rose {_way(c, c.start, c.last)}"] if c.last > c.start else [], _third(c)
    if c.amounts["still rises"] >= EVEN and third[1] > third[0] and c.amounts["gone"] < 2 * NEAR:
        return [*told, f"{c.name} still rises, {_way(c, *third)} over its last third{PACES.get(pace(c, c.margin), '')}"]
    return [*told, f"{c.name} was best at step {c.best_step:.0f} ({_level(c, c.best)})"]


def plateaued(c: Course) -> list[str]:
    """It came early to where it is over its last third, and has stayed there."""
    late = c.middle[-max(1, c.middle.size // 3) :]
    reach = NEAR * float(np.ptp(c.middle))
    away = np.flatnonzero((c.middle < late.min() - reach) | (c.middle > late.max() + reach))
    near = int(away[-1]) + 1 if away.size else 0
    low, high = pair(c.middle[near:].min(), c.middle[near:].max(), metric_unit(c.name))
    where = f"between about {low} and {high}" if low != high else f"at {_level(c, c.middle[near:].max())}"
    stays = f"{c.name} has stayed {where} since step {c.level.step[near]:.0f}"
    return [f"{c.name} rose {_way(c, c.start, c.best)}", stays] if c.amounts["rose"] >= EVEN and c.best > c.start else [stays]


def not_learning(c: Course) -> list[str]:
    """It never left its start by more than noise, or came back to it."""
    ends = f"({_level(c, c.start)} at first, {_level(c, c.last)} now)"
    if c.amounts["rose"] >= EVEN and c.amounts["gained"] < EVEN:
        return [f"{c.name} ends where it started {ends}; what it gained on the way did not last"]
    return [f"{c.name} never clearly left its start {ends}{_scatter(c, '; single points')}"]


def fallen(c: Course) -> list[str]:
    """It lost a part, or most, of its best."""
    if c.best <= c.last:
        return []
    lost = f"{percent(c.amounts['lost'])} of its range lower"
    return [f"{c.name} was at {_level(c, c.best)} at step {c.best_step:.0f} and ends at {_level(c, c.last)}, {lost}"]


def unstable(c: Course) -> list[str]:
    """It goes up and down without getting anywhere."""
    deepest = percent(c.amounts["deepest dip"])
    return [f"{c.name} goes up and down: its deepest fall took {deepest} of its range, and it ends at {_level(c, c.last)}"]


def undecidable(c: Course) -> list[str]:
    """It has too few points, or they scatter too far."""
    scatter = _scatter(c, ", which")
    return [f"{c.name} has only {c.n} points{scatter}" if c.n < 20 else f"{c.name} has {c.n} points{scatter}: too far to tell a course"]


REASONS: Mapping[Verdict, Callable[[Course], list[str]]] = {
    "improving": improving,
    "plateaued": plateaued,
    "not_learning": not_learning,
    "degrading": fallen,
    "collapsed": fallen,
    "unstable": unstable,
    "undecidable": undecidable,
}


def says(verdict: Verdict, performance: Performance) -> list[tuple[str, str]]:
    """What of the outcome speaks for a verdict, each clause with its metric; of a gamed reward, what reward and score did.

    Of a fall the curve speaks that lost more, of anything else the one that counts.
    """
    held, train, counts = performance.held, performance.train, performance.counts
    if verdict == "reward_hacking" and held is not None and train is not None:
        way = f"{train.name} went {_way(train, train.start, train.last)} while {held.name} went {_way(held, held.start, held.last)}"
        return [(way, train.name)]
    if counts is None or verdict not in REASONS:
        return []
    if REASONS[verdict] is fallen:
        counts = max((c for c in (counts, held, train) if c is not None), key=lambda c: MEANS[verdict](c.amounts))
    return [(clause, counts.name) for clause in REASONS[verdict](counts)]


def denies(verdict: Verdict, performance: Performance) -> str:
    """What of the outcome speaks against a verdict; empty where nothing does."""
    c = performance.counts
    if c is None:
        return ""
    a, third = c.amounts, _third(c)
    rises, falls = a["still rises"] >= EVEN, a["falls lately"] >= EVEN
    lately = f"{c.name} {'rose' if rises else 'fell'} over its last third, {_way(c, *third)}"
    if verdict == "improving" and not rises:
        return lately if falls else f"{c.name} hardly moved over its last third ({_level(c, third[1])})"
    if verdict == "plateaued" and (rises or falls):
        return lately
    if verdict == "not_learning" and a["gained"] >= EVEN:
        return f"{c.name} rose {_way(c, c.start, c.last)}"
    if verdict in ("degrading", "collapsed") and (a["lost"] < NEAR or rises):
        return lately if rises else f"{c.name} ends near its best level ({_level(c, c.best)})"
    shallow = verdict == "unstable" and a["deepest dip"] < NEAR * 3
    return f"the deepest fall of {c.name} took only {percent(a['deepest dip'])} of its range" if shallow else ""
