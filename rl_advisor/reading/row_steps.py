"""The steps of a log that only has an order: its rows are counted; where another file tells the same with steps, it goes on behind it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rl_advisor.reading.translating import Translated
from rl_advisor.run import Curve, Curves, Floats, Gap, Named, Run

FOUND = 0.6
"""Share of the rows that must be those of the other file."""


def stepped(items: Sequence[Translated], part: Run, reference: Curves, settings: Named) -> tuple[list[Translated], Run, list[Gap]]:
    """A part whose steps only count rows, on the run's own steps; of what other files tell with steps only what comes after them."""
    every = settings.get("logging_steps")
    pace = float(every) if isinstance(every, int | float) and every >= 1 else 1.0
    axis = _same_rows([item.curve for item in items], reference)
    if axis is None and reference:
        why = "the log names no steps and its numbers were not found in the other files; left out"
        return [], part, [Gap(part.files[0], why)] if items else []
    row, step = axis or (np.array([0.0, 1.0]), np.array([0.0, pace]))
    how = f"logging_steps = {pace:g}" if every else "none is known, so rows are counted"
    gaps = [] if axis or not items else [Gap(part.files[0], f"the log names no steps; {how}")]
    events = tuple(e if e.step is None else replace(e, step=float(_at(np.array([e.step]), row, step)[0])) for e in part.events)
    moved = [replace(item, curve=replace(item.curve, step=_at(item.curve.step, row, step))) for item in items]
    behind = [replace(item, curve=item.curve.points(item.curve.step > (step[-1] if axis else -1))) for item in moved]
    return [item for item in behind if item.curve.step.size], replace(part, events=events), gaps


def _same_rows(rows: Sequence[Curve], reference: Curves) -> tuple[Floats, Floats] | None:
    """The rows that a file with steps has, too, and the step of each; None where the numbers are others."""
    shared = [c for c in rows if c.name in reference and not c.name.startswith("eval/")]
    for curve in sorted(shared, key=lambda c: -np.unique(c.value).size)[:1]:
        known = reference[curve.name]
        size = min(curve.step.size, known.step.size)
        if np.isclose(curve.value[:size], known.value[:size], rtol=1e-3, equal_nan=True).mean() >= FOUND:
            return curve.step[:size], known.step[:size]
    return None


def _at(rows: Floats, row: Floats, step: Floats) -> Floats:
    """The steps of row numbers, going on at the usual pace behind what is known."""
    pace = float(np.median(np.diff(step) / np.diff(row))) if row.size > 1 else 1.0
    return np.where(rows > row[-1], step[-1] + (rows - row[-1]) * pace, np.interp(rows, row, step))
