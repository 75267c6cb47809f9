"""Which checkpoint to keep: the best smoothed score among those that exist on disk, the earlier one among equals."""

from dataclasses import dataclass

import numpy as np

from rl_advisor.assessment import BestCheckpoint
from rl_advisor.curves.logged import logged_of
from rl_advisor.curves.outcome_shape import FEWEST, MATERIAL
from rl_advisor.judgement.best import BREAK, Best, best_of, error_of
from rl_advisor.judgement.case import Case
from rl_advisor.output.wording import roughly
from rl_advisor.run import Curve, Floats
from rl_advisor.vocabulary import metric

NOTHING = "no checkpoint is on disk, and no score that can be trusted says which step was best"


@dataclass(frozen=True)
class Standing:
    """How good the policy was over the run, by the curve that can be trusted."""

    name: str
    best: Best
    bottom: float
    """A level below which a checkpoint is worse than the untrained policy, noise allowed for."""
    few: bool
    """Whether it has too few points for more than a look."""
    logged: Curve
    """The curve as the run logged it: what a person is told."""

    def logged_at(self, at: float) -> float:
        """The value logged at a step, or last before it, or else the first."""
        step, x = self.logged.finite()
        return float(x[max(0, int(np.searchsorted(step, at, "right")) - 1)])

    def said(self, x: float) -> str:
        """A value as it is said."""
        return logged_of(self.logged).said(x)

    @property
    def told(self) -> str:
        """Its best level, and where."""
        known = metric(self.name)
        return f"{roughly(self.best.top, known.unit if known else '')} at step {self.best.at:.0f}"


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
    step = round(s.best.at)
    if not saved:
        return BestCheckpoint(step=step, why=f"no checkpoint is on disk; the best level of {s.name} was {s.told}")
    stands = np.interp([c.step for c in saved], s.best.step, s.best.level)
    earliest = int(np.argmax(stands >= stands.max() - s.best.tie))
    chosen, at = saved[earliest], float(stands[earliest])
    if at < s.bottom:
        why = f"no saved checkpoint beats the start: at the best of them, {chosen.path}, {s.name} is {s.said(s.logged_at(chosen.step))}"
        return BestCheckpoint(step=step, why=why)
    return BestCheckpoint(step=chosen.step, path=chosen.path, why=_why(s, chosen.step))


def _why(s: Standing, at: float) -> str:
    """What was logged at the checkpoint and at best, and how it was chosen."""
    kind = "held-out score" if s.name.startswith("eval/") else "training reward, the best proxy that is logged"
    why = f"{s.name} ({kind}) is {s.said(s.logged_at(at))} there; its best level is {s.told}"
    if s.few:
        return f"{why}, of {s.best.step.size} points: too few to tell noise from progress"
    return f"{why}. Chosen by the smoothed curve, the earlier of equals"


def standing(case: Case, *, reward_trusted: bool) -> Standing | None:
    """The levels to choose by; raw ones where the curve has too few points. None when nothing can be trusted."""
    performance = case.performance
    for course in (performance.held, performance.train if reward_trusted else None):
        if course is None:
            continue
        logged, best = case.run.curves.get(course.name, course.curve), best_of(course)
        if course.n < FEWEST:
            return Standing(course.name, best, -np.inf, few=True, logged=logged)
        start = began(course.level.value)
        margin = max(MATERIAL * max(float(np.ptp(course.middle)), abs(start)), 2 * error_of(course))
        return Standing(course.name, best, start - margin, few=False, logged=logged)
    return None


def began(x: Floats) -> float:
    """The level at the start: the median of the first points, or the first alone where the run broke right after it."""
    usual = float(np.median(x[: max(3, x.size // 20)]))
    return float(x[0]) if abs(x[0] - usual) > BREAK / 2 * float(np.ptp(x)) else usual
