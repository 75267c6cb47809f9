"""Memory in use grows step by step and does not come back.

Looks for: a rising trend of the highest memory of each step, in the trainer's own figure or in telemetry, after the first steps.
Means: something is kept that should be freed, or sequences grow; the run is on its way to running out of memory.
Not to be confused with: the allocator's growth in the first step; another process that comes and goes.
Next test: log allocated and reserved memory after each phase; empty the cache once and see whether the figure comes back.
Source: trends of the per-step maximum by Theil and Sen; allocators keep what they freed, so only growth is a sign.
"""

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.trend import trend
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, present, unclear
from rl_advisor.gpu.look import look
from rl_advisor.gpu.steps import step_of
from rl_advisor.output.wording import from_to
from rl_advisor.run import Floats, Run
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("memory/allocated|telemetry",)


def detect(run: Run, rise: float = 0.05) -> Answer:
    """Present when memory rises by ``rise`` of its level, beyond noise and in both halves of the run; absent when it is level."""
    name, step, memory = _per_step(run)
    keep = step >= step[0] + 0.1 * (step[-1] - step[0])
    step, memory = step[keep], memory[keep]
    if step.size < 8:
        raise TooFewPoints(f"{step.size} steps with a value of memory, 8 needed")
    found = trend(step, memory)
    first, last = float(np.median(memory[: step.size // 4])), float(np.median(memory[-(step.size // 4) :]))
    middle = float(np.median(memory[step.size * 3 // 8 : step.size * 5 // 8]))
    measures = {"first_gib": first, "last_gib": last, "gib_per_step": found.slope}
    text = f"Memory goes {from_to(first, last)} GiB"
    where = (Evidence(name, float(step[0]), float(step[-1])),)
    steady = min(middle - first, last - middle) > 0.15 * (last - first)
    if last - first > rise * first and found.low > 0 and steady:
        onset = Onset(float(step[0]), float(step[0]), float(step[step.size // 2]))
        return present(f"{text}, a little at every step.", onset, measures, where)
    if last - first > rise * first:
        return unclear(f"{text}, but not steadily.", None, measures, where)
    return absent(f"{text}.", None, measures, where)


def _per_step(run: Run) -> tuple[str, Floats, Floats]:
    curve = run.curves.get("memory/allocated")
    if curve is not None and curve.finite()[1].size >= 8:
        return "memory/allocated", *curve.finite()
    if not len(run.telemetry):
        raise TooFewPoints("fewer than 8 values of memory")
    seen = look(run)
    if "memory_gib" not in seen.ticks.value or len(seen.steps.spans) < 8:
        raise TooFewPoints("needs memory telemetry over 8 steps with known ends")
    place = step_of(seen.steps, seen.ticks.time)
    highest = np.full(len(seen.steps.spans), np.nan)
    np.fmax.at(highest, place[place >= 0], seen.ticks.value["memory_gib"][place >= 0])
    known = np.isfinite(highest)
    return "telemetry", seen.steps.number[known], highest[known]
