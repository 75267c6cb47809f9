"""Looks at a run's GPU telemetry once: groups, ticks, steps, idle time, foreign memory and the split, for the profile and the detectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.series import Bools
from rl_advisor.gpu.idle import foreign_memory, idle_stretches
from rl_advisor.gpu.signals import Rows, Spans, Ticks, groups_in_step, rows_of, ticks_of, zone_shift
from rl_advisor.gpu.split import Split, after_start, quiet_of, split_of
from rl_advisor.gpu.steps import Steps, logged_seconds, steps_of
from rl_advisor.output.wording import listed
from rl_advisor.run import Gap, Run


@dataclass(frozen=True)
class Seen:
    """What the telemetry of one group of GPUs shows."""

    group: tuple[Rows, ...]
    others: tuple[tuple[Rows, ...], ...]
    ticks: Ticks
    steps: Steps
    idle: tuple[dict[str, Any], ...]
    foreign: tuple[dict[str, Any], ...]
    split: Split | None
    cannot_tell: tuple[str, ...]
    gaps: tuple[Gap, ...]


_last: list[tuple[Run, Seen]] = []


def look(run: Run) -> Seen:
    """What the telemetry shows of the largest group of GPUs that move together; the last run's answer is kept for the next caller.

    Raises:
        TooFewPoints: no GPU has two rows.

    """
    for known, seen in _last:
        if known is run:
            return seen
    seen = _look(run)
    _last[:] = [(run, seen)]
    return seen


def _look(run: Run) -> Seen:
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
    cannot = [_several([group, *others])] if others else []
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
    idle, foreign = _idle(ticks, still, steps), foreign_memory(ticks, steps)
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


def _idle(ticks: Ticks, quiet: Bools, steps: Steps) -> list[dict[str, Any]]:
    """Idle stretches inside the steps; without step ends, between the start-up and the last activity."""
    if len(steps.spans):
        return idle_stretches(ticks, quiet, steps)
    settled = np.zeros(quiet.size, bool)
    settled[after_start(ticks, quiet)] = True
    return idle_stretches(ticks, quiet & settled, steps)


def _several(groups: Sequence[Sequence[Rows]]) -> str:
    names = "; ".join(listed([r.gpu for r in g], 4) for g in groups[:6])
    return (
        f"the {len(groups)} groups of GPUs that do not move together ({names}): phases are those of the first and may overlap the others'"
    )
