"""What an advisor signs: the Assessment, its fields and allowed words, as every door shows it."""

from dataclasses import asdict
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from rl_advisor.finding import Finding

Verdict = Literal["improving", "plateaued", "not_learning", "degrading", "collapsed", "reward_hacking", "unstable", "undecidable"]
Call = Literal["continue", "stop", "undecided"]
CallReason = Literal["pays", "solved", "finished", "broken", "dead", "no_gain", "price", "not_measured"]
Confidence = Literal["low", "medium", "high"]
BrokenLink = Literal[
    "none",
    "environment_data",
    "evaluation",
    "reward_signal",
    "training_signal",
    "policy_update",
    "exploration",
    "data_freshness",
    "numerics",
    "systems",
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
BROKEN: frozenset[str] = frozenset({"not_learning", "degrading", "collapsed", "reward_hacking", "unstable"})
FALLS: frozenset[Verdict] = frozenset({"collapsed", "degrading", "unstable"})
"""Verdicts that say something is wrong with the run."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True)


class FindingView(_Frozen):
    """A Finding as it leaves the house."""

    pattern: str
    link: str
    outcome: Literal["present", "absent", "unclear", "not_logged"]
    statement: str
    onset: dict[str, float] | None = None
    measures: dict[str, float | None] = {}
    evidence: list[dict[str, float | str]] = []


class BestCheckpoint(_Frozen):
    """The step to keep, the checkpoint on disk nearest to it, and why."""

    step: int | None
    path: str | None = None
    why: str


class OnsetView(_Frozen):
    """When the first break began."""

    step: float
    low: float
    high: float


class Experiment(_Frozen):
    """The one next thing to try, and what each explanation predicts for it."""

    do: str
    expect_if_right: str
    expect_if_wrong: str


class EvidenceView(_Frozen):
    """One piece of what was weighed: what it says, which verdict it speaks for (against, where the weight is negative), and how much."""

    says: str
    for_: Verdict = Field(alias="for")
    weight: float
    metric: str | None = None
    steps: tuple[float, float] | None = None


class RivalView(_Frozen):
    """Another verdict that was weighed: how likely it is, and what speaks most for the verdict that was given instead."""

    verdict: Verdict
    p: float = Field(ge=0, le=1)
    against: str


class TaskView(_Frozen):
    """What is trained: the kind of training, how it learns, its actions and weights where they are known, and what says so."""

    kind: str = ""
    method: str = ""
    action: str = ""
    trained: str = ""
    evidence: list[str] = []


class Assessment(_Frozen):
    """The judgement of one run at one step. Every number in ``summary`` stands in the findings or in the fields."""

    schema_: Literal["rl-advisor/assessment/2"] = Field(default="rl-advisor/assessment/2", alias="schema")
    run: str
    step: int
    planned_steps: int | None = None
    verdict: Verdict
    call: Call
    call_reason: CallReason
    p_continue_pays: float = Field(ge=0, le=1)
    confidence: Confidence
    probabilities: dict[Verdict, float] = {}
    """Of every verdict; they add up to one. Empty where an advisor gives none."""
    verdict_set: list[Verdict] = []
    """The verdicts that stay possible, the likeliest first: one and a half in the mean. Empty where an advisor gives none."""
    why: str
    """One sentence: what the verdict rests on."""
    task: TaskView = TaskView()
    """What is trained; empty where nothing tells, or an advisor does not say."""
    evidence: list[EvidenceView] = []
    """What was weighed, the weightiest first."""
    rivals: list[RivalView] = []
    """The nearest other verdicts, the likeliest first."""
    at_odds: list[str] = []
    """Facts that do not fit the verdict."""
    risk: str = ""
    """What is drifting, and what a checkpoint would not give back."""
    best_checkpoint: BestCheckpoint
    first_broken_link: BrokenLink
    onset: OnsetView | None = None
    findings: list[FindingView]
    ruled_out: list[str]
    could_not_see: list[str]
    next_experiment: Experiment
    words: str = ""
    """What an advisor that is not the built-in one says in its own words."""
    summary: str = ""
    """The answer in sentences; a door writes it (``answers.judgement.completed``)."""


def view(finding: Finding) -> FindingView:
    """The finding in its outward form; infinities and NaN become null."""
    return FindingView(
        pattern=finding.pattern,
        link=finding.link.value,
        outcome=finding.outcome.value,
        statement=finding.statement,
        onset=asdict(finding.onset) if finding.onset else None,
        measures={name: (float(value) if abs(value) < float("inf") else None) for name, value in finding.measures.items()},
        evidence=[*map(asdict, finding.evidence)],
    )
