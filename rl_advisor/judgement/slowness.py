"""Time that GPUs stand idle: the one finding of systems that matters even in a run whose learning is in order."""

from collections.abc import Iterable
from typing import TypeVar

from rl_advisor.assessment import FindingView
from rl_advisor.finding import Finding

LOST = 1 / 3
"""Share of the time from which it is worth a sentence and the next step: without it the run would be half as fast again."""
IDLE = ("waiting_on_reward", "checkpoint_stall")
Told = TypeVar("Told", Finding, FindingView)


def slowest(findings: Iterable[Told]) -> Told | None:
    """The present finding by which most time is lost; None where less than a third is."""
    idle = [f for f in findings if f.pattern in IDLE and f.outcome == "present" and (f.measures.get("share") or 0.0) >= LOST]
    return max(idle, key=lambda f: f.measures["share"] or 0.0, default=None)
