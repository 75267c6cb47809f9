"""Does going on pay? The probability that training on to the planned end brings a better checkpoint, and the call."""

from dataclasses import dataclass

import numpy as np

from rl_advisor import course, trajectory
from rl_advisor.assessment import Call
from rl_advisor.features import TooFewPoints
from rl_advisor.features.gain import expected_gain
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.verdict import Judged
from rl_advisor.trajectory import Shape

BROKEN = frozenset({"reward_hacking", "collapsed", "degrading"})
"""Verdicts after which a forecast of the same curve means little."""
KEPT = 0.15
"""Share of the forecast's probability that is kept for a broken run. A prior, not fitted to any corpus."""


@dataclass(frozen=True)
class Prospect:
    """The upside of going on, and what it rests on."""

    p: float
    expected: float
    """Expected gain of the best smoothed outcome up to the planned end."""
    ceiling: float
    """Room above the last level; NaN where the outcome has no ceiling."""
    live: float
    """Share of groups that still have spread; NaN where it is not logged."""
    noise_only: bool


def prospect(case: Case, judged: Judged) -> Prospect:
    """The probability that going on pays, from the forecast of the outcome, the room above it and the signal that is left."""
    s = case.outcome
    live = live_share(case)
    if s is None and any(e.kind in ("error", "out_of_memory") for e in case.run.events):
        return Prospect(0.03, 0.0, float("nan"), live, noise_only=True)  # it died before anything could be measured
    if s is None:
        return Prospect(0.35, 0.0, float("nan"), live, noise_only=True)
    p, expected = forecast(case, s)
    room = (s.ceiling - s.last) if s.ceiling is not None else float("nan")
    if judged.verdict in BROKEN:
        p *= KEPT
    elif judged.verdict == "undecidable":
        p = 0.5 * p + 0.2  # towards not knowing
    if case.run.planned_steps and case.remaining <= 0:
        p = min(p, 0.05)  # the plan is done: nothing is left of it that could pay
    return Prospect(float(np.clip(p, 0.01, 0.97)), expected, room, live, noise_only=False)


def forecast(case: Case, s: Shape) -> tuple[float, float]:
    """Probability and size of a gain by the planned end; a plan that is unknown is taken as a third more of what was done."""
    end = float(case.run.planned_steps or 0)
    if end <= s.step[-1]:
        end = float(s.step[-1] + (s.step[-1] - s.step[0]) / 3)
    found = []
    for curve in (s, case.train if s is case.held else None):
        if curve is None:
            continue
        try:
            found.append(expected_gain(curve.step, curve.value, end))
        except TooFewPoints:
            continue
    if not found:
        return 0.4, 0.0
    # The reward has many more points than the score, but another meaning: it is heard at half weight.
    weights = np.array([1.0, 0.5][: len(found)])
    return float(np.average([g.pays for g in found], weights=weights)), found[0].expected


def live_share(case: Case) -> float:
    """Share of groups that still have spread over the last fifth; NaN where it is not logged."""
    groups = case.run.curves.get("reward/flat_groups")
    if groups is None or not groups.finite()[1].size:
        return float("nan")
    return float(1 - np.median(course.final(groups)))


def call(case: Case, judged: Judged, ahead: Prospect, price: float | None = None, least: float = 0.25) -> Call:
    """Continue when a gain is likely enough, or, told the price of compute, when the expected gain is worth it.

    ``price`` is what the whole budget costs, as a share of the outcome's scale; a broken run is stopped either way.
    """
    s = case.outcome
    if judged.verdict in BROKEN:
        return "stop"
    if price is not None and s is not None:
        scale = s.margin / trajectory.MATERIAL
        return "continue" if ahead.expected / scale > price * (case.remaining or 0.25) else "stop"
    return "continue" if ahead.p >= least else "stop"
