"""The held-out score steps at one evaluation and nothing in training does.

Looks for: a lasting step between two neighbouring evaluations, many times their noise, while the training reward goes on at its level.
Means: the evaluation changed (temperature, length limit, prompt template, test split), not the policy.
Not to be confused with: a policy that collapses, where the training reward falls too; a hack, where the score parts from the reward
    gradually and samples change with it.
Next test: run the first checkpoint again under the protocol of today.
Source: the field guide on fixed evaluation protocols.
"""

import numpy as np

from rl_advisor import course, trajectory
from rl_advisor.features import TooFewPoints
from rl_advisor.features.change import change_points
from rl_advisor.features.trend import direction, trend
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EVALUATION
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("eval/score/*", "reward/mean|reward/used|reward/success")
FEWEST = 12
"""Evaluations below which a step may be anything."""
BRINGS: tuple[str, ...] = ("train_eval_gap",)


def detect(run: Run, share: float = 0.15) -> Answer:
    """Present when the score steps by more than ``share`` of its scale between two evaluations and reward, length and entropy do not."""
    score, reward = trajectory.held_out(run), trajectory.training(run)
    assert score is not None and reward is not None  # diagnosis asked for both
    held, train = trajectory.shape(score), trajectory.shape(reward)
    if held.n < FEWEST:
        raise TooFewPoints(f"{held.n} evaluations, {FEWEST} needed to tell a step of the protocol from one of the policy")
    for point in change_points(held.step, held.value):
        size = abs(point.after - point.before) / (held.margin / trajectory.MATERIAL)
        place = int(np.searchsorted(held.step, point.step))
        if size < share or place < 3 or held.n - place < 3 or course.departures(run) or not _quiet(train, held, point.step, size):
            continue
        text = f"{held.name} steps from {number(point.before)} to {number(point.after)} at step {point.step:.0f} while training goes on."
        onset = Onset(point.step, float(held.step[place - 1]), point.step)
        where = (Evidence(held.name, onset.low, onset.high),)
        return present(text, onset, {"before": point.before, "after": point.after}, where)
    return absent(f"{held.name} has no step that training does not share.")


def _quiet(train: trajectory.Shape, held: trajectory.Shape, at: float, size: float) -> bool:
    """Whether the training reward stays flat by equivalence around a step of the score, against the size of that step."""
    near = np.abs(train.step - at) <= 3 * float(np.median(np.diff(held.step)))
    if near.sum() < trajectory.FEWEST:
        return False
    scale = train.margin / trajectory.MATERIAL
    return direction(trend(train.step[near], train.value[near]), size / 3 * scale) == "flat"
