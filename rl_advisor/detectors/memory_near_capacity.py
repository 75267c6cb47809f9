"""Memory on a GPU is nearly full.

Looks for: memory in use above 95 % of what the card has, at any moment of the run; saw-teeth there mean that the allocator had to retry.
Means: the next longer batch may end the run; an allocator near the limit also slows each step.
Not to be confused with: an engine that reserves most of the card on purpose, which is flat from the start.
Next test: shorten the longest response or the micro-batch by a quarter: does the highest use fall?
Source: the seed's advice on headroom; headroom from outside is a lower bound, since allocators keep what they freed.
"""

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Outcome, Role, number
from rl_advisor.gpu.look import look
from rl_advisor.gpu.profile import profile
from rl_advisor.gpu.signals import Rows
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("telemetry",)
CHANGE: tuple[tuple[str, str], ...] = (("smaller_micro_batch", ""),)
SAW_TOOTH_GIB = 4.0
ROOM = 0.15
"""Share of the memory that must be free in one phase for the other to be what is tight."""


def detect(run: Run, full: float = 0.95) -> Answer:
    """Present when a GPU goes above ``full`` of its memory; the saw-teeth near the limit are counted."""
    seen = look(run)
    rows = [r for group in (seen.group, *seen.others) for r in group if {"memory_gib", "memory_total_gib"} <= r.value.keys()]
    if not rows:
        raise TooFewPoints("needs memory in use and in total")
    fullest = max(rows, key=_highest)
    share = _highest(fullest)
    used = fullest.value["memory_gib"]
    free = float((fullest.value["memory_total_gib"] - used).min())
    teeth = int((np.diff(used[used > 0.8 * used.max()]) < -SAW_TOOTH_GIB).sum())
    measures = {"highest_share": share, "free_gib": free, "saw_teeth": float(teeth)}
    text = f"GPU {fullest.gpu} uses up to {percent(share)} of its memory; at least {number(max(free, 0.0))} GiB were always free"
    by_phase = _by_phase(run, float(fullest.value["memory_total_gib"].max()))
    measures |= {f"highest_share_in_{name}": part for name, part in by_phase.items()}
    if len(by_phase) > 1 and max(by_phase.values()) > full > min(by_phase.values()) + ROOM:
        tight, roomy = max(by_phase, key=lambda n: by_phase[n]), min(by_phase, key=lambda n: by_phase[n])
        text += f"; {tight} fills it, {roomy} uses at most {percent(by_phase[roomy])}"
    outcome = Outcome.PRESENT if share > full else Outcome.ABSENT
    return Answer(outcome, f"{text}.", None, measures, (Evidence("telemetry", run.first_step, run.last_step),))


def _by_phase(run: Run, total: float) -> dict[str, float]:
    """The highest share of memory in generation and in training, where they are named."""
    rows = {row["name"]: row["memory_gib"] for row in profile(run)["phases"]}
    return {name: rows[name] / total for name in ("generation", "training") if rows.get(name) is not None and total > 0}


def _highest(rows: Rows) -> float:
    return float((rows.value["memory_gib"] / np.maximum(rows.value["memory_total_gib"], 1e-9)).max())
