"""Curves that trail the policy: a mean over past episodes gives way to the episodes themselves, where they are logged."""

from dataclasses import replace
from functools import lru_cache

from rl_advisor.run import Curve, Run

FEWEST = 10
"""Points, or single episodes, below which the mean stays as it is."""


@lru_cache(maxsize=16)
def untrailed(run: Run, curve: Curve) -> Curve:
    """The curve of single episodes where this one is a mean over past ones, else the mean without its first row, which holds hardly any."""
    step, value = curve.finite()
    if not curve.trailing or value.size < FEWEST:
        return curve
    single = [c for c in run.curves.values() if c.spare == curve.name and not c.trailing and c.numbers.size >= FEWEST]
    if single:
        return replace(max(single, key=lambda c: c.step.size), name=curve.name, mapped=True)
    return replace(curve, step=step[1:], value=value[1:], time=None)
