"""What a detector says: one Finding, with an outcome, the measures it rests on, and where to look."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

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


def number(x: float) -> str:
    """A number as people write it: two significant digits, whole from a hundred on, no exponent between 0.001 and a million."""
    return value(x)


def manual_page(text: str, headings: Sequence[str]) -> dict[str, str]:
    """The manual page of a pattern or a check by its headings, with the first sentence as the title."""
    parts = re.split(rf"({'|'.join(headings)}): ", re.sub(r"\s+", " ", text))
    return {"Title": parts[0].strip()} | {head: body.strip() for head, body in zip(parts[1::2], parts[2::2], strict=True)}
