"""The words in which the loop and a provider's client speak to each other: what was said, what was called, what it cost."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Entry = dict[str, Any]
"""One line of a conversation: ``{"role": "user" | "model" | "results", ...}``, plain JSON, as the transcript keeps it."""


MOST_TOLD = 10**12
"""Tokens of each kind that are believed."""


@dataclass(frozen=True)
class Usage:
    """Tokens of one or more turns; the four kinds do not overlap."""

    fresh: int = 0
    """Sent and read at full price."""
    cached: int = 0
    """Sent before and read from the provider's cache."""
    stored: int = 0
    """Sent and written to the provider's cache."""
    written: int = 0
    """Written by the model, its reasoning included."""

    def __post_init__(self) -> None:
        """Hold what a provider says to what can be: it gives no tokens back, and none has endless ones."""
        for kind, count in vars(self).items():
            object.__setattr__(self, kind, min(max(0, count), MOST_TOLD))

    @property
    def total(self) -> int:
        """All tokens."""
        return self.fresh + self.cached + self.stored + self.written

    def __add__(self, other: "Usage") -> "Usage":
        """Both together."""
        return Usage(self.fresh + other.fresh, self.cached + other.cached, self.stored + other.stored, self.written + other.written)


@dataclass(frozen=True)
class ToolCall:
    """A tool that the model wants called; ``arguments`` are None when they were no JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True)
class Turn:
    """One answer of the model."""

    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    ending: Literal["done", "cut", "refused"] = "done"
    raw: Any = None
    """The answer as the provider wants to see it again, as plain JSON."""


def entry_of(turn: Turn) -> Entry:
    """The turn as a line of the conversation."""
    calls = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in turn.calls]
    return {"role": "model", "text": turn.text, "calls": calls, "ending": turn.ending, "usage": asdict(turn.usage), "raw": turn.raw}


@dataclass(frozen=True)
class Tool:
    """What a model is told about a tool."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass
class Conversation:
    """Everything that goes into the next request."""

    instructions: str
    tools: tuple[Tool, ...]
    entries: list[Entry] = field(default_factory=list)
    room: int = 8000
    """The most tokens that the next turn may write."""


Ask = Callable[[Conversation], Turn]


class Unavailable(Exception):  # noqa: N818 - it names what went wrong
    """The model cannot be asked at all; the message says why and what would help."""


class Busy(Exception):  # noqa: N818 - it names what went wrong
    """The model could not be asked just now; ``wait`` is how many seconds the provider asks for, if it does."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        """Remember both."""
        super().__init__(why)
        self.wait = wait
