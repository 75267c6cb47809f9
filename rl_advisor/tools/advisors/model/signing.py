"""Turns what a model handed in into a signed Assessment: its judgement over our findings, its claims as far as the log bears them out."""

from collections.abc import Sequence
from string import digits
from typing import Annotated, Any

from pydantic import BaseModel, Field, model_validator

from rl_advisor.finding import (
    BROKEN,
    VERDICTS,
    Assessment,
    BestCheckpoint,
    BrokenLink,
    Call,
    Confidence,
    EvidenceView,
    Experiment,
    OnsetView,
    Verdict,
)
from rl_advisor.output import Answer
from rl_advisor.output.clean import aliased, clean
from rl_advisor.output.wording import counted
from rl_advisor.run import Run
from rl_advisor.tools.advisors.grounding.claims import Claim, Evidence
from rl_advisor.tools.advisors.grounding.prose import Prose
from rl_advisor.tools.advisors.model.toolbox import Toolbox
from rl_advisor.tools.advisors.model.turns import Tool

ANSWER = "give_assessment"
_LONGEST, _MOST, _CLAIMS, _SHOWN = 4000, 30, 40, 30
Line = Annotated[str, Field(max_length=500)]
Seen = Sequence[tuple[str, Any]]
"""What the tools answered, each with the tool's name."""


class Proposal(Experiment):
    """The one next thing to try."""

    do: Line
    expect_if_right: Line
    expect_if_wrong: Line


class ModelAnswer(BaseModel, extra="forbid", allow_inf_nan=False):
    """What the model must give."""

    verdict: Verdict
    call: Call
    p_continue_pays: float = Field(
        ge=0,
        le=1,
        description="Probability that going on to the planned end yields a checkpoint better than the best so far by more than noise.",
    )
    confidence: Confidence
    probabilities: dict[Verdict, Annotated[float, Field(ge=0, le=1)]] = Field(
        default_factory=dict, description="Of each verdict that comes into question; they add up to one."
    )
    claims: list[Claim] = Field(
        max_length=_CLAIMS, description="What the log shows, the weightiest first. Each is checked; prose cites them as [1], [2] ..."
    )
    why: Line = Field(description="One sentence: what the verdict rests on, citing claims.")
    best_checkpoint_step: int | None = Field(ge=0, description="Step of the saved checkpoint to keep.")
    best_checkpoint_why: Line = Field(description="Citing claims.")
    first_broken_link: BrokenLink = Field(description="What broke first; none when nothing is broken.")
    onset: OnsetView | None = Field(default=None, description="When the first break began, with its interval.")
    ruled_out: list[Line] = Field(max_length=_MOST, description="What was ruled out and by what, one line each, citing claims.")
    could_not_see: list[Line] = Field(max_length=_MOST, description="What the log cannot tell, one line each, without numbers.")
    next_experiment: Proposal
    summary: str = Field(
        max_length=_LONGEST,
        description="Plain words without a number: each sentence cites the claims it rests on, as in 'The score collapsed [1].' "
        "The claims are printed there.",
    )

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> "ModelAnswer":
        if self.verdict in BROKEN and self.call == "continue" and self.p_continue_pays < 0.05:
            raise ValueError("the call is continue, but p_continue_pays says that it will not pay")
        if self.onset is not None and not self.onset.low <= self.onset.step <= self.onset.high:
            raise ValueError("onset needs low <= step <= high")
        chances = self.probabilities
        if chances and abs(sum(chances.values()) - 1) > 0.02:
            raise ValueError("the probabilities do not add up to one")
        if chances and self.verdict != "undecidable" and chances.get(self.verdict, 0.0) < max(chances.values()):
            raise ValueError("the verdict is not the likeliest by the probabilities")
        return self


def answer_tool() -> Tool:
    """The tool by which the model hands in its judgement."""
    schema = {word: said for word, said in ModelAnswer.model_json_schema().items() if word != "description"}
    return Tool(ANSWER, "Hand in your judgement. Call it once, last, when you have looked at what you need.", schema)


