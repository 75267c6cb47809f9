"""What an outcome curve did, in one sentence a topic; numbers are logged values, and a smoothed one says so."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rl_advisor.curves.course import Course
from rl_advisor.curves.logged import Logged, logged
from rl_advisor.curves.performance import Performance
from rl_advisor.output.wording import pair, percent, value
from rl_advisor.run import Run

SURE = 0.9
"""Probability from which a movement is said to be one."""
MOVED = {"still rises": "rose", "falls lately": "fell", "flat lately": "hardly moved"}
"""Amounts of the last third, and what is said where they are sure."""


@dataclass(frozen=True)
class Told:
    """A course with what was logged."""

    course: Course
    logged: Logged

    def pair(self, a: float, b: float) -> tuple[str, str]:
        """Two of its values as they are said."""
        return pair(a, b, self.logged.unit)

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
        first, best = c.pair(c.logged.first, c.logged.best)
        return f"{c.name} rose from {first} to {best} at its best"
    first, last = c.pair(c.logged.first, c.logged.last)
    return f"{c.name} began at {first} and ends at {last}"


def end(c: Told) -> str:
    """How it ends against its best."""
    best, last = c.pair(c.logged.best, c.logged.last)
    if c.amounts["lost"] < 0.1:
        return f"{c.name} ends at its best level (last {last}, best {best})"
    lost = percent(c.amounts["lost"])
    return f"{c.name} ends at {last}; its best was {best} at step {c.logged.best_step:.0f}, so it lost {lost} of its range"


def lately(c: Told) -> str:
    """What it does over its last third."""
    level = c.course.level
    late = c.course.middle[level.step >= level.step[0] + (level.step[-1] - level.step[0]) * 2 / 3]
    moved = next((word for name, word in MOVED.items() if c.amounts[name] > SURE), "went no clear way")
    since, now = c.pair(float(late[0]), float(late[-1]))
    return f"over its last third {c.name} {moved} (smoothed: {since} to {now})"


def way(c: Told) -> str:
    """Whether it goes one way."""
    order = c.amounts["order"]
    said = "rose steadily" if order > 0.6 else "fell steadily" if order < -0.6 else "went no single way"
    return f"over the whole run {c.name} {said} (rank correlation with the step {order:.2f})"


def swings(c: Told) -> str:
    """How far it went up and down."""
    dip = percent(c.amounts["deepest dip"])
    return f"{c.name} went up and down {c.amounts['wander']:.1f} times its range; its deepest dip took {dip} of it"


def height(c: Told) -> str:
    """Between which values it moves."""
    low, high = c.pair(c.logged.lowest, c.logged.best)
    return f"{c.name} moves between {low} and {high}"


def points(c: Told) -> str:
    """How many points, how noisy."""
    return f"{c.name} has {c.course.n} points; one point is within about {value(c.course.level.noise, c.logged.unit)} of the smoothed curve"


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
        return " while ".join(_ends(told(c, run)) for c in (held, train))
    return SENTENCES[topic](told(counts, run)) if counts is not None else "no outcome is logged"


def _ends(c: Told) -> str:
    first, last = c.pair(c.logged.first, c.logged.last)
    return f"{c.name} went from {first} to {last}"
