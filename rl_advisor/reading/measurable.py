"""Numbers that can be measured with: steps that something counts to, values whose squares are numbers, settings that have an end."""

from dataclasses import replace
from itertools import islice

import numpy as np
import numpy.typing as npt

from rl_advisor.reading.parsing.columns import WIDEST
from rl_advisor.reading.parsing.gpu_counters import without_counters
from rl_advisor.run import Curve, Floats, Gap, Run

FURTHEST, LARGEST = 1e15, 1e60
"""Steps that are counted, and the size from which a value is infinite: single precision ends far below."""
LONGEST = 1000
"""Characters of a name: rules and answers look at each name many times."""
FEWEST = 5
"""Measurements that stand every so many rows."""
LEAP = 1e7
"""Usual intervals between two points from which the further one stands on another axis."""


def measurable(part: Run) -> Run:
    """The part without points at no step or not measured, what is beyond all measure as infinite, and a gap where points were left out.

    Curves of GPU counters, which stand over the clock, become telemetry.
    """
    part = without_counters(part)
    usable = ((name, curve) for name, curve in part.curves.items() if len(name) <= LONGEST)
    many, part = len(part.curves), replace(part, curves=dict(islice(usable, WIDEST)))
    curves = {name: _counted(curve) for name, curve in part.curves.items()}
    lost = sum(curve.step.size - curves[name].step.size for name, curve in part.curves.items())
    gaps = (*part.gaps, Gap("", f"{lost:,} points stand at no step that can be counted, and were left out")) if lost else part.gaps
    if left := many - len(part.curves):
        why = f"{left:,} metrics with names of more than {LONGEST:,} characters, or beyond the first {WIDEST:,}, were left out"
        gaps += (Gap("", why),)
    seldom = {name: measured for name, c in curves.items() if (measured := _at_a_cadence(c.value)) is not None}
    curves |= {name: curves[name].points(measured) for name, measured in seldom.items()}
    gaps += tuple(
        Gap(curves[name].source, f"{curves[name].raw} holds the same number between {measured.sum()} measurements: only these are read")
        for name, measured in seldom.items()
    )
    endless = "(a number of endless digits)"  # of more than anything has
    config = {k: endless if isinstance(value, int) and abs(value) > LARGEST else value for k, value in part.config.items()}
    return replace(part, curves={name: curve for name, curve in curves.items() if curve.step.size}, config=config, gaps=gaps)


def _counted(curve: Curve) -> Curve:
    far = _far(curve.step)
    if far.any():
        curve = curve.points(~far)
    huge = np.abs(curve.value) > LARGEST
    return replace(curve, value=np.where(huge, np.copysign(np.inf, curve.value), curve.value)) if huge.any() else curve


def _at_a_cadence(value: Floats) -> npt.NDArray[np.bool_] | None:
    """Which points were measured where all others hold one and the same number and these stand every so many rows; None where not.

    Who evaluates every tenth step and writes a row at each has to write something between: mostly a 0.
    """
    if value.size < 2 * FEWEST:
        return None
    measured = value != max(value[:2], key=lambda between: int(np.sum(value == between)))
    every = np.diff(np.flatnonzero(measured))
    regular = every.size >= FEWEST - 1 and every[1] > 1 and every.max() == every[1] == every[1:-1].min()
    return measured if regular and np.unique(value[measured]).size > 1 else None


def _far(step: Floats) -> npt.NDArray[np.bool_]:
    """Which points stand where nothing counts to: at no number, or so far from the others that one interval would be all there is."""
    far = ~(np.abs(step) < FURTHEST)
    near = step[~far]
    if near.size < 3 or np.ptp(near) <= LEAP * near.size:
        return far
    usual = max(1.0, float(np.median(np.abs(np.diff(near)))))
    return far | ~(np.abs(step - np.median(near)) <= LEAP * near.size * usual)
