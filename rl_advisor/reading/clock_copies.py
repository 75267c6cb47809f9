"""Curves that a logger wrote a second time over the seconds: rsl_rl puts ``Train/mean_reward/time`` beside ``Train/mean_reward``."""

from dataclasses import replace

import numpy as np

from rl_advisor.run import Curve, Run

_CLOCKS = ("/time", "/wall_time", "_by_time")


def without_clock_copies(part: Run) -> Run:
    """The part without the curves that repeat the numbers of another one over a clock, which is no second axis of the run."""
    copies = [name for name in part.curves for clock in _CLOCKS if name.endswith(clock) and _repeats(part, name, name.removesuffix(clock))]
    return replace(part, curves={name: curve for name, curve in part.curves.items() if name not in copies}) if copies else part


def _repeats(part: Run, name: str, base: str) -> bool:
    other: Curve | None = part.curves.get(base)
    if other is None:
        return False
    a, b = part.curves[name].value, other.value
    size = min(a.size, b.size)
    return bool(size) and 10 * size >= 9 * max(a.size, b.size) and bool(np.isclose(a[:size], b[:size], equal_nan=True).mean() > 0.9)
