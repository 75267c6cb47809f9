"""The held-out score steps at one evaluation and nothing in training does.

Looks for: a lasting step between two neighbouring evaluations, many times their noise, while the training reward goes on at its level.
Means: the evaluation changed (temperature, length limit, prompt template, test split), not the policy.
Not to be confused with: a policy that collapses, where the training reward falls too; a hack, where the score parts from the reward
    gradually and samples change with it.
Next test: run the first checkpoint again under the protocol of today.
Source: the field guide on fixed evaluation protocols.
"""

import numpy as np

from rl_advisor import trajectory
from rl_advisor.features.change import change_points
from rl_advisor.finding import Evidence, Finding, Onset, Outcome, number
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EVALUATION
NEEDS: tuple[str, ...] = ("eval/score/*", "reward/mean|reward/used|reward/success")
BRINGS: tuple[str, ...] = ("train_eval_gap",)


def detect(run: Run, share: float = 0.15) -> Finding:
    """Present when the score steps by more than ``share`` of its scale between two evaluations and reward, length and entropy do not."""
    score, reward = trajectory.held_out(run), trajectory.training(run)
    assert score is not None and reward is not None  # diagnosis asked for both
    held, train = trajectory.shape(score), trajectory.shape(reward)
    scale = held.margin / trajectory.MATERIAL
    for point in change_points(held.step, held.value):
        size = point.after - point.before
        place = int(np.searchsorted(held.step, point.step))
        quiet = place >= 3 and held.n - place >= 3 and not trajectory.departures(run)
        near = np.abs(train.step - point.step) <= 2 * float(np.median(np.diff(held.step)))
        moved = float(np.ptp(train.smoothed[near])) if near.any() else float("inf")
        if abs(size) > share * scale and abs(size) > 4 * held.noise and quiet and moved < abs(size) / 4:
            text = f"{held.name} steps from {number(point.before)} to {number(point.after)} at step {point.step:.0f} while "
            text += "training goes on as before."
            measures = {"before": point.before, "after": point.after, "reward_moved": moved}
            onset = Onset(point.step, float(held.step[place - 1]), point.step)
            return Finding(
                "eval_protocol_change", LINK, Outcome.PRESENT, text, onset, measures, (Evidence(held.name, onset.low, onset.high),)
            )
    return Finding("eval_protocol_change", LINK, Outcome.ABSENT, f"{held.name} has no step that training does not share.")
