"""The telemetry table as arrays: rows of each GPU, evenly spaced ticks, groups of GPUs in step, and the clock they share with the run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rl_advisor.features.gpu.phases import longest
from rl_advisor.features.power import averaged, averaging_window, deconvolved
from rl_advisor.run import Floats, Gap, Run

Spans = Floats

INSTANT = "power_instant_w"
POWER_LAG, COUNTER_LAG, TEMPERATURE_LAG = 0.10, 0.15, 0.05
"""Seconds from the middle of what a reading describes to the reading: measured on an H200 beside a clock."""
FINE = 0.1
SLOW_ROWS = 0.3
"""Rows further apart than this cannot be deconvolved."""
USUAL_WINDOW = 1.0
"""Averaging window of power on Ampere and later (GA100 excepted)."""
HALF_HOURS = 28
SPARSE = 20
"""Times as long as its rows would take that a log may last before only its longest stretch is looked at."""


@dataclass(frozen=True)
class Rows:
    """One GPU's readings as they were taken: times, and the columns that hold anything."""

    gpu: str
    time: Floats
    value: Mapping[str, Floats]

    @property
    def spacing(self) -> float:
        """Median seconds between two rows."""
        return float(np.median(np.diff(self.time))) if self.time.size > 1 else 0.0

    def holes(self) -> Spans:
        """Stretches without rows: more than four usual spacings and more than a second."""
        step = np.diff(self.time)
        at = np.flatnonzero(step > max(4 * self.spacing, 1.0))
        return np.stack([self.time[at], self.time[at + 1]], axis=1)

    def held(self, name: str, at: Floats) -> Floats:
        """The last reading of a column at or before each moment; the first one before it starts."""
        place = np.searchsorted(self.time, at, side="right") - 1
        return self.value[name][np.clip(place, 0, self.time.size - 1)]


def rows_of(run: Run, shift: float = 0.0) -> tuple[Rows, ...]:
    """Each GPU's rows in order of time, ``shift`` seconds added; GPUs with fewer than two rows are left out."""
    table = run.telemetry
    if not len(table):
        return ()
    names = [str(c) for c in table.columns if c not in {"time", "gpu"}]
    found = []
    for gpu, part in table.groupby("gpu", observed=True, sort=True):
        time = part["time"].to_numpy(np.float64) + shift
        _, order = np.unique(time, return_index=True)
        order = order[_together(time[order])]
        columns = {n: part[n].to_numpy(np.float64)[order] for n in names}
        found.append(Rows(str(gpu), time[order], {n: _bridged(v) for n, v in columns.items() if np.isfinite(v).sum() > 1}))
    return tuple(r for r in found if r.time.size > 1)


def _together(time: Floats) -> slice:
    """All of the times; where they are mostly one great hole, the longest stretch without a hole."""
    if time.size < 3 or time[-1] - time[0] < SPARSE * time.size * np.median(np.diff(time)):
        return slice(None)
    step = np.diff(time)
    return longest(np.flatnonzero(step > SPARSE * np.median(step)) + 1, time.size)


def _bridged(values: Floats) -> Floats:
    known = np.isfinite(values)
    if known.all():
        return values
    at = np.arange(values.size)
    return np.interp(at, at[known], values[known])


@dataclass(frozen=True)
class Ticks:
    """Evenly spaced signals of one or several GPUs in step; power is what was drawn, not what the sensor printed."""

    time: Floats
    """Middle of each tick."""
    spacing: float
    value: Mapping[str, Floats]
    deconvolved: bool
    """Whether power is what was drawn, not an average of it."""


def ticks_of(group: Sequence[Rows]) -> Ticks:
    """The group's ticks: 0.1 s apart with power deconvolved where rows are dense enough, else as far apart as the rows.

    Several GPUs of one group give the median of their readings, each tick for itself.
    """
    first = group[0]
    spacing = FINE if first.spacing <= SLOW_ROWS else first.spacing
    grid = np.arange(max(r.time[0] for r in group), min(r.time[-1] for r in group), spacing)
    names = [n for n in first.value if all(n in r.value for r in group)]
    value = {n: _middle([_sampled(r, n, grid) for r in group]) for n in names if n not in {"power_w", INSTANT}}
    instant = INSTANT in names
    if not instant and "power_w" not in names:
        return Ticks(grid, spacing, value, deconvolved=False)
    raw = _middle([np.interp(grid + (0 if instant else POWER_LAG), r.time, r.value[INSTANT if instant else "power_w"]) for r in group])
    fine = not instant and spacing <= FINE
    if fine:
        window = (averaging_window(raw, FINE) if first.spacing <= 2 * FINE else None) or USUAL_WINDOW
        raw = deconvolved(raw, max(round(window / FINE), 1)) if averaged(raw, FINE, window) else raw
    return Ticks(grid, spacing, value | {"power_w": raw}, deconvolved=fine)


def _sampled(rows: Rows, name: str, grid: Floats) -> Floats:
    if name in {"utilization", "memory_activity", "throttle"}:
        return rows.held(name, grid + COUNTER_LAG + FINE / 2)
    return np.interp(grid + TEMPERATURE_LAG, rows.time, rows.value[name])


def _middle(readings: list[Floats]) -> Floats:
    return readings[0] if len(readings) == 1 else np.asarray(np.median(np.stack(readings).astype(np.float32), axis=0), np.float64)


def groups_in_step(rows: Sequence[Rows]) -> list[list[Rows]]:
    """GPUs grouped by the correlation of their power (utilisation where there is no power): a GPU joins the first group it resembles."""
    if len(rows) < 2:
        return [list(rows)]
    first, last = max(r.time[0] for r in rows), min(r.time[-1] for r in rows)
    if last <= first:
        return [[r] for r in rows]
    grid = np.linspace(first, last, 4000)
    traces = [np.interp(grid, r.time, r.value.get("power_w", r.value.get("utilization", np.zeros(r.time.size)))) for r in rows]
    with np.errstate(invalid="ignore", divide="ignore"):  # a GPU that never moves is like no other
        similar = np.corrcoef(traces) > 0.5
    groups: dict[int, list[Rows]] = {}
    for i, row in enumerate(rows):
        groups.setdefault(next((first for first in groups if similar[first, i]), i), []).append(row)
    return [*groups.values()]


def zone_shift(run: Run) -> tuple[float, Gap | None]:
    """Seconds to add to the telemetry's times so that they fit the run's clock, and what to say about it.

    nvidia-smi writes local time without a zone. Whole and half hours are tried; none is taken while the times fit as they are.
    """
    _, times = run.clock()
    if times.size < 2 or not len(run.telemetry):
        return 0.0, None
    seen = run.telemetry["time"].to_numpy(np.float64)
    first, last = float(seen.min()), float(seen.max())
    shifts = np.arange(-HALF_HOURS, HALF_HOURS + 1) * 1800.0
    overlap = np.array([((times >= first + s) & (times <= last + s)).mean() for s in shifts])
    if overlap[HALF_HOURS] >= 0.5 * overlap.max():
        why = None if overlap.max() else Gap("telemetry", "its times do not meet the run's clock, whatever the time zone")
        return 0.0, why
    fitting = shifts[overlap >= 0.999 * overlap.max()]
    shift = float(fitting[np.abs(fitting).argmin()])
    others = f"; {fitting.size} zones fit equally, the nearest was taken" if fitting.size > 1 else ""
    return shift, Gap("telemetry", f"its times carry no zone; {shift / 3600:+g} h were added to fit the run's clock{others}")
