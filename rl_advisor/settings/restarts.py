"""Where a run was resumed: whether a metric steps or the outcome begins to fall there, and what steps beside what."""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.curves.lone_steps import USUAL, moves
from rl_advisor.features import TooFewPoints
from rl_advisor.output.wording import counted, listed
from rl_advisor.run import Curve, Run
from rl_advisor.settings.statistics import logged_curve
from rl_advisor.vocabulary import metric

NEAR, CHANCE = 0.08, 0.25
"""Share of a run's steps by which a fall is seen late, and up to which what meets one of its restarts there is no chance."""
MOSTLY, MOST_BESIDE = 0.6, 4
"""Share of its range by which a curve steps to be named beside another, and how many are."""


def _restarts(run: Run) -> list[float]:
    return [e.step for e in run.events if e.kind == "resume" and e.step is not None]


def restarted(run: Run, name: str) -> tuple[float, float] | None:
    """By what share of its range a metric surely steps at a restart, and where that is; None where there is no restart."""
    curve, restarts = logged_curve(run, name), _restarts(run)
    if curve is None or not restarts:
        return None
    step = curve.step
    found = [(moves(curve, float(step[step < at].max(initial=-np.inf)), at, USUAL), at) for at in restarts]
    told = [(share, at) for share, at in found if share is not None]
    if not told:
        raise TooFewPoints(f"{counted(len(restarts), 'restart')}, with too few points around to compare both sides")
    return max(told, key=lambda one: abs(one[0]))


def resumed(run: Run) -> float | None:
    """The restart at which the outcome begins to fall; 0 where it begins elsewhere, or may well have met one of many by chance."""
    curve, restarts = outcomes.outcome(run), _restarts(run)
    if curve is None or not restarts:
        return None
    step, fall = curve.finite()[0], segments.decline_began(curve)
    row, span = float(np.median(np.diff(step))), float(step[-1] - step[0])
    low, high = fall.low - max(2 * row, min(fall.high - fall.low, NEAR * span)), fall.step + row
    met = [at for at in restarts if low <= at <= high]
    return met[-1] if met and (high - low) * len(restarts) < CHANCE * span else 0.0


def steps_beside(run: Run, asked: Curve, at: float) -> str:
    """What else steps for good where a curve does: the metrics by the user's names, and a restart."""
    before = float(asked.step[asked.step < at].max(initial=-np.inf))
    others = (curve for curve in run.curves.values() if curve is not asked and metric(curve.name) is not None)
    stepped = [c.raw for c in others if abs(moves(c, before, at, USUAL) or 0.0) > MOSTLY]
    again = any(abs(restart - at) <= 2 * (at - before) for restart in _restarts(run))
    return listed([*["a restart"] * again, *stepped], MOST_BESIDE) or "nothing else that is logged"
