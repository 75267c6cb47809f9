"""Recordings taken apart by their true phases and put together anew, in proportions that were never recorded."""

from collections.abc import Mapping
from functools import cache
from itertools import pairwise

import numpy as np
from rl_advisor.gpu.look import look
from rl_advisor.run import Floats

from gpu_loops import CELL, IDLE_W, Loop, Sensor, settled_loop
from gpu_runs import CLASSES, recorded, step_ends, truth

FINE = 0.1
IDLE = np.array([IDLE_W, 0.0, 0.0])
RECIPES: Mapping[str, Mapping[str, float]] = {
    "as recorded": {"generate": 1.3, "train": 0.9, "reward": 0.05},
    "training-bound": {"generate": 0.6, "train": 3.0, "reward": 0.05},
    "long generation": {"generate": 6.0, "train": 1.0, "reward": 0.05},
    "quick steps": {"generate": 0.8, "train": 0.5, "reward": 0.05},
    "slow reward": {"generate": 1.3, "train": 0.9, "reward": 2.0},
    "rewards and checkpoints": {"generate": 1.3, "train": 0.9, "reward": 1.0, "checkpoint": 1.5},
    "waiting for data": {"idle": 0.8, "generate": 1.3, "train": 0.9, "reward": 0.05},
    "long steps": {"generate": 6.0, "train": 4.0, "reward": 0.4},
    "levels half as far apart": {"generate": 1.3, "train": 0.9, "reward": 0.5, "apart": 0.5},
}
"""Seconds of each part of a step; ``apart`` scales the distance of training's levels from generation's."""


@cache
def _pieces(name: str) -> tuple[list[Floats], list[Floats]]:
    """Generation and training of every step: power (without the sensor's average), memory activity and utilisation, each 0.1 s."""
    ticks, (_, spans), ends = look(recorded(name)).ticks, truth(name), step_ends(name)
    signal = np.stack([ticks.value[n] for n in ("power_w", "memory_activity", "utilization")], axis=1)
    label = np.full(ticks.time.size, -1)
    for phase, start, end in zip(spans["phase"], spans["start"], spans["end"], strict=True):
        label[(ticks.time >= start) & (ticks.time < end)] = CLASSES[phase]
    steps = [(ticks.time >= a) & (ticks.time < b) for a, b in pairwise(ends)]
    whole = [s for s in steps if (label[s] == 0).sum() > 3 and (label[s] == 1).sum() > 2]
    return [signal[s & (label == 0)] for s in whole], [signal[s & (label == 1)] for s in whole]


def put_together(name: str, recipe: Mapping[str, float], *, seconds: float = 55.0, seed: int = 0) -> Loop:
    """A loop of that recording's pieces in a recipe's proportions, read through the usual sensors."""
    rng = np.random.default_rng(seed)
    generation, training = _pieces(name)
    usual = np.vstack(generation).mean(axis=0)
    parts, ends, now, step = [("idle", np.tile(IDLE, (600, 1)))], [], 6.0, 0
    while now < seconds + 6 or step < 8:
        step += 1
        for kind in ("idle", "generate", "reward", "train", "checkpoint"):
            lasts = recipe.get(kind, 0.0) * float(np.exp(0.04 * rng.normal()))
            if not lasts or (kind == "checkpoint" and step % 2):
                continue
            if kind == "checkpoint":
                ends.append(now)
            block = np.tile(IDLE, (1, 1)) if kind in {"idle", "reward", "checkpoint"} else None
            if block is None:
                from_these = generation if kind == "generate" else training
                block = from_these[rng.integers(len(from_these))]
                block = usual + (block - usual) * recipe.get("apart", 1.0) if kind == "train" else block
            parts.append((kind, _lasting(block, lasts)))
            now += len(parts[-1][1]) * CELL
        if len(ends) < step:
            ends.append(now)
    return settled_loop(parts, ends, Sensor(), rng)


def _lasting(block: Floats, seconds: float) -> Floats:
    """The block, its middle repeated or left out, every hundredth of a second for so long."""
    n, fine = max(round(seconds / CELL), 1), np.repeat(block, round(FINE / CELL), axis=0)
    if n <= len(fine):
        return np.vstack([fine[: n // 2], fine[len(fine) - (n - n // 2) :]])
    third = len(fine) // 3
    middle = fine[third : len(fine) - third]
    middle = np.vstack([middle, middle[::-1]])
    need = n - 2 * third
    return np.vstack([fine[:third], np.tile(middle, (need // len(middle) + 1, 1))[:need], fine[len(fine) - third :]])