def held(answer: ModelAnswer, base: Assessment, bench: Toolbox, seen: Seen) -> tuple[Assessment, list[Answer]]:
    """The model's judgement over our findings, as far as the run bears out its claims, fields and sentences; and what does not stand."""
    safe = {key: part for key, part in aliased(clean(answer.model_dump()), bench.names).items() if key != "names_as_written"}
    said, evidence = ModelAnswer.model_validate(safe), Evidence(bench.run, seen, bench.aliases)
    checked = [evidence.check(claim) for claim in said.claims]
    prose, wrong = Prose(checked, bench.names | {f.pattern for f in base.findings}), _wrong_fields(said, base, bench.run)
    shown = [
        # A model does not say how much each weighs.
        EvidenceView(says=c.says, for_=c.claim.speaks_for or said.verdict, weight=1.0, metric=c.metric, steps=c.steps)
        for c in checked
        if not c.why
    ]
    best = BestCheckpoint(
        step=said.best_checkpoint_step,
        path=next((c.path for c in bench.run.checkpoints if c.step == said.best_checkpoint_step), None),
        why=prose.kept(said.best_checkpoint_why) or "the model gives no reason that the log bears out",
    )
    told: Answer = {
        "why": prose.kept(said.why) or "; ".join(e.says for e in shown if e.for_ == said.verdict)[:_LONGEST],
        "words": prose.kept(said.summary),
        "ruled_out": [line for text in said.ruled_out if (line := prose.kept(text))],
        "could_not_see": [line for text in said.could_not_see if (line := prose.kept(text, cites=False))],
    }
    struck: dict[str, list[Answer]] = {
        "claim": [{"claim": i, "why": c.why} for i, c in enumerate(checked, 1) if c.why],
        "field": [{"field": name, "why": why} for name, why in wrong.items()],
        "sentence": [{"sentence": text[:120], "why": why} for text, why in prose.struck],
    }
    if parts := [counted(len(out), noun) for noun, out in struck.items() if out]:
        told["could_not_see"].append(f"Left out of the model's answer, because the log does not bear it out: {', '.join(parts)}.")
    signed = told | {
        **said.model_dump(include={"verdict", "call", "confidence", "first_broken_link"}),
        "p_continue_pays": round(said.p_continue_pays, 3),
        "call_reason": "pays" if said.call == "continue" else "broken" if said.verdict in BROKEN else "no_gain",
        "probabilities": {v: round(said.probabilities.get(v, 0.0), 3) for v in VERDICTS} if said.probabilities else {},
        "evidence": shown,
        "rivals": [],
        "at_odds": [e.says for e in shown if e.for_ != said.verdict],
        "risk": "",
        "best_checkpoint": base.best_checkpoint if "best_checkpoint_step" in wrong else best,
        "onset": None if "onset" in wrong else said.onset,
        "next_experiment": base.next_experiment if "next_experiment" in wrong else Experiment(**said.next_experiment.model_dump()),
    }
    return base.model_copy(update=signed), [each for out in struck.values() for each in out][:_SHOWN]


def _wrong_fields(said: ModelAnswer, base: Assessment, run: Run) -> dict[str, str]:
    """The fields of an answer that cannot be true of the run, each with why."""
    wrong, best, seen = {}, said.best_checkpoint_step, f"the run was seen from step {run.first_step:.0f} to {run.last_step:.0f}"
    saved, paths = {c.step for c in run.checkpoints}, {c.path for c in run.checkpoints}
    if best is not None and best != base.best_checkpoint.step and best not in saved:
        if saved:
            wrong["best_checkpoint_step"] = f"no checkpoint was saved at step {best}; there are {', '.join(map(str, sorted(saved)[:20]))}"
        elif not run.first_step <= best <= run.last_step:
            wrong["best_checkpoint_step"] = seen
    if said.onset is not None and not (run.first_step <= said.onset.low and said.onset.high <= run.last_step):
        wrong["onset"] = seen
    kinds = {path.rstrip(digits) for path in paths if path[-1:].isdigit()} - {""}
    words = (word.strip(".,;:!?()\"'`") for word in said.next_experiment.do.split())
    if no_such := next((w for w in words if w not in paths and w[-1:].isdigit() and w.rstrip(digits) in kinds), ""):
        wrong["next_experiment"] = f"there is no {no_such}"
    return wrong
