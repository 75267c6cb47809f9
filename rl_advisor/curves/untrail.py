"""Curves that trail the policy: a mean over past episodes is taken apart into what came between its rows."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from rl_advisor.features.trailing import unaveraged
from rl_advisor.run import Curve, Floats, Run

FEWEST = 5
"""Points below which nothing is taken apart."""


@lru_cache(maxsize=16)
def untrailed(run: Run, curve: Curve) -> Curve:
    """The curve without its lag, where it is a mean over past episodes: the episodes themselves, or what came between its rows."""
    step, value = curve.finite()
    if not curve.trailing or value.size < FEWEST:
        return curve
    single = [c for c in run.curves.values() if c.spare == curve.name and not c.trailing and c.finite()[1].size >= 2 * FEWEST]
    if single:
        return replace(max(single, key=lambda c: c.step.size), name=curve.name, mapped=True)
    count = _episodes(run, step, curve.trailing)
    if count is None:
        return curve
    at, between = unaveraged(step, value, count, curve.trailing)
    return replace(curve, step=at, value=between, trailing=0, time=None) if at.size >= FEWEST else curve


def _episodes(run: Run, step: Floats, window: int) -> Floats | None:
    """How many episodes had ended at each step: as logged, or by their mean length while that still covers all of them."""
    ended, length = run.curves.get("progress/episodes"), run.curves.get("episode/length")
    if ended is not None and ended.finite()[1].size >= FEWEST:
        return np.asarray(np.interp(step, *ended.finite()), dtype=np.float64)
    if length is None or run.step_unit != "env steps" or length.finite()[1].size < FEWEST:
        return None
    count = np.maximum.accumulate(step / np.maximum(np.interp(step, *length.finite()), 1.0))
    return count if count[-1] <= window else None
