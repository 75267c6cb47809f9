"""Which checkpoint to keep: the best smoothed score among those that exist on disk, the earlier one among equals."""

import numpy as np

from rl_advisor.assessment import BestCheckpoint
from rl_advisor.finding import number
from rl_advisor.judgement.case import Case
from rl_advisor.trajectory import Shape


def best_checkpoint(case: Case, *, reward_trusted: bool) -> BestCheckpoint:
    """The step and path to keep, and why.

    The held-out score decides; without one the training reward does, unless it is not to be trusted. A path is only given for a
    checkpoint that exists.
    """
    s = case.held or (case.train if reward_trusted else None)
    saved = sorted(case.run.checkpoints, key=lambda c: c.step)
    if s is None:
        first = saved[0] if saved else None
        why = "no score says which one is best, so this is only the earliest"
        if case.train is not None:
            why = "no score that can be trusted says which one is best; the earliest has been changed least by what went wrong"
        return BestCheckpoint(step=first.step if first else 0, path=first.path if first else None, why=why)
    step = earliest_best(s)
    value = level_at(s, step)
    if not saved:
        return BestCheckpoint(step=round(step), why=f"{s.name} was best near there ({number(value)}), but no checkpoint is on disk")
    highest = max(level_at(s, c.step) for c in saved)
    chosen = next(c for c in saved if level_at(s, c.step) >= highest - tolerance(s) / 2)
    at = level_at(s, chosen.step)
    if at < s.start - max(s.margin, 2 * tolerance(s)):
        why = f"{s.name} was best near there ({number(value)}); the best checkpoint on disk, {chosen.path}, stands at {number(at)}, "
        why += "below the start"
        return BestCheckpoint(step=round(step), why=why)
    kind = "held-out score" if s is case.held else "training reward, the best proxy that is logged"
    why = f"{s.name} ({kind}) stands at {number(at)} there, its smoothed best is {number(s.best)} near step {s.best_step:.0f}"
    return BestCheckpoint(step=chosen.step, path=chosen.path, why=why)


def earliest_best(s: Shape) -> float:
    """The first step whose smoothed value is within noise of the best."""
    return float(s.step[int(np.argmax(s.smoothed >= s.best - tolerance(s)))])


def tolerance(s: Shape) -> float:
    """Differences of the smoothed curve that noise makes: one standard error of a mean of about five points, at least a hair.

    The noise is that of the part up to the best, because a fall behind it is no noise.
    """
    part = s.value[: max(5, int(np.searchsorted(s.step, s.best_step)) + 3)]
    scatter = float(1.4826 * np.median(np.abs(np.diff(part))) / np.sqrt(2))
    return float(max(scatter / np.sqrt(5), 1e-3 * max(abs(s.best), 1e-6)))


def level_at(s: Shape, step: float) -> float:
    """The smoothed value at a step."""
    return float(np.interp(step, s.step, s.smoothed))
