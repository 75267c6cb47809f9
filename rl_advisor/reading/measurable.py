"""Numbers that can be measured with: steps that something counts to, values whose squares are numbers, settings that have an end."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rl_advisor.reading.parsing.gpu_counters import without_counters
from rl_advisor.run import Curve, Floats, Gap, Run

FURTHEST, LARGEST = 1e15, 1e60
"""Steps that are counted, and the size from which a value is infinite: single precision ends far below."""
LEAP = 1e7
"""Usual intervals between two points from which the further one stands on another axis."""


def measurable(part: Run) -> Run:
    """The part without points at no step, what is beyond all measure as infinite, and a gap where points were left out.

    Curves of GPU counters, which stand over the clock, become telemetry.
    """
    part = without_counters(part)
    curves = {name: _counted(curve) for name, curve in part.curves.items()}
    lost = sum(curve.step.size - curves[name].step.size for name, curve in part.curves.items())
    gaps = (*part.gaps, Gap("", f"{lost:,} points stand at no step that can be counted, and were left out")) if lost else part.gaps
    config = {key: _ended(value) for key, value in part.config.items()}
    return replace(part, curves={name: curve for name, curve in curves.items() if curve.step.size}, config=config, gaps=gaps)


def _counted(curve: Curve) -> Curve:
    far = _far(curve.step)
    if far.any():
        curve = curve.points(~far)
    huge = np.abs(curve.value) > LARGEST
    return replace(curve, value=np.where(huge, np.copysign(np.inf, curve.value), curve.value)) if huge.any() else curve


def _far(step: Floats) -> npt.NDArray[np.bool_]:
    """Which points stand where nothing counts to: at no number, or so far from the others that one interval would be all there is."""
    far = ~(np.abs(step) < FURTHEST)
    near = step[~far]
    if near.size < 3 or np.ptp(near) <= LEAP * near.size:
        return far
    usual = max(1.0, float(np.median(np.abs(np.diff(near)))))
    return far | ~(np.abs(step - np.median(near)) <= LEAP * near.size * usual)


def _ended(value: Any) -> Any:
    """A setting as it is, but for a whole number of more digits than anything has."""
    return "(a number of endless digits)" if isinstance(value, int) and abs(value) > LARGEST else value
