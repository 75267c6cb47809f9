"""What the run logged at the ends and at the best of a curve: the numbers that its owner can find, none smoothed."""

from dataclasses import dataclass, field

import numpy as np

from rl_advisor.output.wording import apart, value
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import metric


@dataclass(frozen=True)
class Logged:
    """The first, last, best and lowest logged value of a curve of which more is better."""

    name: str
    unit: str
    first: float
    last: float
    best: float
    best_step: float
    lowest: float
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
    return logged_of(run.curves.get(curve.name, curve))


def logged_of(curve: Curve) -> Logged:
    """The values of a curve that stands as it was logged."""
    step, x = curve.finite()
    top, known = int(np.argmax(x)), metric(curve.name)
    return Logged(
        curve.name, known.unit if known else "", float(x[0]), float(x[-1]), float(x[top]), float(step[top]), float(x.min()), curve
    )
