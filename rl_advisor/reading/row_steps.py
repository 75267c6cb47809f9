"""Which step each row of a log is that only has an order: found by its numbers in a source that has steps."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rl_advisor.reading.translating import Translated
from rl_advisor.run import Curve, Event, Floats, Gap, Run

_WINDOW = 400


def stepped(
    items: Sequence[Translated], part: Run, reference: Mapping[str, Curve], settings: Mapping[str, Any]
) -> tuple[list[Translated], Run, list[Gap]]:
    """A part whose steps only count rows, on the run's own steps."""
    where = part.files[0]
    training = [i.curve for i in items if not i.curve.name.startswith("eval/")]
    found = steps_of_rows(training, reference) if reference else None
    if found is not None:
        row, step = found
        gaps: list[Gap] = []
    else:
        every = settings.get("logging_steps")
        pace = float(every) if isinstance(every, int | float) and every >= 1 else 1.0
        row, step = np.array([0.0, 1.0]), np.array([0.0, pace])
        how = f"logging_steps = {pace:g}" if every else "none is known, so rows are counted"
        gaps = [Gap(where, f"the log names no steps; {how}")] if training else []
        if reference and training:
            gaps = [Gap(where, "the log names no steps and its numbers were not found in the other files; left out")]
            return [], replace(part, events=_moved(part.events, row, step)), gaps
    moved = [replace(i, curve=_beyond(replace(i.curve, step=_at(i.curve.step, row, step)), reference)) for i in items]
    return [i for i in moved if i.curve.step.size], replace(part, events=_moved(part.events, row, step)), gaps


def _beyond(curve: Curve, reference: Mapping[str, Curve]) -> Curve:
    """Of an evaluation only what comes after the points that have exact steps: here it has the step of the training row before it."""
    known = reference.get(curve.name)
    if known is None or not curve.name.startswith("eval/"):
        return curve
    keep = curve.step > known.step[-1]
    return replace(curve, step=curve.step[keep], value=curve.value[keep])


def _at(rows: Any, row: Any, step: Any) -> Any:
    """The steps of row numbers, going on at the last pace outside of what is known."""
    if row.size == 1:
        return rows - row[0] + step[0]
    first, last = (step[1] - step[0]) / (row[1] - row[0]), (step[-1] - step[-2]) / (row[-1] - row[-2])
    out = np.interp(rows, row, step)
    out = np.where(rows < row[0], np.maximum(step[0] - (row[0] - rows) * first, 0), out)
    return np.where(rows > row[-1], step[-1] + (rows - row[-1]) * last, out)


def _moved(events: Sequence[Event], row: Any, step: Any) -> tuple[Event, ...]:
    return tuple(e if e.step is None else replace(e, step=float(_at(np.array([e.step]), row, step)[0])) for e in events)


def steps_of_rows(rows: Sequence[Curve], reference: Mapping[str, Curve]) -> tuple[Floats, Floats] | None:
    """Row numbers and the step of each, or None when the rows are not found in the reference.

    The rows are looked up in order by up to four metrics both sides have; rows beyond the reference go on at its pace.
    """
    keys = sorted((c for c in rows if c.name in reference and c.step.size >= 1), key=lambda c: -np.unique(c.value).size)[:4]
    keys = [c for c in keys if np.unique(c.value).size > 1 or c.step.size < 3]
    if not keys:
        return None
    row, left = _table(keys)
    step, right = _table([reference[c.name] for c in keys])
    if not row.size or not step.size:
        return None
    place = _places(left, right)
    hit = place >= 0
    if hit.sum() < max(1, 0.6 * min(row.size, step.size)):
        return None
    return row, _filled(row, np.where(hit, step[place], np.nan))


def _table(curves: Sequence[Curve]) -> tuple[Floats, Floats]:
    """Steps that all curves have, and a row of their values for each."""
    step = np.unique(curves[0].step)
    for curve in curves[1:]:
        common = np.intersect1d(step, curve.step)
        step = common if common.size >= 0.5 * step.size else step
    columns = []
    for curve in curves:
        at = np.clip(np.searchsorted(curve.step, step), 0, curve.step.size - 1)
        columns.append(np.where(curve.step[at] == step, curve.value[at], np.nan))
    return step, np.column_stack(columns)


def _places(left: Floats, right: Floats) -> np.ndarray:
    """For each row of ``left`` the next row of ``right`` with the same numbers, -1 when there is none."""
    out = np.full(len(left), -1)
    at = 0
    for i, row in enumerate(left):
        for start in (at, 0):
            same = np.isclose(right[start : start + _WINDOW], row, rtol=1e-3, atol=1e-9, equal_nan=True).all(axis=1)
            if same.any():
                out[i] = start + int(same.argmax())
                at = out[i] + 1
                break
    return out


def _filled(row: Floats, step: Floats) -> Floats:
    """Rows that were not found get the step between, before or after their neighbours, at the median pace."""
    known = np.isfinite(step)
    if known.all():
        return step
    pace = float(np.median(np.diff(step[known]) / np.diff(row[known]))) if known.sum() > 1 else 1.0
    filled = np.interp(row, row[known], step[known])
    before, after = row < row[known][0], row > row[known][-1]
    filled[before] = np.maximum(step[known][0] - (row[known][0] - row[before]) * pace, 0)
    filled[after] = step[known][-1] + (row[after] - row[known][-1]) * pace
    return np.round(filled)
