"""Which checkpoint to keep: the best smoothed score among those that exist on disk, the earlier one among equals."""

import numpy as np

from rl_advisor.curves.course import FEWEST, MATERIAL, Course
from rl_advisor.curves.logged import logged
from rl_advisor.curves.looks import looks
from rl_advisor.finding import BestCheckpoint
from rl_advisor.judgement.case import Case
from rl_advisor.output.wording import roughly
from rl_advisor.settings.given import settings_of
from rl_advisor.vocabulary import metric_unit

HELD = "held-out score"
NOTHING = "no checkpoint is on disk, and no score that can be trusted says which step was best"


def best_checkpoint(case: Case, *, reward_trusted: bool) -> BestCheckpoint:
    """The step and path to keep, and why.

    The held-out score decides; without one the training reward does, unless it is not to be trusted. A path is only given for a
    checkpoint that exists.
    """
    course = trusted(case, reward_trusted=reward_trusted)
    saved = sorted(case.run.checkpoints, key=lambda c: c.step)
    if course is None and not saved:
        return BestCheckpoint(step=0, why=NOTHING)
    if course is None:
        why = "no score says which one is best, so this is only the earliest"
        if case.train is not None:
            why = "no score that can be trusted says which one is best; the earliest has been changed least by what went wrong"
        return BestCheckpoint(step=saved[0].step, path=saved[0].path, why=why)
    step = round(course.best_step)
    if not saved:
        return BestCheckpoint(step=step, why=f"no checkpoint is on disk; the best level of {course.name} was {_told(course)}")
    stands = np.interp([c.step for c in saved], course.level.step, course.levels)
    chosen = saved[int(np.argmax(stands >= stands.max() - course.tie))]
    there = logged(case.run, course.curve).at(chosen.step)
    if stands.max() < bottom(course):
        return BestCheckpoint(
            step=step, why=f"no saved checkpoint beats the start: at the best of them, {chosen.path}, {course.name} is {there}"
        )
    return BestCheckpoint(step=chosen.step, path=chosen.path, why=_why(course, there, settings_of(case.run).number("eval_episodes")))


def _told(course: Course) -> str:
    """Its best level, and where."""
    return f"{roughly(course.best, metric_unit(course.name))} at step {course.best_step:.0f}"


def _why(course: Course, there: str, items: float | None) -> str:
    """What was logged at the checkpoint and at best, and how it was chosen."""
    kind = HELD if course.name.startswith("eval/") else "training reward, the best proxy that is logged"
    why = f"{course.name} ({kind}) is {there} there; its best level is {_told(course)}"
    count, flattered = looks([course], items)
    seen = f". The highest of {count} looks at that set is flattered by {roughly(flattered)}" if flattered and kind == HELD else ""
    if course.n < FEWEST:
        return f"{why}, of {course.n} points: too few to tell noise from progress{seen}"
    return f"{why}. Chosen by the smoothed curve, the earlier of equals{seen}"


def trusted(case: Case, *, reward_trusted: bool) -> Course | None:
    """The outcome to choose by: the held-out score, else the reward where it can be trusted."""
    return case.performance.held or (case.performance.train if reward_trusted else None)


def bottom(course: Course) -> float:
    """A level below which a checkpoint is worse than the untrained policy, noise allowed for."""
    if course.n < FEWEST:
        return -np.inf
    return course.start - max(MATERIAL * max(float(np.ptp(course.middle)), abs(course.start)), 2 * course.error)
