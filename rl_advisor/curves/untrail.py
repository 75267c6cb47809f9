"""Curves that trail the policy: a mean over past episodes gives way to the episodes themselves, where they are logged."""

from dataclasses import replace
from functools import lru_cache

from rl_advisor.run import Curve, Run

FEWEST = 10
"""Single episodes below which the mean over them stays."""


@lru_cache(maxsize=16)
def untrailed(run: Run, curve: Curve) -> Curve:
    """The curve of single episodes where this one is a mean over past ones, else the curve itself."""
    single = [c for c in run.curves.values() if c.spare == curve.name and not c.trailing and c.finite()[1].size >= FEWEST]
    return replace(max(single, key=lambda c: c.step.size), name=curve.name, mapped=True) if curve.trailing and single else curve
