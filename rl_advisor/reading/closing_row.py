"""The summary with which transformers' Trainer closes a run repeats the last step; in trackers it looks like a point, so it is cut."""

from dataclasses import replace

import numpy as np

from rl_advisor.run import Curve, Run

_SUMMARY = ("train_runtime", "train_samples_per_second", "train_steps_per_second", "train_loss", "total_flos")
_SAME_CALL_S = 0.25
"""Points of one log call are written within this time."""


def without_closing_row(part: Run) -> Run:
    """The part without the closing summary and without what it repeats in the same call; unchanged when it has none."""
    marks = [c for n, c in part.curves.items() if n.rsplit("/", 1)[-1] == "train_runtime" and c.step.size]
    if not marks:
        return part
    kept = {n: _cut(c, marks[0]) for n, c in part.curves.items() if n.rsplit("/", 1)[-1] not in _SUMMARY}
    return replace(part, curves={n: c for n, c in kept.items() if c.step.size})


def _cut(curve: Curve, mark: Curve) -> Curve:
    """The curve without what it repeats in the summary's call; a last step that was logged just before it stays."""
    if curve.time is None or mark.time is None or not curve.step.size:
        return curve
    summary = (curve.step[:, None] == mark.step).any(axis=1) & (np.abs(curve.time[:, None] - mark.time) < _SAME_CALL_S).any(axis=1)
    for step in np.unique(curve.step[summary]):
        at = np.flatnonzero(curve.step == step)
        summary[at[np.argmin(curve.time[at])]] = False
    return replace(curve, step=curve.step[~summary], value=curve.value[~summary], time=curve.time[~summary]) if summary.any() else curve
