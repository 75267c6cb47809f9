"""Does going on pay? The probability that training on to the planned end brings a better checkpoint, and the call."""

from dataclasses import dataclass

import numpy as np

from rl_advisor.assessment import Call, CallReason
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.odds import UNKNOWN_END, Outlook, Weights, outlook, plan_left, probability, upside
from rl_advisor.judgement.verdict import Judged

BROKEN = frozenset({"reward_hacking", "collapsed", "degrading"})
"""Verdicts after which a forecast of the same curve means little."""
KEPT = 0.15
"""Share of the model's odds that is kept for a broken run. A prior, not fitted to any corpus."""
DIED = 0.03
"""The odds of a run that ended in an error before anything was measured: going on needs another start."""
DONE = 0.05
"""The most that is granted when the plan is done: nothing is left of it that could pay."""
LEAST = 0.3
"""Odds from which a run goes on when no price is told; balanced accuracy on the development corpora hardly moves from 0.25 to 0.5."""


@dataclass(frozen=True)
class Prospect:
    """The upside of going on, and what it rests on."""

    p: float
    ahead: Outlook | None
    """The forecast; None when there was nothing to forecast."""
    gain: float
    """What a gain that pays would bring, as a share of the outcome's range."""


def prospect(case: Case, judged: Judged, weights: Weights | None = None) -> Prospect:
    """The probability that going on pays, and what it would bring."""
    ahead, left = outlook(case), plan_left(case)
    p, gain = probability(ahead, left, weights), upside(ahead, left, weights)
    if ahead is None and any(e.kind in ("error", "out_of_memory") for e in case.run.events):
        return Prospect(DIED, None, gain)
    if broke(judged):
        p *= KEPT
    if case.run.planned_steps and case.remaining <= 0:
        p = min(p, DONE)
    return Prospect(float(np.clip(p, 0.01, 0.97)), ahead, gain)


def broke(judged: Judged) -> bool:
    """Whether the run is broken for good, as far as is known: a decline that nothing explains is a dip that comes back as often as not."""
    return judged.verdict in BROKEN and (judged.verdict != "degrading" or judged.cause is not None)


def call(case: Case, judged: Judged, prospect: Prospect, price: float | None = None, least: float = LEAST) -> Call:
    """Continue when a gain is likely enough, or, told the price of compute, when the expected gain is worth what is left of the plan.

    ``price`` is what the whole budget costs, as a share of the outcome's scale. Without one a broken run is stopped; with one its small
    odds are weighed like any others, since where compute costs next to nothing a recovery is worth waiting for.
    """
    if price is not None:
        left = case.remaining if case.run.planned_steps else UNKNOWN_END / (1 + UNKNOWN_END)
        return "continue" if left > 0 and prospect.p * prospect.gain > price * left else "stop"
    if broke(judged):
        return "stop"
    return "continue" if prospect.p >= least else "stop"


def call_reason(case: Case, judged: Judged, prospect: Prospect) -> CallReason:
    """Why the call is what it is."""
    if broke(judged):
        return "broken"
    if case.run.planned_steps and case.remaining <= 0:
        return "finished"
    return "pays" if prospect.p >= LEAST else "no_gain"
