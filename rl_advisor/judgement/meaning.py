"""What the verdict words mean: each is a probability over the courses that fit the outcome, and each says what it measured.

``docs/verdicts.md`` is this page in words, with a run worked through. Whoever wants "plateaued" to mean something else changes it here: the
probabilities bound the verdict (what a definition denies, no other evidence makes up for), and the same measures are its reasons, so that a
reason cannot deny its verdict.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from rl_advisor.assessment import Verdict
from rl_advisor.curves.amounts import matters
from rl_advisor.curves.course import Course
from rl_advisor.curves.performance import Performance
from rl_advisor.output.wording import about, pair, percent, roughly, value
from rl_advisor.vocabulary import metric

EVEN = 0.5
"""Probability from which a word is used."""
NEAR = 0.1
"""Share of its range within which a level is near the best."""


@dataclass(frozen=True)
class Did:
    """What an outcome did: levels of its course, and probabilities over the courses that fit it."""

    name: str
    unit: str
    n: int
    start: float
    end: float
    best: float
    best_step: float
    since: float
    """The step from which it was near its best for the first time."""
    low: float
    high: float
    """Between which levels it moved since then."""
    third: tuple[float, float]
    """Its level where the last third begins, and at the end."""
    noise: float
    rose: float
    """That its best level lies above its start by more than half of the scatter of a point, and by more than a twentieth of its range."""
    gained: float
    """The same of its end."""
    rises: float
    falls: float
    """That it rises, or falls, over its last third."""
    late: float
    """When it was at its best, as a share of the steps."""
    lost: float
    """What it lost since its best, as a share of its range."""
    dip: float
    """Its deepest fall anywhere, as a share of its range."""

    def about(self, first: float, last: float) -> str:
        """From which level to which."""
        return about(first, last, self.unit)

    def said(self, x: float) -> str:
        """A level."""
        return roughly(x, self.unit)


def did(course: Course) -> Did:
    """What a curve did."""
    level, middle = course.level, course.middle
    step, n = level.step, middle.size
    first, tenth = max(1, n // 20), max(1, n // 10)
    top = course.top
    around = slice(max(0, top - tenth // 2), top + tenth // 2 + 1)
    span = max(float(np.ptp(middle)), 1e-12)
    draws = level.draws
    start, best = draws[:, :first].mean(axis=1), draws[:, around].mean(axis=1)
    near = int(np.argmax(middle >= middle[top] - NEAR * span))
    third = int(np.searchsorted(step, step[0] + (step[-1] - step[0]) * 2 / 3))
    known, amounts = metric(course.name), course.amounts
    return Did(
        name=course.name,
        unit=known.unit if known else "",
        n=course.n,
        start=float(middle[:first].mean()),
        end=float(middle[-tenth:].mean()),
        best=course.best,
        best_step=course.best_step,
        since=float(step[near]),
        low=float(middle[near:].min()),
        high=float(middle[near:].max()),
        third=(float(middle[min(third, n - 1)]), float(middle[-1])),
        noise=level.noise,
        rose=float((best - start > matters(level)).mean()),
        gained=amounts["gained"],
        rises=amounts["still rises"],
        falls=amounts["falls lately"],
        late=amounts["best at"],
        lost=amounts["lost"],
        dip=amounts["deepest dip"],
    )


MEANS: Mapping[Verdict, Callable[[Did], float]] = {
    "improving": lambda d: min(d.rose, max(d.rises, d.late)),
    "plateaued": lambda d: 1 - max(0.9 * d.rises * d.late, d.lost),
    "not_learning": lambda d: 1 - d.gained * max(0.0, 1 - d.lost),
    "degrading": lambda d: min(1.0, d.lost / 0.2),
    "collapsed": lambda d: min(1.0, d.lost / 0.4),
    "unstable": lambda d: min(1.0, d.dip / 0.3),
}
"""How well what an outcome did fits each word; the others are not told by the outcome's course."""


