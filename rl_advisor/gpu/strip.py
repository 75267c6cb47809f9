"""Phases as strips to be drawn: over a stretch of time and over the average step, a row a GPU."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rl_advisor.features import TooFewPoints
from rl_advisor.gpu.look import Seen, look
from rl_advisor.gpu.signals import Rows
from rl_advisor.gpu.split import Split
from rl_advisor.run import Floats, Run

MOST_GPUS = 16
CELLS = 200
MOST_STEPS = 200
STEPS = 10
"""Steps that the strip over time shows, from the middle of the run."""


@dataclass(frozen=True)
class Strip:
    """One GPU: the phase and the mean power of each cell; power NaN where none was read, an empty name where nothing is known."""

    gpu: str
    names: tuple[str, ...]
    power: Floats


@dataclass(frozen=True)
class Strips:
    """Rows over a stretch of ``seconds`` beginning at step ``first_step``, and over the average step; ``more`` GPUs are not shown."""

    over_time: tuple[Strip, ...]
    over_step: tuple[Strip, ...]
    seconds: float
    first_step: float
    period: float
    more: int


def strips(run: Run) -> Strips | None:
    """The strips of a run; None without telemetry that can be laid over steps, or that can be split at all."""
    if not len(run.telemetry):
        return None
    try:
        seen = look(run)
    except TooFewPoints:
        return None
    if seen.split is None or not seen.split.at.size:
        return None
    split, gpus = seen.split, [(r, group is seen.group) for group in (seen.group, *seen.others) for r in group]
    begin, end, first = _stretch(seen, split)
    cells = (np.arange(CELLS) + 0.5) / CELLS
    spans = seen.steps.spans[:: max(len(seen.steps.spans) // MOST_STEPS, 1)]
    moments = (begin + (end - begin) * cells[None, :], spans[:, :1] + np.diff(spans, axis=1) * cells)
    over_time, over_step = (tuple(_strip(seen, split, r, at, same=same) for r, same in gpus[:MOST_GPUS] if at.size) for at in moments)
    return Strips(over_time, over_step, end - begin, first, split.period, max(len(gpus) - MOST_GPUS, 0))


def _stretch(seen: Seen, split: Split) -> tuple[float, float, float]:
    """Beginning and end of what is shown over time, and the step it begins in (NaN without step ends)."""
    spans = seen.steps.spans
    labelled = np.unique(split.step[split.step >= 0]) if len(spans) else np.empty(0, np.int64)
    if not labelled.size:
        length = min(float(split.at[-1] - split.at[0]), STEPS * split.period if np.isfinite(split.period) else 60.0)
        middle = float(split.at[split.at.size // 2])
        return max(middle - length / 2, float(split.at[0])), min(middle + length / 2, float(split.at[-1])), float("nan")
    first = int(labelled[max(labelled.size // 2 - STEPS // 2, 0)])
    last = min(first + STEPS, len(spans)) - 1
    return float(spans[first, 0]), float(spans[last, 1]), float(seen.steps.number[first])


def _strip(seen: Seen, split: Split, rows: Rows, at: Floats, *, same: bool) -> Strip:
    """A GPU at the moments of every cell, one column a cell: the phase it most often is, where it moves with the split group, and power."""
    names = _names(split, at, seen.ticks.spacing) if same else np.full(at.shape, "")
    drawn = seen.ticks.value.get("power_w") if same and len(at) > 1 else None
    if drawn is not None:
        power = np.interp(at, seen.ticks.time, drawn)
    else:
        power = np.interp(at, rows.time, rows.value["power_w"]) if "power_w" in rows.value else np.full(at.shape, np.nan)
    usual = tuple(Counter(column[column != ""].tolist() or [""]).most_common(1)[0][0] for column in names.T)
    return Strip(rows.gpu, usual, power.mean(axis=0))


def _names(split: Split, at: Floats, spacing: float) -> npt.NDArray[np.str_]:
    """The phase at each moment; empty where no tick is near."""
    cell = float(np.median(np.diff(split.at))) if split.at.size > 1 else 0.0
    place = np.clip(np.searchsorted(split.at, at - cell / 2), 0, split.at.size - 1)
    near = np.abs(split.at[place] - at) <= 2 * max(spacing, cell)
    return np.where(near, split.kinds[split.label[place]], "")
