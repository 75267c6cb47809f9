"""Looks at a run's GPU telemetry once: groups, ticks, steps, idle time, foreign memory and the split, for the profile and the detectors."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.gpu.phases import runs_of
from rl_advisor.features.series import Bools, Floats
from rl_advisor.gpu.signals import Rows, Spans, Ticks, groups_in_step, rows_of, ticks_of, zone_shift
from rl_advisor.gpu.split import Split, after_start, quiet_of, split_of
from rl_advisor.gpu.steps import Steps, logged_seconds, step_of, steps_of
from rl_advisor.output import Answer
from rl_advisor.output.wording import listed
from rl_advisor.run import Gap, Run

SHORTEST_IDLE = 0.5
MOST_LISTED = 60
FOREIGN_GIB = 0.25
SHORTEST_FOREIGN = 1.0
AROUND = 5
"""Steps before and after that a span is compared with."""
WHEN, MEASURED = ("before", "during", "after"), ("power_w", "memory_gib")


@dataclass(frozen=True)
class Seen:
    """What the telemetry of one group of GPUs shows."""

    group: tuple[Rows, ...]
    others: tuple[tuple[Rows, ...], ...]
    ticks: Ticks
    steps: Steps
    idle: tuple[Answer, ...]
    foreign: tuple[Answer, ...]
    split: Split | None
    cannot_tell: tuple[str, ...]
    gaps: tuple[Gap, ...]


@lru_cache(maxsize=1)
def look(run: Run) -> Seen:
    """What the telemetry shows of the largest group of GPUs that move together; the last run's answer is kept for the next caller.

    Raises:
        TooFewPoints: no GPU has two rows.

    """
    shift, zone = zone_shift(run)
    rows = rows_of(run, shift)
    if not rows:
        raise TooFewPoints("no GPU has two rows of telemetry")
    group, *others = sorted(groups_in_step(rows), key=len, reverse=True)
    holes = group[0].holes()
    ticks = ticks_of(group)
    if ticks.time.size < 2:
        raise TooFewPoints("the GPUs' rows do not overlap in time")
    steps = steps_of(run, float(ticks.time[0]), float(ticks.time[-1]), holes)
    quiet = quiet_of(ticks)
    names = "; ".join(listed([r.gpu for r in g], 4) for g in [group, *others][:6])
    apart = f"the {len(others) + 1} groups of GPUs that do not move together ({names})"
    cannot = [f"{apart}: phases are those of the first and may overlap the others'"] if others else []
    if quiet is None:
        cannot.append("idle time: utilisation is not logged")
    elif not quiet.any():
        cannot.append("idle time: no idle floor was seen")
    still = quiet if quiet is not None else np.zeros(ticks.time.size, bool)
    found = None
    if "power_w" not in ticks.value:
        cannot.append("phases: power is not logged")
    elif not logged_seconds(run):
        found = split_of(ticks, group, steps, still)
    idle, foreign = idle_stretches(ticks, still, steps), foreign_memory(ticks, steps)
    lost = len(run.telemetry) - sum(r.time.size for r in rows)
    unused = [Gap("telemetry", f"{lost} rows that repeat a time, stand alone or lie far from the others were left out")] if lost else []
    gaps = ([zone] if zone else []) + unused + _gaps(ticks, steps, holes)
    return Seen(tuple(group), tuple(map(tuple, others)), ticks, steps, tuple(idle), tuple(foreign), found, tuple(cannot), tuple(gaps))


def _gaps(ticks: Ticks, steps: Steps, holes: Spans) -> list[Gap]:
    gaps = []
    if len(holes):
        lost = float((holes[:, 1] - holes[:, 0]).sum())
        gaps.append(Gap("telemetry", f"{len(holes)} stretches without rows, {lost:.1f} s in all; steps that touch one are left out"))
    if len(steps.spans):
        start = steps.spans[0, 0] - ticks.time[0]
        gaps.append(Gap("telemetry", f"the {start:.1f} s before step {steps.number[0]:g} began are start-up and in no share"))
    return gaps


def idle_stretches(ticks: Ticks, quiet: Bools, steps: Steps) -> list[Answer]:
    """Quiet stretches of half a second and more (two rows and more in slow logs): start, seconds, step and place in it; longest first.

    They lie inside the steps; without step ends, between the start-up and the last activity.
    """
    step, within, found = step_of(steps, ticks.time), np.zeros(quiet.size, bool), list[Answer]()
    within[step >= 0 if len(steps.spans) else after_start(ticks, quiet)] = True
    for first, last in runs_of(quiet & within):
        seconds = float((last - first) * ticks.spacing)
        if seconds < SHORTEST_IDLE - 1e-9 or last - first < 2:
            continue
        found.append({"start": round(float(ticks.time[first] - ticks.spacing / 2), 2), "seconds": round(seconds, 2)})
        if (at := step[first]) >= 0:
            begins = ticks.time[first] - steps.spans[at, 0] <= max(0.3, 1.5 * ticks.spacing)
            found[-1] |= {"step": float(steps.number[at]), "where": "after the step before ended" if begins else "inside the step"}
    return sorted(found, key=lambda f: -f["seconds"])


def longest_first(stretches: list[Answer]) -> list[Answer]:
    """The longest stretches, and one line for the rest."""
    rest = stretches[MOST_LISTED:]
    more = [{"more": len(rest), "seconds": round(sum(s["seconds"] for s in rest), 1)}] if rest else []
    return sorted(stretches[:MOST_LISTED], key=lambda s: s["start"]) + more


def foreign_memory(ticks: Ticks, steps: Steps) -> list[Answer]:
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


def _event(ticks: Ticks, span: tuple[int, int], steps: Steps, excess: float, *, ended: bool) -> Answer:
    """One stretch, the steps that it touches, and what steps took and drew before, during and after it."""
    start, end = float(ticks.time[span[0]]), float(ticks.time[span[1] - 1])
    first, last = int((steps.spans[:, 1] > start).argmax()), max(int(np.searchsorted(steps.spans[:, 0], end)), 1)
    before = int(np.searchsorted(steps.spans[:, 1], start, side="right"))
    parts = (slice(max(before - AROUND, 0), before), slice(first, last), slice(last, last + AROUND))
    return {
        "what": "memory beyond the run's settled level: another process, or the run's own allocator",
        "start": round(start, 2),
        "end": round(end, 2),
        "ended": ended,
        "steps": [float(steps.number[first]), float(steps.number[last - 1])],
        "excess_gib": round(excess, 3),
        "step_s": {w: _mean(np.diff(steps.spans[part], axis=1)) for w, part in zip(WHEN, parts, strict=True)},
        **{name: {w: _level(ticks, name, steps.spans[part]) for w, part in zip(WHEN, parts, strict=True)} for name in MEASURED},
    }


def _level(ticks: Ticks, name: str, spans: Floats) -> float | None:
    """The mean of a signal over some steps; None where it is not logged there."""
    if name not in ticks.value or not len(spans):
        return None
    return _mean(ticks.value[name][(ticks.time >= spans[0, 0]) & (ticks.time <= spans[-1, 1])])


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if values.size else None
