"""What an outcome curve did, in one sentence a topic; numbers are logged values, an estimate says so."""

from collections.abc import Callable, Mapping

from rl_advisor.curves.course import Course
from rl_advisor.curves.performance import Performance
from rl_advisor.finding import number


def _percent(share: float) -> str:
    return f"{100 * share:.0f} percent"


def rise(c: Course) -> str:
    """Whether it rose."""
    if c.amounts["climb"] > 0.3 and c.amounts["above start"] > 0.9:
        return f"{c.name} rose from {number(c.start)} to {number(c.best)} at its best"
    return f"{c.name} began at {number(c.start)} and ends at {number(c.end)}"


def end(c: Course) -> str:
    """How it ends against its best."""
    if c.amounts["lost"] < 0.1:
        return f"{c.name} ends at its best ({number(c.end)})"
    below = f"{_percent(c.amounts['lost'])} of its range below its best ({number(c.best)} at step {c.best_step:.0f})"
    return f"{c.name} ends at {number(c.end)}, {below}"


def lately(c: Course) -> str:
    """What it does over its last third."""
    late = c.middle[c.level.step >= c.level.step[0] + (c.level.step[-1] - c.level.step[0]) * 2 / 3]
    moved = "rose" if c.amounts["still rises"] > 0.5 else "fell" if c.amounts["falls lately"] > 0.5 else "hardly moved"
    return f"over its last third {c.name} {moved} (level {number(float(late[0]))} to {number(float(late[-1]))})"


def way(c: Course) -> str:
    """Whether it goes one way."""
    order = c.amounts["order"]
    told = "rose steadily" if order > 0.6 else "fell steadily" if order < -0.6 else "went no single way"
    return f"over the whole run {c.name} {told} (rank correlation with the step {order:.2f})"


def swings(c: Course) -> str:
    """How far it went up and down."""
    dip = _percent(c.amounts["deepest dip"])
    return f"{c.name} went up and down {c.amounts['wander']:.1f} times its range; its deepest dip took {dip} of it"


def height(c: Course) -> str:
    """Between which levels it moves."""
    return f"{c.name} moves between {number(float(c.middle.min()))} and {number(float(c.middle.max()))}"


def points(c: Course) -> str:
    """How many points, how noisy."""
    return f"{c.name} has {c.n} points, each within about {number(c.level.noise)} of its course"


SENTENCES: Mapping[str, Callable[[Course], str]] = {
    "rise": rise,
    "end": end,
    "lately": lately,
    "way": way,
    "swings": swings,
    "level": height,
    "points": points,
}


def says(topic: str, performance: Performance) -> str:
    """The sentence of a topic about the curve that counts, or about both where they part."""
    held, train, counts = performance.held, performance.train, performance.counts
    if topic == "parted" and held is not None and train is not None:
        ways = (f"{c.name} went from {number(c.start)} to {number(c.end)}" for c in (held, train))
        return ", ".join(ways)
    return SENTENCES[topic](counts) if counts is not None else "no outcome is logged"
