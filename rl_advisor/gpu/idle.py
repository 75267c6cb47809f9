"""Stretches of GPU telemetry that stand out: idle time, memory that some other process took, and what each did to the steps."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rl_advisor.features.gpu.phases import runs_of
from rl_advisor.gpu.signals import Ticks
from rl_advisor.gpu.steps import Steps, step_of
from rl_advisor.run import Floats

Flags = npt.NDArray[np.bool_]

SHORTEST_IDLE = 0.5
MOST_LISTED = 60
FOREIGN_GIB = 0.25
SHORTEST_FOREIGN = 1.0
AROUND = 5
"""Steps before and after that a span is compared with."""


@dataclass(frozen=True)
class Foreign:
    """A stretch in which the GPU held memory beyond the run's settled level, and the steps before, during and after it."""

    start: float
    end: float
    excess_gib: float
    ended: bool
    step_s: tuple[float, ...]
    power_w: tuple[float, ...]
    memory_gib: tuple[float, ...]


def idle_stretches(ticks: Ticks, quiet: Flags, steps: Steps) -> list[dict[str, Any]]:
    """Quiet stretches of half a second and more (two rows and more in slow logs): start, seconds, step and place in it; longest first."""
    step = step_of(steps, ticks.time)
    within = quiet & (step >= 0) if len(steps.spans) else quiet
    found = []
    for first, last in runs_of(within):
        seconds = float((last - first) * ticks.spacing)
        if seconds >= SHORTEST_IDLE - 1e-9 and last - first >= 2:
            found.append(
                {"start": round(float(ticks.time[first] - ticks.spacing / 2), 2), "seconds": round(seconds, 2)}
                | _place(ticks, first, step, steps)
            )
    return sorted(found, key=lambda f: -f["seconds"])


def _place(ticks: Ticks, first: int, step: npt.NDArray[np.int64], steps: Steps) -> dict[str, Any]:
    if step[first] < 0:
        return {}
    begin = steps.spans[step[first], 0]
    at_start = ticks.time[first] - begin <= max(0.3, 1.5 * ticks.spacing)
    where = "after the step before ended" if at_start else "inside the step"
    return {"step": float(steps.number[step[first]]), "where": where}


def listed(stretches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The longest stretches, and one line for the rest."""
    rest = stretches[MOST_LISTED:]
    more = [{"more": len(rest), "seconds": round(sum(s["seconds"] for s in rest), 1)}] if rest else []
    return sorted(stretches[:MOST_LISTED], key=lambda s: s["start"]) + more


def foreign_memory(ticks: Ticks, steps: Steps) -> list[Foreign]:
    """Stretches of memory more than 256 MiB above its settled level for more than a second, unless they come back with the steps.

    Where processes were recorded it is the memory of the others than the largest.
    """
    column = next((n for n in ("other_gib", "memory_gib") if n in ticks.value), None)
    if column is None or len(steps.spans) < 4:
        return []
    inside = np.flatnonzero((ticks.time >= steps.spans[0, 0]) & (ticks.time <= steps.spans[-1, 1]))
    if inside.size < 2:
        return []
    memory = ticks.value[column][inside]
    settled = float(np.quantile(memory, 0.25))
    runs = [r for r in runs_of(memory > settled + FOREIGN_GIB) if (r[1] - r[0]) * ticks.spacing > SHORTEST_FOREIGN]
    if len(runs) > max(3, 0.3 * len(steps.spans)):
        return []
    begin, size = int(inside[0]), memory.size
    return [_event(ticks, (begin + a, begin + b), steps, float(memory[a:b].max() - settled), ended=bool(b < size)) for a, b in runs]


def _event(ticks: Ticks, span: tuple[int, int], steps: Steps, excess: float, *, ended: bool) -> Foreign:
    first, last = span
    start, end = float(ticks.time[first]), float(ticks.time[last - 1])
    seconds = steps.spans[:, 1] - steps.spans[:, 0]
    during = (steps.spans[:, 1] > start) & (steps.spans[:, 0] < end)
    before = np.flatnonzero(steps.spans[:, 1] <= start)[-AROUND:]
    after = np.flatnonzero(steps.spans[:, 0] >= end)[:AROUND]
    chosen = (before, np.flatnonzero(during), after)
    times = tuple(float(np.mean(seconds[c])) if len(c) else float("nan") for c in chosen)
    power, memory = (tuple(_mean(ticks, steps, name, c) for c in chosen) for name in ("power_w", "memory_gib"))
    return Foreign(start, end, excess, ended, times, power, memory)


def _mean(ticks: Ticks, steps: Steps, name: str, chosen: npt.NDArray[np.int64]) -> float:
    """The mean of a signal over the chosen steps."""
    if name not in ticks.value or not len(chosen):
        return float("nan")
    inside = (ticks.time >= steps.spans[chosen[0], 0]) & (ticks.time <= steps.spans[chosen[-1], 1])
    values: Floats = ticks.value[name][inside]
    return float(values.mean()) if values.size else float("nan")
