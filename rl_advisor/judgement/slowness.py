"""Time that GPUs stand idle: the one finding of systems that matters even in a run whose learning is in order."""

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

LOST = 1 / 3
"""Share of the time from which it is worth a sentence and the next step: without it the run would be half as fast again."""
IDLE = {"waiting_on_reward": "gpu_share waiting", "checkpoint_stall": "gpu_share saving"}
"""Patterns of idle time, and where each holds the share of the time that it takes."""


class Told(Protocol):
    """A finding, inside or outside of the house."""

    @property
    def pattern(self) -> str:
        """Its name."""

    @property
    def outcome(self) -> str:
        """Whether it is present."""

    @property
    def measures(self) -> Mapping[str, float | None]:
        """What was measured."""


T = TypeVar("T", bound=Told)


def slowest(findings: Iterable[T]) -> T | None:
    """The present finding by which most time is lost; None where less than a third is."""
    lost = [(f.measures.get(IDLE[f.pattern]) or 0.0, i, f) for i, f in enumerate(findings) if f.pattern in IDLE and f.outcome == "present"]
    share, _, finding = max(lost, key=lambda row: row[:2], default=(0.0, 0, None))
    return finding if share >= LOST else None
