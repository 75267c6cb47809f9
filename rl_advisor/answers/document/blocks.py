"""What a document is made of: each block says what it holds, and nothing of how a page shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rl_advisor.answers.document.curves import Drawn
from rl_advisor.finding import FindingView


@dataclass(frozen=True)
class Words:
    """A sentence or two; ``kind`` is what it is for: ``note``, ``do``, or ``meta`` of what follows."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Lines:
    """A list of sentences."""

    items: Sequence[str]
    title: str = ""


@dataclass(frozen=True)
class Facts:
    """Labels and what is said under each."""

    rows: Sequence[tuple[str, str]]
    kind: str = "story"


@dataclass(frozen=True)
class Table:
    """Rows of cells under their heads; ``keys`` are the kinds by which a picture colours what each row is about."""

    label: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    keys: Sequence[str] = ()


@dataclass(frozen=True)
class Bars:
    """How many there are at each stretch of a scale, and what is said of them."""

    counts: Sequence[int]
    said: str


@dataclass(frozen=True)
class Fold:
    """Blocks that are seen when they are asked for; ``bulk`` ones not even on paper."""

    title: str
    blocks: Sequence[Any]
    key: str = ""
    bulk: bool = False


@dataclass(frozen=True)
class Card:
    """A finding, with the curve that it rests on where this one is drawn beside it."""

    finding: FindingView
    key: str
    first: bool
    look: Sequence[tuple[str, str, float, float]]
    """Where its evidence lies: the anchor at which it can be looked at (empty where it is not drawn), the run's own name, the steps."""
    curve: Drawn | None = None


@dataclass(frozen=True)
class Charts:
    """Curves, each in a frame of its own."""

    curves: Sequence[Drawn]


@dataclass(frozen=True)
class Code:
    """What a run wrote, as it stands: a ``prompt``, a ``response`` or a ``turn``."""

    kind: str
    text: str


@dataclass(frozen=True)
class Columns:
    """Blocks beside each other, each part under its title."""

    parts: Sequence[tuple[str, Sequence[Any]]]


@dataclass(frozen=True)
class Section:
    """A part of the document under its title."""

    key: str
    title: str
    blocks: Sequence[Any]
