"""Does going on pay? The probability that training on to the planned end brings a better checkpoint, the call, its reason, and the risk."""

from dataclasses import dataclass

import numpy as np

from rl_advisor.curves import goal
from rl_advisor.detectors import marked
from rl_advisor.finding import Call, CallReason, number
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.going_on import UNKNOWN_END, facts, foreseen, plan_left, probability, usual
from rl_advisor.judgement.verdict import Judged

USUAL_GAIN = 1 / 3
"""What a gain that pays usually brings, as a share of the outcome's range; over the labelled prefixes that paid it is 0.32."""
BROKEN = frozenset({"reward_hacking", "collapsed", "degrading"})
"""Verdicts after which going on with the same settings is no plan."""
DIED = 0.03
"""The odds of a run that ended in an error before anything was measured: going on needs another start."""
BOUND = 0.05
"""The most that is granted where nothing can be gained: at the ceiling, without a gradient, with the plan done."""
LEAST = 0.3
"""Probability from which a run goes on when no price is told; where the balanced accuracy of labelled prefixes, kin left out, is flat,
on the side that stops fewer runs that would have gained."""
EVEN = 0.5
"""The same of a run that is not learning or unstable: each step has a price. Where the policy drifts without gain the odds are lower by as
much: what may be gained is bought with distance."""


@dataclass(frozen=True)
class Continuation:
    """The upside of going on, and what it rests on."""

    p: float
    gain: float
    """What a gain that pays would bring, as a share of the outcome's range."""
    bound: CallReason | None = None
    """Why nothing can be gained, where that is so."""


def continuation(case: Case, judged: Judged) -> Continuation:
    """The probability that going on pays, what it would bring, and what bounds it."""
    found, told = foreseen(case), facts(case, judged.probabilities)
    gain = found.gain if found is not None else USUAL_GAIN
    if told is None:
        died = judged.verdict in BROKEN or any(e.kind in ("error", "out_of_memory") for e in case.run.events)
        return Continuation(DIED if died else usual(plan_left(case)), gain, "dead" if died else "not_measured")
    bound = bounded(case, judged)
    return Continuation(float(np.clip(coherent(case, judged, probability(told), bound), 0.01, 0.97)), gain, bound)


def coherent(case: Case, judged: Judged, p: float, bound: CallReason | None) -> float:
    """The probability as far as the verdict and what bounds it leave it: one answer does not deny itself.

    Of 22 strangers' runs that improve with a forecast below .35, going on was worth it in 15.
    """
    unknown = judged.probabilities.get("undecidable", 0.0)
    p = (1 - unknown) * p + unknown * usual(plan_left(case))
    if bound:
        return min(p, BOUND)
    p = max(p, LEAST) if judged.verdict == "improving" else p
    return p * LEAST / EVEN if case.present(*marked("even odds")) else p


def bounded(case: Case, judged: Judged) -> CallReason | None:
    """Why nothing can be gained by going on as it is; None where something can."""
    if judged.verdict in BROKEN:
        return None
    if case.solved:
        return "solved"
    if judged.verdict == "not_learning" and case.present(*marked("dead")):
        return "dead"
    if case.run.planned_steps and case.remaining <= 0:
        return "finished"
    return None


def call(case: Case, judged: Judged, continuation: Continuation, price: float | None = None) -> tuple[Call, CallReason]:
    """Continue when a gain is likely enough, or, told the price of compute, when the expected gain is worth what is left of the plan.

    A goal that is reached is enough, whatever more could be had. ``price`` is what the whole budget costs, as a share of the
    outcome's scale. Without one a broken run is stopped; with one its small odds are weighed like any others, since where compute costs
    next to nothing a recovery is worth waiting for.
    """
    if judged.verdict not in BROKEN and goal.reached(case.run):
        return "stop", "solved"
    hopes = continuation.p >= LEAST and continuation.bound is None
    if continuation.bound == "not_measured" or (judged.verdict == "undecidable" and not hopes and not continuation.bound and price is None):
        return "undecided", "not_measured"
    if price is not None:
        left = case.remaining if case.run.planned_steps else UNKNOWN_END / (1 + UNKNOWN_END)
        return ("continue" if left > 0 and continuation.p * continuation.gain > price * left else "stop"), "price"
    if judged.verdict in BROKEN:
        return "stop", "broken"
    if continuation.bound is not None:
        return "stop", continuation.bound
    least = EVEN if judged.verdict in ("not_learning", "unstable") else LEAST
    return ("continue", "pays") if continuation.p >= least else ("stop", "no_gain")


DRIFTS = ("kl/ref", "entropy/mean", "response/length", "value/loss")
"""What drifts while a run goes on."""


def risk(case: Case) -> str:
    """What has drifted since the best step, and what a checkpoint would not give back."""
    counts = case.performance.counts
    if counts is None:
        return ""
    moved, best = [], counts.best_step
    for name in (n for n in DRIFTS if n in case.run.curves):
        step, value = case.run.curves[name].finite()
        after = step >= best
        if step.size >= 5 and after.sum() >= 2:
            then, now = float(np.median(value[after][:3])), float(np.median(value[-3:]))
            if abs(now - then) > max(0.5 * abs(then), 2 * float(np.median(np.abs(np.diff(value)))), 1e-9):
                moved.append(f"{name} {number(then)} -> {number(now)}")
    fell = counts.amounts["lost"] > 0.3
    told = f"Since the best step ({best:.0f}): " + ", ".join(moved) + "." if moved else ""
    if fell and not case.run.checkpoints:
        told += " No checkpoint is on disk, so what was lost cannot be had back."
    return told.strip()
