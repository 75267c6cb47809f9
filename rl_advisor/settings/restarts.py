"""Where a run was resumed: whether a metric steps or the outcome begins to fall there, and what steps beside what."""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.curves.lone_steps import USUAL, moves
from rl_advisor.features import TooFewPoints
from rl_advisor.output.wording import counted, listed
from rl_advisor.run import Curve, Run
from rl_advisor.settings.given import NAMES
from rl_advisor.settings.statistics import logged_curve
from rl_advisor.vocabulary import metric, words

BREAKS = {"resume": "the resume", "pause": "the gap of the clock", "jump": "the jump of the steps"}
"""Kinds of events that part a log, in words."""
SET = frozenset(key.rpartition(".")[2] for name, keys in NAMES.items() for key in keys if name != "learning_rate")
FEWEST, MOST_CHANGES = 10, 2
"""Points of a setting that is logged, and how often it may change: what changes more often follows a schedule."""
NEAR, CHANCE = 0.08, 0.25
"""Share of a run's steps by which a fall is seen late, and up to which what meets one of its restarts there is no chance."""
MOSTLY, MOST_BESIDE = 0.6, 4
"""Share of its range by which a curve steps to be named beside another, and how many are."""


def restarts(run: Run) -> list[float]:
    """Where the run was resumed or its clock jumps; where its steps do, rows are missing in which anything may have happened."""
    return [e.step for e in run.events if e.kind in BREAKS and e.kind != "jump" and e.step is not None]


def _breaks(run: Run) -> dict[float, str]:
    """The same, and where a setting that is logged changes, each with what it is."""
    found = {e.step: BREAKS[e.kind] for e in run.events if e.kind in BREAKS and e.step is not None}
    for curve in run.curves.values():
        if words(curve.raw.rpartition("/")[2]).replace(" ", "_") in SET and curve.numbers.size >= FEWEST:
            step, value = curve.finite()
            at = step[np.flatnonzero(np.diff(value)) + 1].tolist()
            found |= dict.fromkeys(at if len(at) <= MOST_CHANGES else (), f"the change of {curve.raw}")
    return found


def restarted(run: Run, name: str) -> tuple[float, float] | None:
    """By what share of its range a metric surely steps at a restart, and where that is; None where there is no restart."""
    curve, breaks = logged_curve(run, name), restarts(run)
    if curve is None or not breaks:
        return None
    step = curve.step
    found = [(moves(curve, float(step[step < at].max(initial=-np.inf)), at, USUAL), at) for at in breaks]
    told = [(share, at) for share, at in found if share is not None]
    if not told:
        raise TooFewPoints(f"{counted(len(breaks), 'restart')}, with too few points around to compare both sides")
    return max(told, key=lambda one: abs(one[0]))


def resumed(run: Run, _: str = "") -> tuple[float, str] | None:
    """The break at which the outcome begins to fall, and what it is; 0 where it begins elsewhere, or may well have met one by chance."""
    curve, breaks = outcomes.outcome(run), _breaks(run)
    if curve is None or not breaks:
        return None
    step, fall = curve.finite()[0], segments.decline_began(curve)
    row, span = float(np.median(np.diff(step))), float(step[-1] - step[0])
    low, high = fall.low - max(2 * row, min(fall.high - fall.low, NEAR * span)), fall.step + row
    met = max((at for at in breaks if low <= at <= high), default=0.0)
    return (met, breaks[met]) if met and (high - low) * len(breaks) < CHANCE * span else (0.0, "")


def steps_beside(run: Run, asked: Curve, at: float) -> str:
    """What else steps for good where a curve does: the metrics by the user's names, and a restart."""
    before = float(asked.step[asked.step < at].max(initial=-np.inf))
    others = (curve for curve in run.curves.values() if curve is not asked and metric(curve.name) is not None)
    stepped = [c.raw for c in others if abs(moves(c, before, at, USUAL) or 0.0) > MOSTLY]
    again = any(abs(restart - at) <= 2 * (at - before) for restart in restarts(run))
    return listed([*["a restart"] * again, *stepped], MOST_BESIDE) or "nothing else that is logged"
