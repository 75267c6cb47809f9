"""The built-in advisor: judges from the findings alone, with no model and no key."""

from rl_advisor.curves.task import task
from rl_advisor.finding import Assessment, BrokenLink, EvidenceView, OnsetView, RivalView, TaskView, view
from rl_advisor.judgement.at_odds import at_odds
from rl_advisor.judgement.case import Case, open_case
from rl_advisor.judgement.causes import proven_of
from rl_advisor.judgement.checkpoint import best_checkpoint
from rl_advisor.judgement.continuation import call, continuation, risk
from rl_advisor.judgement.experiment import next_experiment
from rl_advisor.judgement.narrative import could_not_see, ruled_out
from rl_advisor.judgement.one_thread import OneThread
from rl_advisor.judgement.proven import STANDS
from rl_advisor.judgement.verdict import Judged, judge
from rl_advisor.run import Run
from rl_advisor.settings.priors.circumstances import circumstances


@OneThread()
def assess(run: Run, price: float | None = None) -> Assessment:
    """The assessment of a run as it stands; cut the run first to judge an earlier step.

    ``price`` is what the whole budget of compute costs, as a share of the outcome's scale; with it the call weighs the expected gain.
    """
    return of_case(open_case(run), price)


def of_case(case: Case, price: float | None = None) -> Assessment:
    """The assessment of a case that is open."""
    run, judged = case.run, judge(case)
    ahead = continuation(case, judged)
    said, reason = call(case, judged, ahead, price)
    best = best_checkpoint(case, reward_trusted=judged.verdict != "reward_hacking")
    began = judged.cause.onset if judged.cause is not None else None
    return Assessment(
        run=run.name,
        step=round(case.step),
        planned_steps=run.planned_steps,
        verdict=judged.verdict,
        call=said,
        call_reason=reason,
        p_continue_pays=round(ahead.p, 3),
        confidence=judged.confidence,
        probabilities={v: round(p, 3) for v, p in judged.probabilities.items()},
        verdict_set=list(judged.verdict_set),
        why=judged.why,
        task=trained(run),
        evidence=shown(judged)[:MOST],
        rivals=rivals(judged),
        at_odds=at_odds(case, judged),
        risk=risk(case),
        best_checkpoint=best,
        first_broken_link=broken_link(case, judged),
        onset=OnsetView(step=began.step, low=began.low, high=began.high) if began else None,
        findings=[view(f) for f in case.findings.values()],
        ruled_out=ruled_out(case),
        could_not_see=could_not_see(case),
        next_experiment=next_experiment(case, judged, said, best),
    )


MOST, RIVALS = 12, 3
"""Pieces of evidence that are shown, the weightiest, and other verdicts."""
LEAST = 0.03
"""Probability from which another verdict is a rival."""


def shown(judged: Judged) -> list[EvidenceView]:
    """The evidence in its outward form, each piece once: what it says against the verdict, or else what it speaks for most."""
    told = {}
    for piece in judged.evidence:
        against = piece.told(judged.verdict, against=True) if piece.speaks[judged.verdict] < 0 else ""
        for_ = judged.verdict if against in judged.at_odds else piece.strongest
        says = against if against in judged.at_odds else piece.told(for_)
        if says and says not in told:
            told[says] = EvidenceView(says=says, for_=for_, weight=round(piece.speaks[for_], 2), metric=piece.metric, steps=piece.steps)
    return list(told.values())


def rivals(judged: Judged) -> list[RivalView]:
    """The nearest other verdicts, each with what speaks against it that is not told of a nearer one."""
    others = sorted(
        (v for v, p in judged.probabilities.items() if v != judged.verdict and p >= LEAST), key=lambda v: -judged.probabilities[v]
    )
    told: list[RivalView] = []
    for v in others[:RIVALS]:
        apart = sorted(judged.evidence, key=lambda p: p.speaks[v] - p.speaks[judged.verdict])
        said = [p.told(v, against=True) for p in apart if p.speaks[v] < min(0.0, p.speaks[judged.verdict])]
        against = next((text for text in said if text and text not in {r.against for r in told}), "")
        told.append(RivalView(verdict=v, p=round(judged.probabilities[v], 3), against=against))
    return told


def broken_link(case: Case, judged: Judged) -> BrokenLink:
    """The link of the first break, by the findings or by what is proven; none when nothing is broken."""
    if judged.cause is not None:
        return judged.cause.link.value
    ended = judged.verdict in STANDS  # an error that ended a run is not what kept it from learning
    told = next((f.link for f in proven_of(case, judged.verdict) if f.seen_in != "crash" or not ended), judged.link)
    return told.value if told is not None else "none"


def trained(run: Run) -> TaskView:
    """What a run trains, as it is signed."""
    kind, known = task(run), circumstances(run)
    return TaskView(
        kind=kind.kind, method=known.method or "", action=known.action or "", trained=known.weights or "", evidence=list(kind.evidence[:3])
    )
