"""The judgement written where people already look: TensorBoard, Weights & Biases, MLflow, Trackio; each module is one tracker.

Nothing is written unless it is asked for, each through the tracker's own client. What goes there is a ``Note``: the verdict in a few lines
of Markdown, tags, marks at the steps that matter, and the curves it speaks of. Samples and settings of the run stay where they are.
"""

import re
from dataclasses import dataclass, replace

import numpy as np

from rl_advisor import __version__
from rl_advisor.answers.reports.markdown import short
from rl_advisor.answers.story.telling import tell
from rl_advisor.features.bins import evenly
from rl_advisor.finding import Assessment
from rl_advisor.output.clean import readable
from rl_advisor.run import Curve, Run

PREFIX = "rl-advisor"
"""Begins every name that is written into somebody's tracker, so that nothing of theirs is overwritten."""
CURVES, POINTS, LONGEST_NAME, LONGEST_METRIC, LONGEST_TEXT = 4, 2000, 80, 200, 6000
"""Curves of a note, points of each (charts show a thousand), and characters of a run's name, a metric's and the text."""


@dataclass(frozen=True)
class Note:
    """What is written, the same for every tracker."""

    run: str
    """The run's name with nothing in it but letters, digits, dots and dashes."""
    text: str
    tags: dict[str, str]
    """Without prefix: verdict, call, confidence, first_broken_link, step, version."""
    marks: dict[str, float]
    """Steps worth seeing on a chart, by what they are as a metric: ``rl-advisor/first_break``."""
    curves: tuple[Curve, ...]
    """The outcome and the cause's own metric, by the run's own names."""

    def rows(self, *, alone: bool = False) -> list[tuple[float, dict[str, float]]]:
        """Steps with the marks and, unless they stand ``alone`` (in a run that is there), the points of the curves, in their order."""
        found: dict[float, dict[str, float]] = {}
        for curve in () if alone else self.curves:
            for step, value in zip(*curve.finite(), strict=True):
                found.setdefault(float(step), {})[curve.raw] = float(value)
        for name, step in self.marks.items():
            found.setdefault(step, {})[name] = 1.0
        return sorted(found.items())


def note(run: Run, a: Assessment) -> Note:
    """The note on a run under an assessment."""
    told = tell(run, a)
    shown = [thinned(run.curves[q["metric"]]) for q in told["curves"][:CURVES] if q["metric"] in run.curves]
    marks = {"first_break": a.onset.step if a.onset else None, "best_checkpoint": a.best_checkpoint.step}
    stand = {f"{PREFIX}/{what}": float(step) for what, step in marks.items() if step is not None}
    tags = {name: str(getattr(a, name)) for name in ("verdict", "call", "confidence", "first_broken_link", "step")}
    tags["version"] = __version__
    return Note(bare(a.run) or "run", readable(short(run, a), LONGEST_TEXT), tags, stand, tuple(c for c in shown if c.step.size))


def thinned(curve: Curve) -> Curve:
    """The finite points of a curve, evenly thinned to what a chart can show, the last among them, under its own name made safe."""
    kept = np.flatnonzero(np.isfinite(curve.value))
    return replace(curve.points(kept[evenly(kept.size, POINTS)]), raw=readable(curve.raw, LONGEST_METRIC))


def bare(name: str) -> str:
    """A name that is safe as a folder's and in an address."""
    return re.sub(r"[^\w.-]+", "-", readable(name, LONGEST_NAME)).strip(".-")
