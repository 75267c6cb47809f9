"""Which curves are the outcome of a run: the held-out score when one is logged, the training reward otherwise; each a ``Course``."""

import re
from functools import lru_cache

import numpy as np

from rl_advisor.curves import untrail
from rl_advisor.curves.course import FEWEST, MATERIAL, Course, course, course_of
from rl_advisor.curves.lone_steps import LoneStep, step_of_rate, step_of_reward, step_of_score
from rl_advisor.curves.task import task
from rl_advisor.features import TooFewPoints
from rl_advisor.run import Curve, Run

__all__ = ["FEWEST", "MATERIAL", "Course", "course_of"]
SPLIT = re.compile(r"(?i)(?<![a-z])(?:(?P<private>private|hidden|held_?out)|(?P<test>test)|(?P<dev>dev|val(?:id(?:ation)?)?))(?![a-z])")
"""Words for splits in a metric's name; the private one is kept from every decision: the one to release by."""


def course_or_none(curve: Curve | None) -> Course | None:
    """The course, or None when there is no curve or it is too short."""
    return course(curve, FEWEST) if curve is not None else None


def splits(name: str) -> set[str | None]:
    """The splits that a score's name speaks of: ``private``, ``test``, ``dev``."""
    return {found.lastgroup for found in SPLIT.finditer(name)}


@lru_cache(maxsize=64)
def held_out(run: Run) -> Curve | None:
    """The held-out score to go by: a private split's, else the one with the most points, a plain score before a second one."""
    scores = run.family("eval/score/")
    if not scores:
        return None
    counted = {c: int(np.isfinite(c.value).sum()) for c in scores.values()}
    return max(counted, key=lambda c: ("private" in splits(c.name) and counted[c] >= FEWEST, counted[c], c.varies, -len(c.name)))


@lru_cache(maxsize=64)
def training(run: Run) -> Curve | None:
    """The training reward to go by; single episodes, where they are logged, before a mean over past ones, which trails the policy."""
    for name in ("reward/mean", "reward/success", "reward/used", "pairs/accuracy", "pairs/loss"):
        curve = run.curves.get(name)
        if curve is not None and np.isfinite(curve.value).any() and not _idle(run, curve):
            return untrail.untrailed(run, curve)
    parts = run.family("reward/component/")
    return max(parts.values(), key=lambda c: np.isfinite(c.value).sum()) if parts else None


def _idle(run: Run, curve: Curve) -> bool:
    """Whether a reward says nothing in this kind of training: never paid beside a teacher, or at rest in its middle in self-play."""
    value, kind = curve.numbers, task(run).kind
    middle = 0.5 if value.min() >= 0 and value.max() <= 1 else 0.0
    parts = (value[: value.size // 3 + 1], value[-value.size // 3 :])
    balanced = all(abs(part.mean() - middle) <= 0.1 * max(middle, float(np.abs(value).max())) + part.std() / 2 for part in parts)
    return not value.any() if kind == "distillation" else kind == "self_play" and balanced


@lru_cache(maxsize=64)
def outcome(run: Run) -> Curve | None:
    """The curve that says how good the policy is: held-out when it can carry a course and did not step by itself, training otherwise."""
    score = held_out(run)
    return score if course_or_none(score) is not None and not stepped(run) else training(run) or score


def stepped(run: Run) -> bool:
    """Whether the held-out score of a run of language stepped by itself: its protocol changed, and before and after are not one curve."""
    try:
        return "control" not in task(run).traits and lone_step(run, "score") is not None
    except TooFewPoints:
        return False


def lone_step(run: Run, which: str) -> LoneStep | None:
    """The step that the ``score`` or the ``reward`` makes alone, where both are logged, or else the rate of that name.

    In control a reward may rise to where a score stood.

    Raises:
        TooFewPoints: the curve is too short to tell.
    """
    score, reward = held_out(run), training(run)
    if which in run.curves:
        return step_of_rate(run.curves[which], float(run.planned_steps or 0))
    if score is None or reward is None:
        return None
    if which == "score":
        return step_of_score(run, score)
    held, train = course_of(score), course_of(reward)
    return step_of_reward(train, held, float(held.value.max()) + held.margin if "control" in task(run).traits else -np.inf)
