"""Which checkpoint to keep: the best smoothed score among those that exist on disk, the earlier one among equals."""

from dataclasses import dataclass

import numpy as np

from rl_advisor.assessment import BestCheckpoint
from rl_advisor.curves.course import Course
from rl_advisor.curves.logged import logged_of
from rl_advisor.curves.outcome_shape import FEWEST, MATERIAL
from rl_advisor.features.bins import running_mean
from rl_advisor.judgement.case import Case
from rl_advisor.run import Curve, Floats

NOTHING = "no checkpoint is on disk, and no score that can be trusted says which step was best"
TIE = 0.1
"""Standard errors within which two levels are equals. On the second half of strangers' evaluation episodes a whole one gives away more
than the earlier checkpoint is worth: docs/log.md."""
BREAK = 0.4
"""Share of its range that a course must fall from one point to the next to break."""


@dataclass(frozen=True)
class Standing:
    """How good the policy was over the run, by the curve that can be trusted."""

    name: str
    step: Floats
    level: Floats
    tie: float
    bottom: float
    """A level below which a checkpoint is worse than the untrained policy, noise allowed for."""
    measured: Course | None
    """The curve as measured; None where it has too few points for more than a look."""
    logged: Curve
    """The curve as the run logged it: what a person is told."""

    @property
    def logged_best(self) -> tuple[float, float]:
        """The best logged value, and its step."""
        step, x = self.logged.finite()
        return float(x.max()), float(step[int(np.argmax(x))])

    def logged_at(self, at: float) -> float:
        """The value logged at a step, or last before it, or else the first."""
        step, x = self.logged.finite()
        return float(x[max(0, int(np.searchsorted(step, at, "right")) - 1)])

    def said(self, x: float) -> str:
        """A value as it is said."""
        return logged_of(self.logged).said(x)


def best_checkpoint(case: Case, *, reward_trusted: bool) -> BestCheckpoint:
    """The step and path to keep, and why.

    The held-out score decides; without one the training reward does, unless it is not to be trusted. A path is only given for a
    checkpoint that exists.
    """
    s = standing(case, reward_trusted=reward_trusted)
    saved = sorted(case.run.checkpoints, key=lambda c: c.step)
    if s is None:
        first = saved[0] if saved else None
        why = "no score says which one is best, so this is only the earliest" if saved else NOTHING
        if saved and case.train is not None:
            why = "no score that can be trusted says which one is best; the earliest has been changed least by what went wrong"
        return BestCheckpoint(step=first.step if first else 0, path=first.path if first else None, why=why)
    best = int(np.argmax(s.level >= s.level.max() - s.tie))
    step = float(s.step[best])
    if not saved:
        top, at = s.logged_best
        return BestCheckpoint(step=round(step), why=f"no checkpoint is on disk; {s.name} was best at step {at:.0f} ({s.said(top)})")
    stands = np.interp([c.step for c in saved], s.step, s.level)
    earliest = int(np.argmax(stands >= stands.max() - s.tie))
    chosen, at = saved[earliest], float(stands[earliest])
    if at < s.bottom:
        why = f"no saved checkpoint beats the start: at the best of them, {chosen.path}, {s.name} is {s.said(s.logged_at(chosen.step))}"
        return BestCheckpoint(step=round(step), why=why)
    return BestCheckpoint(step=chosen.step, path=chosen.path, why=_why(s, chosen.step))


def _why(s: Standing, at: float) -> str:
    """What was logged at the checkpoint and at best, and how it was chosen."""
    kind = "held-out score" if s.name.startswith("eval/") else "training reward, the best proxy that is logged"
    top, best_step = s.logged_best
    why = f"{s.name} ({kind}) is {s.said(s.logged_at(at))} there; its best is {s.said(top)} at step {best_step:.0f}"
    if s.measured is None:
        return f"{why}, of {s.step.size} points: too few to tell noise from progress"
    return f"{why}. Chosen by the smoothed curve, the earlier of equals"


def standing(case: Case, *, reward_trusted: bool) -> Standing | None:
    """The levels to choose by; raw ones where the curve has too few points. None when nothing can be trusted."""
    performance = case.performance
    for course in (performance.held, performance.train if reward_trusted else None):
        if course is None:
            continue
        logged = case.run.curves.get(course.name, course.curve)
        if course.n < FEWEST:
            return Standing(course.name, course.level.step, course.level.value, tie=0.0, bottom=-np.inf, measured=None, logged=logged)
        error = course.level.noise / 5**0.5  # of a mean of about five points
        tie = max(TIE * error, 1e-9 * abs(course.best))  # rounding is no difference
        start = began(course.level.value)
        margin = max(MATERIAL * max(float(np.ptp(course.middle)), abs(start)), 2 * error)
        return Standing(course.name, course.level.step, levels(course), tie, start - margin, course, logged)
    return None


def began(x: Floats) -> float:
    """The level at the start: the median of the first points, or the first alone where the run broke right after it."""
    usual = float(np.median(x[: max(3, x.size // 20)]))
    return float(x[0]) if abs(x[0] - usual) > BREAK / 2 * float(np.ptp(x)) else usual


def levels(course: Course) -> Floats:
    """How good the policy was at each point: a mean of its neighbours that weighs near ones more, a twentieth of the curve wide.

    No mean reaches across a break: before a cliff the level is that before the cliff. On 109 real runs whose other evaluation episodes were
    held back, the highest of these levels lost less than the highest of the course itself or of an even mean (docs/log.md).
    """
    logged, width = course.level.value, max(3, course.level.value.size // 20)
    fell = -np.diff(course.middle)
    breaks = np.flatnonzero(fell > max(BREAK * float(np.ptp(course.middle)), 5 * course.level.noise)) + 1
    parts = np.split(logged, breaks)
    return np.concatenate([running_mean(running_mean(part, width), width) for part in parts])
