"""What a proof is, and the likely causes that it may name."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rl_advisor.vocabulary import Link

REWARDS = ("Which reward functions are used, and may I see ten samples with their rewards?", "whether the reward or the model is at fault")


@dataclass(frozen=True)
class Cause:
    """A likely cause: where it lies, what it is, why it fits, and what would tell it from the others."""

    link: Link
    cause: str
    because: str
    tell_apart: str


@dataclass(frozen=True)
class Proof:
    """One thing that the lines prove."""

    says: str
    fault: bool = True
    causes: tuple[str, ...] = ()
    """Names of ``causes.toml``."""
    about: tuple[str, ...] = ()
    """Our names of the metrics that it speaks of."""
    ask: tuple[tuple[str, str], ...] = ()
    """Questions to the user, each with what its answer decides."""


@cache
def causes() -> Mapping[str, Cause]:
    """The likely causes by their names."""
    rows = tomllib.loads((Path(__file__).parent / "causes.toml").read_text(encoding="utf-8"))
    return {name: Cause(Link(row["link"]), row["cause"], row["because"], row["tell_apart"]) for name, row in rows.items()}