def improving(d: Did) -> list[str]:
    """It rose, and rises now or was best at last."""
    told = [f"{d.name} rose {d.about(d.start, d.end)}"] if d.end > d.start else []
    if d.rises >= EVEN and d.third[1] > d.third[0]:
        return [*told, f"{d.name} still rises, {d.about(*d.third)} over its last third"]
    return [*told, f"{d.name} was best at step {d.best_step:.0f} ({d.said(d.best)})"]


def plateaued(d: Did) -> list[str]:
    """It came near its best early and has stayed about there."""
    low, high = pair(d.low, d.high, d.unit)
    where = f"between about {low} and {high}" if low != high else f"at {d.said(d.high)}"
    stays = f"{d.name} has stayed {where} since step {d.since:.0f}"
    return [f"{d.name} rose {d.about(d.start, d.best)}", stays] if d.rose >= EVEN and d.best > d.start else [stays]


def not_learning(d: Did) -> list[str]:
    """It never left its start by more than noise, or came back to it."""
    if d.rose >= EVEN and d.gained < EVEN:
        return [f"{d.name} ends where it started ({d.said(d.start)} at first, {d.said(d.end)} now); what it gained on the way did not last"]
    scatter = f"; single points scatter by about {value(d.noise, d.unit)}" if d.noise > 0 else ""
    return [f"{d.name} never clearly left its start ({d.said(d.start)} at first, {d.said(d.end)} now){scatter}"]


def fallen(d: Did) -> list[str]:
    """It lost a part, or most, of its best."""
    if d.best <= d.end:
        return []
    return [f"{d.name} was at {d.said(d.best)} at step {d.best_step:.0f} and ends at {d.said(d.end)}, {percent(d.lost)} of its range lower"]


def unstable(d: Did) -> list[str]:
    """It goes up and down without getting anywhere."""
    return [f"{d.name} goes up and down: its deepest fall took {percent(d.dip)} of its range, and it ends at {d.said(d.end)}"]


def undecidable(d: Did) -> list[str]:
    """It has too few points, or they scatter too far."""
    scatter = f", which scatter by about {value(d.noise, d.unit)}" if d.noise > 0 else ""
    return [f"{d.name} has only {d.n} points{scatter}" if d.n < 20 else f"{d.name} has {d.n} points{scatter}: too far to tell a course"]


REASONS: Mapping[Verdict, Callable[[Did], list[str]]] = {
    "improving": improving,
    "plateaued": plateaued,
    "not_learning": not_learning,
    "degrading": fallen,
    "collapsed": fallen,
    "unstable": unstable,
    "undecidable": undecidable,
}


def says(verdict: Verdict, performance: Performance) -> list[str]:
    """What of the outcome speaks for a verdict; of a gamed reward, what reward and score did."""
    held, train, counts = performance.held, performance.train, performance.counts
    if verdict == "reward_hacking" and held is not None and train is not None:
        score, reward = did(held), did(train)
        return [
            f"{reward.name} went {reward.about(reward.start, reward.end)} while {score.name} went {score.about(score.start, score.end)}"
        ]
    return REASONS[verdict](did(counts)) if counts is not None and verdict in REASONS else []


def denies(verdict: Verdict, performance: Performance) -> str:
    """What of the outcome speaks against a verdict; empty where nothing does."""
    if performance.counts is None:
        return ""
    d = did(performance.counts)
    lately = f"{d.name} {'rose' if d.rises >= EVEN else 'fell'} over its last third, {d.about(*d.third)}"
    if verdict == "improving" and d.rises < EVEN:
        return lately if d.falls >= EVEN else f"{d.name} hardly moved over its last third ({d.said(d.third[1])})"
    if verdict == "plateaued" and max(d.rises, d.falls) >= EVEN:
        return lately
    if verdict == "not_learning" and d.gained >= EVEN:
        return f"{d.name} rose {d.about(d.start, d.end)}"
    if verdict in ("degrading", "collapsed") and (d.lost < NEAR or d.rises >= EVEN):
        return lately if d.rises >= EVEN else f"{d.name} ends near its best level ({d.said(d.best)})"
    return f"the deepest fall of {d.name} took only {percent(d.dip)} of its range" if verdict == "unstable" and d.dip < NEAR * 3 else ""
