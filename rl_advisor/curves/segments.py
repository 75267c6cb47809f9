"""Stretches of a curve: how it began, how it ended, when its main change or its fall began, and what left its beginning.

What detectors ask of any curve, while ``outcomes`` measures the outcome.
"""

import re
from collections.abc import Callable, Mapping

import numpy as np

from rl_advisor.curves.outcomes import FEWEST, Course, course_of
from rl_advisor.features import TooFewPoints, change
from rl_advisor.features.change import spikes
from rl_advisor.features.trend import direction, trend
from rl_advisor.finding import Onset
from rl_advisor.run import Curve, Floats, Run

NEAR = 0.15
"""Share of the range of a KL within which it is at rest."""
_OF_MANY = re.compile(r"(?<![a-z])(?:pass|best)[@_ -]?(?:at[_-]?|of[_-]?)?(\d{1,4})\b|\bbest@?(?:of)?[_-]?n\b", re.IGNORECASE)


def drawn(name: str) -> int:
    """How many answers a held-out score is the best of, by its name (pass@8, best_of_4); 1 for any other score."""
    found = _OF_MANY.search(name.rsplit("/", 1)[-1])
    return 1 if found is None else int(found.group(1) or 2)


def swings(smoothed: Floats, threshold: float) -> int:
    """Number of turns of a curve that are at least ``threshold`` deep on both sides (zigzag count)."""
    turns, going, extreme = 0, 0, float(smoothed[0])
    for x in smoothed[1:]:
        if going >= 0 and extreme - x >= threshold:
            turns, going, extreme = turns + (going != 0), -1, float(x)
        elif going <= 0 and x - extreme >= threshold:
            turns, going, extreme = turns + (going != 0), 1, float(x)
        elif going == 0 or (x - extreme) * going > 0:
            extreme = float(x) if going else extreme
    return turns


def logged(run: Run) -> Floats:
    """Every step at which anything was logged, in order."""
    return np.unique(np.concatenate([c.step for c in run.curves.values()])) if run.curves else np.zeros(1)


def around(step: Floats, at: float, rows: int = 1) -> Onset:
    """An onset at a step, as sure as the log's own rows: from so many rows before it to as many behind."""
    place = int(np.clip(np.searchsorted(step, at), 0, step.size - 1))
    return Onset(at, float(step[max(0, place - rows)]), max(at, float(step[min(step.size - 1, place + rows)])))


def began(curve: Curve, after: float = -np.inf, *, growing: bool = False) -> Onset | None:
    """When the curve's main change began, with its interval; None when it has none or too few points to tell.

    ``growing`` takes its size on a log scale, on which exponential growth is a straight line that begins where it begins.
    """
    step, value = curve.finite()
    if growing:
        size = np.abs(value)
        value = np.log(np.maximum(size, 0.1 * float(np.quantile(size[size > 0], 0.05)) if (size > 0).any() else 1.0))
    keep = step >= after
    try:
        found = change.onset(step[keep], value[keep])
    except TooFewPoints:
        return None
    return Onset(found.at, found.low, found.high) if found else None


def decline_began(curve: Curve) -> Onset:
    """When the curve began to fall from its best: after the last point still at the best level, by the first one half way down."""
    s = course_of(curve)
    after = s.step >= s.best_step
    step, value = s.step[after], s.value[after]
    half = (s.best + s.last) / 2
    down = int(np.argmax(value < half)) if (value < half).any() else step.size - 1
    still = np.flatnonzero(value[: down + 1] >= s.best - max(2 * s.noise, s.margin))
    low, high = float(step[still[-1]] if still.size else step[0]), float(step[down])
    found = began(curve, after=low - (high - low) - 5 * float(np.median(np.diff(s.step))))
    at = float(np.clip(found.step, low, high)) if found else (low + high) / 2
    return Onset(at, low, high)


def final(curve: Curve, share: float = 0.2) -> Floats:
    """The finite values of the last ``share`` of the curve, at least three."""
    _, value = curve.finite()
    return value[-max(3, int(value.size * share)) :]


def opening(curve: Curve, share: float = 0.05) -> Floats:
    """The finite values of the first ``share`` of the curve, at least three."""
    _, value = curve.finite()
    return value[: max(3, int(value.size * share))]


def late_spikes(curve: Curve) -> Floats:
    """The steps of single values far above their surroundings and above the level of the first steps, once those are over."""
    step, value = curve.finite()
    found = spikes(step, value)
    # Where most batches are silent, a spike is just a batch that says something.
    late: Floats = found.steps[(found.steps > step[min(10, step.size - 1)]) & (found.sizes > 3 * float(np.median(value[:5])))]
    return late


def explodes(curve: Curve) -> float:
    """How many times as large as all before them the last rows are, where they still are at the end; else 0."""
    size = np.abs(curve.numbers)
    last = max(3, min(20, size.size // 20 + 2))
    usual = float(size[:-last].max(initial=0.0))
    return float(size[-last:].max()) / usual if usual > 0 and size[-1] >= FEWEST * usual else 0.0


def at_rest(c: Course) -> bool:
    """Whether a curve's end is as good as flat: a KL within a part of its height, any other within one of its range or twice what matters.

    Where noise hides more, a KL within twice that part is, and of others a longer stretch may show it.
    """
    if c.name.startswith("kl/"):
        near = NEAR * float(np.abs(c.smoothed).max()) * (1 + (c.direction() == "undecidable"))
        return direction(c.recent, near) == "flat"
    least = max(c.margin, NEAR / 2 * float(np.ptp(c.smoothed)))
    way, change, n = c.direction(), c.recent.slope * c.recent.span, c.value.size
    if way in ("flat", "rising"):
        return way == "flat"
    starts = (n - max(FEWEST, round(share * n)) for share in (1 / 3, 1 / 2, 2 / 3, 1.0))
    rests = any(direction(trend(c.step[k:], c.value[k:]), 2 * least) == "flat" for k in starts)
    return abs(change) < least and rests


def _from_start(curve: Curve) -> Onset:
    step = curve.finite()[0]
    return around(step, float(step[0]))


SINCE: Mapping[str, Callable[[Curve], Onset | None]] = {
    "": lambda curve: began(curve) or _from_start(curve),
    "growing": lambda curve: began(curve, growing=True) or _from_start(curve),
    "start": _from_start,
    "fall": decline_began,
    "spike": lambda curve: around(curve.finite()[0], float(found[0]), 0) if (found := late_spikes(curve)).size else _from_start(curve),
    "jump": lambda curve: around(curve.finite()[0], change.discontinuity(*curve.finite()).at, 2),
}
"""When what a row looks for began: the curve's main change, its first step, its fall, a spike or a jump."""
