"""Does going on pay? The probability that training on to the planned end brings a better checkpoint, and the call."""

from dataclasses import dataclass

import numpy as np

from rl_advisor.assessment import Call
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.odds import UNKNOWN_END, Outlook, outlook, probability
from rl_advisor.judgement.verdict import Judged

BROKEN = frozenset({"reward_hacking", "collapsed", "degrading"})
"""Verdicts after which a forecast of the same curve means little."""
KEPT = 0.15
"""Share of the model's odds that is kept for a broken run. A prior, not fitted to any corpus."""
UNSEEN = 0.35
"""The odds of a run of which nothing could be measured: about how often going on pays at half time."""
DIED = 0.03
"""The odds of a run that ended in an error before anything was measured: going on needs another start."""
GAIN = 0.2
"""What a gain that pays brings, as a share of the outcome's scale; chosen among 0.05 to 0.3 on the GRPO development runs."""
DONE = 0.05
"""The most that is granted when the plan is done: nothing is left of it that could pay."""


@dataclass(frozen=True)
class Prospect:
    """The upside of going on, and what it rests on."""

    p: float
    ahead: Outlook | None
    """The forecast; None when there was nothing to forecast."""


def prospect(case: Case, judged: Judged) -> Prospect:
    """The probability that going on pays."""
    ahead = outlook(case)
    if ahead is None:
        died = any(e.kind in ("error", "out_of_memory") for e in case.run.events)
        return Prospect(DIED if died else UNSEEN, None)
    p = probability(ahead)
    if judged.verdict in BROKEN:
        p *= KEPT
    elif judged.verdict == "undecidable":
        p = (p + UNSEEN) / 2
    if case.run.planned_steps and case.remaining <= 0:
        p = min(p, DONE)
    return Prospect(float(np.clip(p, 0.01, 0.97)), ahead)


def call(case: Case, judged: Judged, prospect: Prospect, price: float | None = None, least: float = 0.25) -> Call:
    """Continue when a gain is likely enough, or, told the price of compute, when the expected gain is worth what is left of the plan.

    ``price`` is what the whole budget costs, as a share of the outcome's scale. Without one a broken run is stopped; with one its small
    odds are weighed like any others, since where compute costs next to nothing a recovery is worth waiting for.
    """
    if price is not None:
        left = case.remaining if case.run.planned_steps else UNKNOWN_END / (1 + UNKNOWN_END)
        return "continue" if left > 0 and prospect.p * GAIN > price * left else "stop"
    if judged.verdict in BROKEN:
        return "stop"
    return "continue" if prospect.p >= least else "stop"
