"""Phases as strips to be drawn: over a stretch of time and over the average step, a row a GPU."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.gpu.phases import GENERATION, TRAINING, WAITING
from rl_advisor.gpu.look import Seen, look
from rl_advisor.gpu.signals import Rows
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
    gpus = [(r, group is seen.group) for group in (seen.group, *seen.others) for r in group]
    begin, end, first = _stretch(seen)
    over_time = tuple(_over_time(seen, r, begin, end, same=same) for r, same in gpus[:MOST_GPUS])
    over_step = tuple(_over_step(seen, r, same=same) for r, same in gpus[:MOST_GPUS]) if len(seen.steps.spans) else ()
    return Strips(over_time, over_step, end - begin, first, seen.split.period, max(len(gpus) - MOST_GPUS, 0))


def _stretch(seen: Seen) -> tuple[float, float, float]:
    """Beginning and end of what is shown over time, and the step it begins in (NaN without step ends)."""
    split, spans = seen.split, seen.steps.spans
    assert split is not None
    labelled = np.unique(split.step[split.step >= 0]) if len(spans) else np.empty(0, np.int64)
    if not labelled.size:
        length = min(float(split.at[-1] - split.at[0]), STEPS * split.period if np.isfinite(split.period) else 60.0)
        middle = float(split.at[split.at.size // 2])
        return max(middle - length / 2, float(split.at[0])), min(middle + length / 2, float(split.at[-1])), float("nan")
    first = int(labelled[max(labelled.size // 2 - STEPS // 2, 0)])
    last = min(first + STEPS, len(spans)) - 1
    return float(spans[first, 0]), float(spans[last, 1]), float(seen.steps.number[first])


def _over_time(seen: Seen, rows: Rows, begin: float, end: float, *, same: bool) -> Strip:
    edges = np.linspace(begin, end, CELLS + 1)
    middle = (edges[:-1] + edges[1:]) / 2
    return Strip(rows.gpu, _names(seen, middle) if same else ("",) * CELLS, _power(rows, middle))


def _over_step(seen: Seen, rows: Rows, *, same: bool) -> Strip:
    """Each cell is a place in the step: the phase it most often is, and the mean power there."""
    spans = seen.steps.spans[:: max(len(seen.steps.spans) // MOST_STEPS, 1)]
    at = spans[:, :1] + np.diff(spans, axis=1) * (np.arange(CELLS) + 0.5) / CELLS
    known = same and "power_w" in seen.ticks.value
    power = np.interp(at, seen.ticks.time, seen.ticks.value["power_w"]) if known else _power(rows, at.ravel()).reshape(at.shape)
    if not same:
        return Strip(rows.gpu, ("",) * CELLS, power.mean(axis=0))
    names = np.array(_names(seen, at.ravel())).reshape(at.shape)
    return Strip(
        rows.gpu, tuple(Counter(column[column != ""].tolist() or [""]).most_common(1)[0][0] for column in names.T), power.mean(axis=0)
    )


def _names(seen: Seen, at: Floats) -> tuple[str, ...]:
    """The phase at each moment; empty where no tick is near."""
    split = seen.split
    assert split is not None
    place = np.clip(np.searchsorted(split.at, at), 0, split.at.size - 1)
    before = np.maximum(place - 1, 0)
    nearest = np.where(np.abs(split.at[before] - at) < np.abs(split.at[place] - at), before, place)
    near = np.abs(split.at[nearest] - at) <= 2 * max(seen.ticks.spacing, float(np.median(np.diff(split.at))) if split.at.size > 1 else 0.0)
    return tuple(_word(seen, int(split.label[i])) if ok else "" for i, ok in zip(nearest, near, strict=True))


def _word(seen: Seen, label: int) -> str:
    assert seen.split is not None
    if label == WAITING:
        return "waiting"
    return {GENERATION: "generation", TRAINING: "training"}[label] if seen.split.named else "other"


def _power(rows: Rows, at: Floats) -> Floats:
    """The GPU's own readings at some moments; NaN without power."""
    return np.interp(at, rows.time, rows.value["power_w"]) if "power_w" in rows.value else np.full(at.size, np.nan)
