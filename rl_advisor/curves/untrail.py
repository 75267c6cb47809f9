"""Curves that trail the policy: a mean over past episodes gives way to the episodes themselves, where they are logged."""

import re
from dataclasses import replace
from functools import lru_cache

import numpy as np

from rl_advisor.run import Curve, Floats, Run
from rl_advisor.vocabulary import words

_SO_FAR = re.compile(r"\b(so far|all|overall|cumulative|cum) (mean|avg|average)\b|\b(mean|avg|average)\b.{0,60}\b(so far|all|overall)\b")
GROWN = 2.0
"""How many times as much what is taken out of a mean over all episodes may scatter late: the digits of the print are multiplied."""
FEWEST = 10
"""Points, or single episodes, below which the mean stays as it is."""


@lru_cache(maxsize=16)
def untrailed(run: Run, curve: Curve) -> Curve:
    """The curve of single episodes where this one is a mean over past ones, else the mean without its first row, which holds hardly any."""
    step, value = curve.finite()
    if not curve.trailing and value.size >= FEWEST and run.step_unit == "episodes" and _SO_FAR.search(words(curve.raw)):
        return _since_start(curve, step, value)
    if not curve.trailing or value.size < FEWEST:
        return curve
    single = [c for c in run.curves.values() if c.spare == curve.name and not c.trailing and c.numbers.size >= FEWEST]
    if single:
        return replace(max(single, key=lambda c: c.step.size), name=curve.name, mapped=True)
    return replace(curve, step=step[1:], value=value[1:], time=None)


def _since_start(curve: Curve, step: Floats, value: Floats) -> Curve:
    """What each stretch adds to a mean over all episodes so far, which hides the present; out of a window's mean comes ever more noise."""
    single = np.diff(step * value) / np.diff(step)
    early, late = (float(np.abs(np.diff(part)).mean()) for part in np.array_split(single, [single.size // 2]))
    return replace(curve, step=step[1:], value=single, time=None) if late <= GROWN * early else curve
