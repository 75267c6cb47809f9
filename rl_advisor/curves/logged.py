"""What the run logged at the ends of a curve, numbers that its owner can find, and its best level."""

from dataclasses import dataclass, field

import numpy as np

from rl_advisor.curves.course import Course, course
from rl_advisor.curves.untrail import untrailed
from rl_advisor.output.wording import apart, value
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import metric_unit


@dataclass(frozen=True)
class Logged:
    """The first and last logged value and the best level of a curve of which more is better."""

    name: str
    unit: str
    first: float
    last: float
    best: float
    best_step: float
    curve: Curve = field(repr=False)

    def at(self, step: float) -> str:
        """The value logged at a step, or last before it, or else the first."""
        steps, x = self.curve.finite()
        return self.said(float(x[max(0, int(np.searchsorted(steps, step, "right")) - 1)]))

    def said(self, x: float) -> str:
        """One of its values, with the digits that tell the first, the last and the best apart: one spelling wherever it is said."""
        return value(x, self.unit, apart((self.first, self.last, self.best), self.unit))

    @property
    def went(self) -> str:
        """From where to where it went."""
        return f"from {self.said(self.first)} to {self.said(self.last)}"

    @property
    def measures(self) -> dict[str, float]:
        """The values as measures of a finding."""
        return {"logged_first": self.first, "logged_best": self.best, "logged_best_step": self.best_step, "logged_last": self.last}


def logged(run: Run, curve: Curve) -> Logged:
    """A curve as the run logged it: one that is judged un-averaged, as a mean over past episodes is, is told as it stands in the log."""
    raw = run.curves.get(curve.name, curve)
    x = raw.numbers
    return Logged(curve.name, metric_unit(curve.name), float(x[0]), float(x[-1]), *best_level(run, raw), raw)


def best_level(run: Run | None, curve: Curve) -> tuple[float, float]:
    """The best of a logged curve of which more is better, and its step: the level of what is judged of it, never one lucky point."""
    step, x = curve.finite()
    found = judged_course(run, curve)
    return (float(np.clip(found.best, x.min(), x.max())), found.best_step) if found is not None else (float(x[0]), float(step[0]))


def judged_course(run: Run | None, curve: Curve) -> Course | None:
    """The course of what is judged of a logged curve: without its lag where it is a mean over past episodes."""
    return course(untrailed(run, curve) if run is not None and not curve.name.startswith("eval/") else curve)
