"""The words in which the loop and a provider's client speak to each other: what was said, what was called, what it cost."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Entry = dict[str, Any]
"""One line of a conversation: ``{"role": "user" | "model" | "results", ...}``, plain JSON, as the transcript keeps it."""


MOST_TOLD = 10**12
"""Tokens of each kind that are believed."""


KINDS = ("fresh", "cached", "stored", "written")
"""Kinds of tokens, which do not overlap: sent at full price, read from the provider's cache, written to it, written by the model."""


def usage(*counts: int) -> Counter[str]:
    """Tokens of a turn by kind, held to what can be: a provider gives no tokens back, and none has endless ones."""
    return Counter({kind: min(max(0, count), MOST_TOLD) for kind, count in zip(KINDS, counts, strict=True)})


Ending = Literal["done", "cut", "refused"]


def call_of(number: str, name: str, arguments: Any) -> dict[str, Any]:
    """A tool that the model wants called; ``arguments`` are None when they were no JSON object."""
    return {"id": number, "name": name, "arguments": arguments if isinstance(arguments, dict) else None}


def turn_of(text: str, calls: Sequence[Mapping[str, Any]], usage: Counter[str], ending: Ending, raw: Any) -> Entry:
    """One answer of the model as a line of the conversation; ``raw`` is the answer as the provider wants to see it again, as plain JSON."""
    return {"role": "model", "text": text, "calls": list(calls), "ending": ending, "usage": usage, "raw": raw}


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


Ask = Callable[[Conversation], Entry]


class Unavailable(Exception):  # noqa: N818 - it names what went wrong
    """The model cannot be asked at all; the message says why and what would help."""
