"""Memory on a GPU is nearly full.

Looks for: memory in use above 95 % of what the card has, at any moment of the run; saw-teeth there mean that the allocator had to retry.
Means: the next longer batch may end the run; an allocator near the limit also slows each step.
Not to be confused with: an engine that reserves most of the card on purpose, which is flat from the start.
Next test: shorten the longest response or the micro-batch by a quarter: does the highest use fall?
Source: the seed's advice on headroom; headroom from outside is a lower bound, since allocators keep what they freed.
"""

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Evidence, Finding, Outcome, number
from rl_advisor.gpu.look import look
from rl_advisor.gpu.signals import Rows
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
NEEDS: tuple[str, ...] = ("telemetry",)
SAW_TOOTH_GIB = 4.0


def detect(run: Run, full: float = 0.95) -> Finding:
    """Present when a GPU goes above ``full`` of its memory; the saw-teeth near the limit are counted."""
    seen = look(run)
    rows = [r for group in (seen.group, *seen.others) for r in group if {"memory_gib", "memory_total_gib"} <= r.value.keys()]
    if not rows:
        raise TooFewPoints("memory in use and in all is not logged")
    fullest = max(rows, key=_highest)
    share = _highest(fullest)
    used = fullest.value["memory_gib"]
    free = float((fullest.value["memory_total_gib"] - used).min())
    teeth = int((np.diff(used[used > 0.8 * used.max()]) < -SAW_TOOTH_GIB).sum())
    measures = {"highest_share": share, "free_gib": free, "saw_teeth": float(teeth)}
    text = f"GPU {fullest.gpu} used up to {number(100 * share)} % of its memory; at least {number(max(free, 0.0))} GiB were never in use"
    outcome = Outcome.PRESENT if share > full else Outcome.ABSENT
    return Finding(
        "memory_near_capacity", LINK, outcome, f"{text}.", None, measures, (Evidence("telemetry", run.first_step, run.last_step),)
    )


def _highest(rows: Rows) -> float:
    return float((rows.value["memory_gib"] / np.maximum(rows.value["memory_total_gib"], 1e-9)).max())
