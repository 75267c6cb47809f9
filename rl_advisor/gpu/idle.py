"""Stretches of GPU telemetry that stand out: idle time, memory that some other process took, and what each did to the steps."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rl_advisor.features.phases import runs_of
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
    step_s: tuple[float, float, float]
    power_w: tuple[float, float, float]


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
    """Stretches of memory more than 256 MiB above its settled level for more than a second, unless they come back with the steps."""
    if "memory_gib" not in ticks.value or len(steps.spans) < 4:
        return []
    inside = np.flatnonzero((ticks.time >= steps.spans[0, 0]) & (ticks.time <= steps.spans[-1, 1]))
    if inside.size < 2:
        return []
    memory = ticks.value["memory_gib"][inside]
    settled = float(np.quantile(memory, 0.25))
    runs = [r for r in runs_of(memory > settled + FOREIGN_GIB) if (r[1] - r[0]) * ticks.spacing > SHORTEST_FOREIGN]
    if len(runs) > max(3, 0.3 * len(steps.spans)):
        return []
    return [_event(ticks, (inside[0] + first, inside[0] + last), settled, steps, ended=last < memory.size) for first, last in runs]


def _event(ticks: Ticks, span: tuple[int, int], settled: float, steps: Steps, *, ended: bool) -> Foreign:
    first, last = span
    start, end = float(ticks.time[first]), float(ticks.time[last - 1])
    seconds = steps.spans[:, 1] - steps.spans[:, 0]
    during = (steps.spans[:, 1] > start) & (steps.spans[:, 0] < end)
    before = np.flatnonzero(steps.spans[:, 1] <= start)[-AROUND:]
    after = np.flatnonzero(steps.spans[:, 0] >= end)[:AROUND]
    power = tuple(_mean_power(ticks, steps, chosen) for chosen in (before, np.flatnonzero(during), after))
    times = tuple(float(np.mean(seconds[chosen])) if len(chosen) else float("nan") for chosen in (before, np.flatnonzero(during), after))
    excess = float(ticks.value["memory_gib"][first:last].max() - settled)
    return Foreign(start, end, excess, ended, (times[0], times[1], times[2]), (power[0], power[1], power[2]))


def _mean_power(ticks: Ticks, steps: Steps, chosen: npt.NDArray[np.int64]) -> float:
    if "power_w" not in ticks.value or not len(chosen):
        return float("nan")
    inside = (ticks.time >= steps.spans[chosen[0], 0]) & (ticks.time <= steps.spans[chosen[-1], 1])
    values: Floats = ticks.value["power_w"][inside]
    return float(values.mean()) if values.size else float("nan")
