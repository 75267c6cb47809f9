"""What is written into a case: belief and experiment when it is opened, and what a later run says of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rl_advisor.answers.comparable import NO_VARIANT
from rl_advisor.answers.compare import differing
from rl_advisor.assessment import BROKEN
from rl_advisor.judgement.case import Case, open_case
from rl_advisor.judgement.one_thread import OneThread
from rl_advisor.judgement.verdict import Judged, judge
from rl_advisor.run import Run
from rl_advisor.tools.cases import settling
from rl_advisor.tools.cases.shelf import LONGEST, Belief, CaseFile, Outcome, Prediction, Settled
from rl_advisor.tools.runs import read

LINK_RIGHT = 0.81
"""How often the link named of a broken run is one that a reader names, on 511 strangers' runs: ``python -m evals.judged``."""
EVEN = 0.5
"""What is believed of an experiment for which no finding speaks."""


NEXT: Mapping[Outcome, str] = {
    "confirmed": "Keep the change.",
    "open": "Repeat it with another seed before you believe either.",
    "refuted": "Take the change back: it was not this.",
}


@OneThread()
def drafted(place: str | Path, question: str = "") -> CaseFile:
    """A case on a run: what is believed of it, with which odds, and the one experiment. It has no name before it is kept."""
    from rl_advisor.advisors.builtin import of_case

    run = read(place)
    case = open_case(run)
    judged, signed = judge(case), of_case(case)
    experiment = signed.next_experiment
    belief = _belief(judged, signed.p_continue_pays)
    return CaseFile(
        question=question[:LONGEST],
        run=str(place),
        called=run.name,
        step=case.step,
        verdict=judged.verdict,
        belief=belief,
        prediction=Prediction(
            do=experiment.do,
            if_right=experiment.expect_if_right,
            if_wrong=experiment.expect_if_wrong,
            by_step=run.planned_steps if belief.about == "going on" and (run.planned_steps or 0) > case.step else None,
        ),
    )


def _belief(judged: Judged, pays: float) -> Belief:
    """The cause, or the link that likely broke where no finding names a cause; of a sound run whether going on pays."""
    if judged.cause is not None:
        said = f"{judged.cause.pattern.replace('_', ' ')} broke first: {judged.cause.statement}"
        return Belief(about="cause", says=said, p=LINK_RIGHT, pattern=judged.cause.pattern, link=judged.cause.link.value)
    if judged.verdict in BROKEN:
        link = judged.link.value if judged.link else "none"
        said = "what the experiment changes broke the run" + (f": likely the {link.replace('_', ' ')}" if judged.link else "")
        return Belief(about="cause", says=said, p=EVEN, link=link)
    return Belief(about="going on", says="Training on yields a checkpoint that is better than the best so far by more than noise.", p=pays)


@OneThread()
def settled(case: CaseFile, first: str | Path, runs: Sequence[str | Path], changed: str = "") -> CaseFile:
    """The case with what a later run says of it; of several the one whose settings differ as proposed, else the last.

    ``first`` is the run of the case, read as it looked at the step at which it was opened; ``changed`` says what was changed where no
    setting shows it.
    """
    before = read(first, case.step)
    place, second = _meant(case, before, [(str(run), read(run)) for run in runs])
    old, new = open_case(before), open_case(second)
    if case.belief.about == "going on":
        found = _went_on(case, place, old, new)
    else:
        found = _tested(case, place, (old, judge(old)), (new, judge(new)), changed)
    told = case.model_copy(update={"settled": [*case.settled, found]})
    return told.noted(f"changed: {changed}") if changed else told


def _meant(case: CaseFile, first: Run, later: Sequence[tuple[str, Run]]) -> tuple[str, Run]:
    """The later run that did what was proposed; the last one named where none or several did."""
    did = [(place, run) for place, run in later if settling.changed(case.belief.pattern, _differing(first, run))[0]]
    return did[0] if len(did) == 1 else later[-1]


def _differing(first: Run, second: Run) -> dict[str, list[Any]]:
    return {key: pair for key, pair in differing([first, second]).items() if not NO_VARIANT.search(key) and key != "planned_steps"}


def _tested(case: CaseFile, place: str, first: tuple[Case, Judged], second: tuple[Case, Judged], changed: str) -> Settled:
    """Confirmed where the run is likely mended and nothing else was changed, refuted where it likely is not."""
    (old, _), (new, _) = first, second
    did, others = settling.changed(case.belief.pattern, _differing(old.run, new.run))
    logged = bool(old.run.config) and bool(new.run.config)
    if logged and not did and not changed and (case.belief.pattern or not others):
        because = [
            f"what the settings show as changed is not what was proposed: {'; '.join(others[:4]) or 'nothing'}",
            "say it with --changed",
        ]
        return Settled(run=place, outcome="not tested", p=case.p, because=because, next=case.prediction.do)
    found = settling.compared(first, second, case.belief.pattern)
    because = [*([f"changed: {'; '.join([changed, *did] if changed else did)}"] if changed or did else []), *found.because]
    repaired = found.repaired
    if len(others) + bool(did or changed) > 1:
        because.append(f"changed as well: {'; '.join(others[:4])}: which of them did it cannot be told")
        repaired = min(repaired, 0.5 + (repaired - 0.5) / 2)
    odds = case.p / max(1e-3, 1 - case.p) * repaired / (1 - repaired)
    return Settled(
        run=place, outcome=_outcome(repaired), p=odds / (1 + odds), because=because, next=f"{NEXT[_outcome(repaired)]} {_next_of(new)}"
    )


def _outcome(repaired: float) -> Outcome:
    return "confirmed" if repaired >= settling.SETTLED else "refuted" if repaired <= 1 - settling.SETTLED else "open"


def _went_on(case: CaseFile, place: str, old: Case, new: Case) -> Settled:
    """Whether training on paid, as the odds said."""
    paid, because = settling.went_on(old, new)
    outcome: Outcome = "not tested" if paid is None else "confirmed" if paid else "refuted"
    p = case.p if paid is None else float(paid)
    return Settled(run=place, outcome=outcome, p=p, because=[because], next=_next_of(new) if paid is not None else case.prediction.do)


def _next_of(new: Case) -> str:
    from rl_advisor.advisors.builtin import of_case

    return of_case(new).next_experiment.do
