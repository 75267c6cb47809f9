"""What a detector says and what an advisor signs: Finding and Assessment, their fields and allowed words, as every door shows them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import partial
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from rl_advisor.output.wording import value
from rl_advisor.vocabulary import Link


class Outcome(StrEnum):
    """What was seen. ``absent`` is a measured no; ``unclear`` and ``not_logged`` are no answer."""

    PRESENT = "present"
    ABSENT = "absent"
    UNCLEAR = "unclear"
    NOT_LOGGED = "not_logged"


class Role(StrEnum):
    """What a pattern is when it is there; each detector declares its own."""

    FAULT = "fault"
    """Something broke that can bring other things about."""
    LIMIT = "limit"
    """A break even where the outcome stands: it keeps a run that rises from what it could reach."""
    SILENCE = "silence"
    """Nothing to learn from, or nothing moves: it keeps a policy where it is and makes no outcome fall."""
    GAMING = "gaming"
    """The reward is paid for something other than the task."""
    CONSEQUENCE = "consequence"
    """A broken policy shows it anyway: why an outcome fell only where it clearly began before the fall."""
    SYMPTOM = "symptom"
    """Describes the outcome, or what is measured badly; never what broke."""


@dataclass(frozen=True)
class Onset:
    """The step at which a pattern starts, with an interval."""

    step: float
    low: float
    high: float


@dataclass(frozen=True)
class Evidence:
    """Where to look: a metric (or ``rollouts``, ``telemetry``, ``events``) and the steps."""

    metric: str
    first_step: float
    last_step: float


@dataclass(frozen=True)
class Cause:
    """A likely cause: where it lies, what it is, why it fits, and what would tell it from the others."""

    link: Link
    cause: str
    because: str
    tell_apart: str
    name: str = ""


Questions = tuple[tuple[str, str], ...]
"""Questions to the user, each with what its answer decides."""


@dataclass(frozen=True)
class Answer:
    """What a detector, a check or a row answers; who asked it adds whose answer it is."""

    outcome: Outcome
    statement: str
    onset: Onset | None = None
    measures: Mapping[str, float] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    link: Link | None = None
    """Where a detector learns from the run which link is broken; otherwise its own."""
    do: str = ""
    """The one thing to change, where that is not what a page says."""
    confirmed: bool = False
    """Whether what the run logged shows already what settings only threaten."""


present, absent, unclear, not_logged = (partial(Answer, outcome) for outcome in Outcome)
"""``present(statement, onset, measures, evidence)`` and its three kin: how a detector answers."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for, in whatever. It carries no severity and no advice: weighing is the advisor's work."""

    pattern: str
    """The name of the detector, the check or the row."""
    link: Link
    outcome: Outcome
    statement: str
    onset: Onset | None = None
    measures: Mapping[str, float] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    seen_in: str = "curves"
    """``curves`` (weighed), or what proves it: ``crash``, ``settings``, ``warnings``, ``rows``, ``values``."""
    causes: tuple[Cause, ...] = ()
    """The likely causes, the likeliest first."""
    about: tuple[str, ...] = ()
    """What it rests on: settings as they were written, our names of metrics, or the error of a crash and its place."""
    confirmed: bool = False
    """Whether the log shows what settings threaten."""
    ask: Questions = ()

    @property
    def there(self) -> bool:
        """Whether it is present."""
        return self.outcome is Outcome.PRESENT


number = value
"""A number as people write it: two significant digits, whole from a hundred on, no exponent between 0.001 and a million."""


def manual_page(text: str, headings: Sequence[str]) -> dict[str, str]:
    """The manual page of a pattern or a check by its headings, with the first sentence as the title."""
    parts = re.split(rf"({'|'.join(headings)}): ", re.sub(r"\s+", " ", text))
    return {"Title": parts[0].strip()} | {head: body.strip() for head, body in zip(parts[1::2], parts[2::2], strict=True)}


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
    told = {name: value for name, value in asdict(finding).items() if name in FindingView.model_fields}
    return FindingView(**told | {"measures": {name: x if abs(x) < float("inf") else None for name, x in finding.measures.items()}})
