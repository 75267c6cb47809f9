"""Time that GPUs stand idle: the one finding of systems that matters even in a run whose learning is in order."""

from collections.abc import Iterable
from typing import TypeVar

from rl_advisor.detectors import marked
from rl_advisor.finding import Finding, FindingView

LOST = 1 / 3
"""Share of the time from which it is worth a sentence and the next step: without it the run would be half as fast again."""
Told = TypeVar("Told", Finding, FindingView)


def slowest(findings: Iterable[Told]) -> Told | None:
    """The present finding by which most time is lost; None where less than a third is."""
    idle = (f for f in findings if f.pattern in marked("idle") and f.outcome == "present")
    lost = [(next((v for n, v in f.measures.items() if n.startswith("gpu_share ") and v is not None), 0.0), f) for f in idle]
    share, found = max(lost, key=lambda row: row[0], default=(0.0, None))
    return found if share >= LOST else None
