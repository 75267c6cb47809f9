"""Turns what a model said into a signed Assessment: its judgement, our findings, and nothing in its prose that was not measured."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from rl_advisor.advisors.grounding import strike, unsupported
from rl_advisor.advisors.model.toolbox import complaints, schema_of
from rl_advisor.advisors.model.turns import Tool
from rl_advisor.assessment import (
    BROKEN,
    Assessment,
    BestCheckpoint,
    BrokenLink,
    Call,
    Confidence,
    Experiment,
    OnsetView,
    Verdict,
)
from rl_advisor.output.clean import aliased, clean
from rl_advisor.run import Run

ANSWER = "give_assessment"
Line = str
_LONGEST, _MOST = 4000, 30


class ModelAnswer(BaseModel):
    """What the model must give."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    verdict: Verdict
    call: Call
    p_continue_pays: float = Field(
        ge=0,
        le=1,
        description="Probability that going on to the planned end yields a checkpoint better than the best so far by more than noise.",
    )
    confidence: Confidence
    why: str = Field(min_length=1, max_length=500, description="One sentence: what the verdict rests on.")
    best_checkpoint_step: int | None = Field(ge=0, description="Step of the checkpoint to keep.")
    best_checkpoint_why: str = Field(max_length=1000)
    first_broken_link: BrokenLink = Field(description="What broke first; none when nothing is broken.")
    onset: OnsetView | None = Field(default=None, description="When the first break began, with its interval.")
    ruled_out: list[str] = Field(max_length=_MOST, description="What was ruled out and by what, one line each.")
    could_not_see: list[str] = Field(max_length=_MOST, description="What the log cannot tell, one line each.")
    next_experiment: Experiment
    summary: str = Field(
        min_length=1,
        max_length=_LONGEST,
        description="Plain words. Every number and direction must stand in a tool's answer; name the metric.",
    )

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> "ModelAnswer":
        if self.verdict in BROKEN and self.call == "continue" and self.p_continue_pays < 0.05:
            raise ValueError("the call is continue, but p_continue_pays says that it will not pay")
        if self.onset is not None and not self.onset.low <= self.onset.step <= self.onset.high:
            raise ValueError("onset needs low <= step <= high")
        return self


def answer_tool() -> Tool:
    """The tool by which the model hands in its judgement."""
    return Tool(ANSWER, "Hand in your judgement. Call it once, last, when you have looked at what you need.", schema_of(ModelAnswer))


def parsed(arguments: Any, run: Run) -> ModelAnswer | list[str]:
    """What the model said, or what is wrong with its form."""
    try:
        said = ModelAnswer.model_validate(arguments)
    except ValidationError as wrong:
        return complaints(wrong)
    if said.onset is not None and said.onset.step > run.last_step:
        return [f"onset.step: the run was only seen to step {run.last_step:g}"]
    if said.best_checkpoint_step is not None and said.best_checkpoint_step > run.last_step:
        return [f"best_checkpoint_step: the run was only seen to step {run.last_step:g}"]
    return said


def not_measured(said: ModelAnswer, base: Assessment, run: Run, also: Iterable[Any]) -> list[str]:
    """The numbers and directions in the model's prose that no measure supports, each with why."""
    source, seen = _source(said, base, run), list(also)
    return [line for text in _prose(said) for line in unsupported(text, source, seen)][:20]


def signed(said: ModelAnswer, base: Assessment, run: Run, also: Iterable[Any], names: Iterable[str]) -> Assessment:
    """The model's judgement over our findings, with what was not measured marked as such and names of the run made safe."""
    source, seen = _source(said, base, run), list(also)

    def kept(text: str) -> str:
        return strike(text, source, seen)

    said_safely = ModelAnswer.model_validate(_without_names_as_written(aliased(clean(said), names)))
    best = _best(said_safely, run)
    return _fields(said_safely, base, run).model_copy(
        update={
            "best_checkpoint": best.model_copy(update={"why": kept(best.why)}),
            "ruled_out": [kept(line) for line in said_safely.ruled_out],
            "could_not_see": [kept(line) for line in said_safely.could_not_see],
            "next_experiment": said_safely.next_experiment,
            "summary": kept(said_safely.summary),
            "why": kept(said_safely.why),
        }
    )


def instead(base: Assessment, advisor: str, why: str) -> Assessment:
    """The built-in assessment, saying that it stands in for a model and why."""
    line = f"The {advisor} advisor gave no judgement: {why}. This is the built-in advisor's."
    return base.model_copy(update={"could_not_see": [*base.could_not_see, line], "summary": f"{base.summary} {line}"})


def _without_names_as_written(answer: Any) -> Any:
    """The answer without the table of odd names: an Assessment has no place for it, and the door adds its own."""
    return {key: value for key, value in answer.items() if key != "names_as_written"}


def _prose(said: ModelAnswer) -> list[str]:
    """The texts that claim something about the run; an experiment's numbers and predictions are no claims."""
    return [said.summary, said.why, said.best_checkpoint_why, *said.ruled_out, *said.could_not_see]


def _fields(said: ModelAnswer, base: Assessment, run: Run) -> Assessment:
    """Our assessment with the model's choices, still without any of its prose."""
    return base.model_copy(
        update={
            "verdict": said.verdict,
            "call": said.call,
            "p_continue_pays": round(said.p_continue_pays, 3),
            "call_reason": "pays" if said.call == "continue" else "broken" if said.verdict in BROKEN else "no_gain",
            "confidence": said.confidence,
            "probabilities": {},
            "evidence": [],
            "rivals": [],
            "at_odds": [],
            "risk": "",
            "best_checkpoint": _best(said, run),
            "first_broken_link": said.first_broken_link,
            "onset": said.onset,
        }
    )


def _source(said: ModelAnswer, base: Assessment, run: Run) -> Assessment:
    """What prose is held against: our findings and the model's own choices, but none of its sentences."""
    fields = _fields(said, base, run)
    return fields.model_copy(update={"best_checkpoint": fields.best_checkpoint.model_copy(update={"why": base.best_checkpoint.why})})


def _best(said: ModelAnswer, run: Run) -> BestCheckpoint:
    """The step, with a path only where that very checkpoint exists."""
    path = next((c.path for c in run.checkpoints if c.step == said.best_checkpoint_step), None)
    return BestCheckpoint(step=said.best_checkpoint_step, path=path, why=said.best_checkpoint_why)
