"""Evaluations that are written again with rows that had none: RLlib repeats the last one in its next iteration, then writes NaN."""

import re
from collections import defaultdict
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from rl_advisor.run import Curve, Run

_EVALUATION = re.compile(r"(?:ray/tune/)?evaluation/")
_TELLING = 3
"""Curves of which an evaluation that was done again would hardly repeat all: times, means of lengths."""


def evaluations_once(part: Run) -> Run:
    """The part with each evaluation where it was done; a score that came out the same again stays, since its times differ."""
    groups: dict[bytes, list[Curve]] = defaultdict(list)
    for curve in part.curves.values():
        if _EVALUATION.match(curve.raw) and curve.step.size > 1:
            groups[curve.step.tobytes()].append(curve)
    curves = dict(part.curves)
    for group in groups.values():
        if (keep := _done(group)) is not None:
            curves |= {curve.name: _taken(curve, keep) for curve in group}
    return replace(part, curves=curves) if groups else part


def _done(group: list[Curve]) -> npt.NDArray[np.bool_] | None:
    """At which of their steps something was measured anew; None where too little is written to tell."""
    value = np.array([curve.value for curve in group])
    with np.errstate(invalid="ignore"):
        value = value[((value % 1 != 0) & np.isfinite(value)).any(axis=1)]
    if len(value) < _TELLING:
        return None
    same = ((value[:, 1:] == value[:, :-1]) | (np.isnan(value[:, 1:]) & np.isnan(value[:, :-1]))).all(axis=0)
    again: npt.NDArray[np.bool_] = np.r_[False, same]
    measured: npt.NDArray[np.bool_] = np.isfinite(value).any(axis=0)
    return measured & ~again


def _taken(curve: Curve, keep: npt.NDArray[np.bool_]) -> Curve:
    return replace(curve, step=curve.step[keep], value=curve.value[keep], time=None if curve.time is None else curve.time[keep])
