"""What an outcome curve did, in one sentence a topic; numbers are logged values, and one that is a level says "about"."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from rl_advisor.curves.course import Course
from rl_advisor.curves.logged import Logged, logged
from rl_advisor.curves.performance import Performance
from rl_advisor.output.wording import about, counted, percent, roughly, value
from rl_advisor.run import Run

SURE = 0.75
"""Probability from which the last third is said to have risen or fallen."""
SLIGHT = 0.05
"""Share of the range of a course that a change of its last third must have to be called a rise or a fall."""
CALM, STEADY, FEW = 1.5, 0.6, 10
"""Times its range up to which a curve hardly swings, rank correlation from which it goes one way, and points of which there are few."""


@dataclass(frozen=True)
class Told:
    """A course with what was logged."""

    course: Course
    logged: Logged

    @property
    def name(self) -> str:
        """Our name of the curve."""
        return self.course.name

    @property
    def amounts(self) -> Mapping[str, float]:
        """The amounts of the course."""
        return self.course.amounts


def told(course: Course, run: Run) -> Told:
    """A course beside the curve as the run logged it."""
    return Told(course, logged(run, course.curve))


def rise(c: Told) -> str:
    """Whether it rose."""
    if c.amounts["climb"] > 0.3 and c.amounts["above start"] > 0.9:
        return f"{c.name} rose from {c.logged.said(c.logged.first)} to {c.logged.said(c.logged.best)} at its best"
    return f"{c.name} began at {c.logged.said(c.logged.first)} and ends at {c.logged.said(c.logged.last)}"


def end(c: Told) -> str:
    """How it ends against its best."""
    best = f"{c.logged.said(c.logged.best)} at step {c.logged.best_step:.0f}"
    middle = c.course.middle
    lost = (float(middle.max()) - float(middle[-max(1, middle.size // 10) :].mean())) / max(float(np.ptp(c.course.level.value)), 1e-12)
    if lost < 0.1:
        return f"{c.name} ends near its best level (best {best})"
    return f"{c.name} ends about {percent(lost)} of its range below its best ({best})"


def lately(c: Told) -> str:
    """What it does over its last third."""
    level = c.course.level
    late = c.course.middle[level.step >= level.step[0] + (level.step[-1] - level.step[0]) * 2 / 3]
    change, since = float(late[-1] - late[0]), about(float(late[0]), float(late[-1]), c.logged.unit)
    if abs(change) <= SLIGHT * float(np.ptp(c.course.middle)):
        return f"{c.name} hardly moved over its last third ({roughly(float(late[-1]), c.logged.unit)})"
    if max(c.amounts["still rises"], c.amounts["falls lately"]) < SURE:
        return f"{c.name} went no one way over its last third, {since}"
    return f"{c.name} {'rose' if change > 0 else 'fell'} over its last third, {since}"


def way(c: Told) -> str:
    """Whether it goes one way."""
    order = c.amounts["order"]
    went = "rose steadily" if order > STEADY else "fell steadily" if order < -STEADY else "went no one way"
    return f"{c.name} {went} over the run"


def swings(c: Told) -> str:
    """How far it went up and down."""
    dip, wander = percent(c.amounts["deepest dip"]), c.amounts["wander"]
    if wander < CALM:
        return f"{c.name} swings little (its deepest dip took {dip} of its range)"
    return f"{c.name} swings: in all {wander:.0f} times its range, its deepest dip took {dip} of it"


def height(c: Told) -> str:
    """Between which values it moves."""
    return f"{c.name} moved between {c.logged.said(c.logged.lowest)} and {c.logged.said(c.logged.best)}"


def points(c: Told) -> str:
    """How many points, how noisy."""
    if c.course.n < FEW:
        return f"{c.name} has only {counted(c.course.n, 'point')}"
    return f"{c.name} has {c.course.n} points, each uncertain by about {value(c.course.level.noise, c.logged.unit)}"


SENTENCES: Mapping[str, Callable[[Told], str]] = {
    "rise": rise,
    "end": end,
    "lately": lately,
    "way": way,
    "swings": swings,
    "level": height,
    "points": points,
}


def says(topic: str, performance: Performance, run: Run) -> str:
    """The sentence of a topic about the curve that counts, or about both where they part."""
    held, train, counts = performance.held, performance.train, performance.counts
    if topic == "parted" and held is not None and train is not None:
        return " while ".join(f"{c.course.name} went {c.logged.went}" for c in (told(held, run), told(train, run)))
    return SENTENCES[topic](told(counts, run)) if counts is not None else "no outcome is logged"
