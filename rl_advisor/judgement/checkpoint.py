"""Which checkpoint to keep: the best smoothed score among those that exist on disk, the earlier one among equals."""

import numpy as np

from rl_advisor.assessment import BestCheckpoint
from rl_advisor.features.bins import running_mean
from rl_advisor.finding import number
from rl_advisor.judgement.case import Case
from rl_advisor.run import Floats
from rl_advisor.trajectory import Shape

NOTHING = "no checkpoint is on disk, and no score that can be trusted says which step was best"


def best_checkpoint(case: Case, *, reward_trusted: bool) -> BestCheckpoint:
    """The step and path to keep, and why.

    The held-out score decides; without one the training reward does, unless it is not to be trusted. A path is only given for a
    checkpoint that exists.
    """
    s = case.held or (case.train if reward_trusted else None)
    saved = sorted(case.run.checkpoints, key=lambda c: c.step)
    if s is None:
        first = saved[0] if saved else None
        why = "no score says which one is best, so this is only the earliest" if saved else NOTHING
        if saved and case.train is not None:
            why = "no score that can be trusted says which one is best; the earliest has been changed least by what went wrong"
        return BestCheckpoint(step=first.step if first else 0, path=first.path if first else None, why=why)
    level = levels(s)
    tie = max(0.1 * noise_of(s), 5e-4 * abs(s.best))  # a whole standard error gives away more than the earlier checkpoint is worth
    best = int(np.argmax(level >= level.max() - tie))
    step, value = float(s.step[best]), float(level[best])
    if not saved:
        return BestCheckpoint(step=round(step), why=f"{s.name} was best near there ({number(value)}), but no checkpoint is on disk")
    stands = np.interp([c.step for c in saved], s.step, level)
    earliest = int(np.argmax(stands >= stands.max() - tie))
    chosen, at = saved[earliest], float(stands[earliest])
    if at < s.start - max(s.margin, 2 * noise_of(s)):
        why = f"{s.name} was best near there ({number(value)}); the best checkpoint on disk, {chosen.path}, stands at {number(at)}, "
        why += "below the start"
        return BestCheckpoint(step=round(step), why=why)
    kind = "held-out score" if s is case.held else "training reward, the best proxy that is logged"
    why = f"{s.name} ({kind}) stands at {number(at)} there, its smoothed best is {number(s.best)} near step {s.best_step:.0f}"
    return BestCheckpoint(step=chosen.step, path=chosen.path, why=why)


def levels(s: Shape) -> Floats:
    """How good the policy was at each point: a mean of its neighbours that weighs near ones more, a twentieth of the curve wide.

    On 109 real runs whose other evaluation episodes were held back, the highest of these levels lost less than the highest of an even mean
    over a fortieth (benchmarks/split_halves.py). A first point that stands apart is the policy before training, and stays as it is.
    """
    width = max(3, s.n // 20)
    level = running_mean(running_mean(s.value, width), width)
    if s.smoothed[0] == s.value[0]:
        level[0] = s.value[0]
    return level


def noise_of(s: Shape) -> float:
    """One standard error of a mean of about five points; the noise is that of the part up to the best, for a fall behind it is no noise."""
    part = s.value[: max(5, int(np.searchsorted(s.step, s.best_step)) + 3)]
    return float(1.4826 * np.median(np.abs(np.diff(part))) / np.sqrt(2 * 5))
