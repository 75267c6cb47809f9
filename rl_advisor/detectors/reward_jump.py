"""The reward changes level at one step and nothing else does.

Looks for: an abrupt step in the training reward, with the held-out score unmoved across it.
Means: the policy did not change there; what is asked or how it is graded did: harder prompts, another judge, a fallback value of a
    reward service, another scale.
Not to be confused with: a collapse of the policy, which takes the held-out score with it; a step in KL or entropy before it; a return
    that rises to where evaluation episodes of the same task stand already, which is learning.
Next test: grade the same frozen batch with the reward of before and after the step; then compare the prompts of both sides.
Source: the practitioner's guide on metrics that double or halve; judge and service changes.
"""

from dataclasses import replace

import numpy as np

from rl_advisor.curves import outcomes, segments, untrail
from rl_advisor.curves.task import task
from rl_advisor.features import TooFewPoints
from rl_advisor.features.change import change_points
from rl_advisor.features.trend import Change, level_change
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.LIMIT
NEEDS: tuple[str, ...] = ("reward/mean|reward/used|reward/success", "eval/score/*")


def detect(run: Run, share: float = 0.25) -> Answer:
    """Present when the reward steps by more than ``share`` of its scale and the held-out score stays within its margin there."""
    score, reward = outcomes.held_out(run), outcomes.training(run)
    assert score is not None and reward is not None  # diagnosis asked for both
    held, train = outcomes.course_of(score), outcomes.course_of(reward)
    scale = train.scale
    length = run.curves.get("episode/length")
    lasted = outcomes.course_or_none(untrail.untrailed(run, length)) if length is not None else None
    if lasted is not None and segments.counts_steps(train, lasted):
        return absent(f"{train.name} equals the episode length throughout: it is graded as before.")
    for jump in sorted(change_points(train.step, train.value), key=lambda c: -abs(c.after - c.before)):
        size = jump.after - jump.before
        if abs(size) < share * scale or not abrupt(train, jump.step, size):
            continue
        if size > 0 and _learnable(run, held, jump.after):
            continue
        try:
            there = nearest(level_change(held.step, held.value, jump.step), held, jump.step)
        except TooFewPoints:
            continue
        measures = {"before": jump.before, "after": jump.after, "score_change": there.delta}
        where = (Evidence(train.name, jump.step, jump.step), Evidence(held.name, float(held.step[0]), float(held.step[-1])))
        text = f"{train.name} jumps {about(jump.before, jump.after)} at step {jump.step:.0f}; "
        text += f"{held.name} changes by {number(there.delta)}"
        if abs(there.delta) / way(held) < abs(size) / way(train) / 4:
            onset = segments.around(train.step, jump.step, 2)
            return present(f"{text}: the reward changed, not the policy.", onset, measures, where)
    return absent(f"{train.name} makes no jump that {held.name} does not make.")


def _learnable(run: Run, held: outcomes.Course, level: float) -> bool:
    """Whether returns of one task rose to a level that evaluation reached, too."""
    return "control" in task(run).traits and level <= float(held.value.max()) + held.margin


def way(s: outcomes.Course) -> float:
    """All that a curve ever moved: what a change is held against where two curves have other units."""
    return max(float(np.ptp(s.smoothed)), s.margin, 1e-12)


def nearest(overall: Change, held: outcomes.Course, at: float, most: int = 4) -> Change:
    """The change of the score over the next few evaluations, where it is the smaller one: what it does long after is not of this step."""
    place = int((held.step <= at).sum())
    before, after = held.value[max(0, place - most) : place], held.value[place : place + most]
    if min(before.size, after.size) < 3:
        return overall
    delta = float(np.median(after) - np.median(before))
    return (
        replace(overall, before=float(np.median(before)), after=float(np.median(after)), delta=delta)
        if abs(delta) < abs(overall.delta)
        else overall
    )


def abrupt(train: outcomes.Course, at: float, size: float) -> bool:
    """Whether most of the change happens within a fiftieth of the run around ``at``."""
    near = max(2, train.value.size // 50)
    place = int((train.step < at).sum())
    before, after = train.value[max(0, place - 2 * near) : max(1, place - near)], train.value[place + near : place + 2 * near]
    return bool(before.size and after.size and abs(float(after.mean() - before.mean())) > 0.6 * abs(size))
