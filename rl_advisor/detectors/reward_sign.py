"""The reward pays the opposite of the task.

Looks for: a reward that rises while the held-out score falls from the very first evaluations, in lockstep (strong negative rank
    correlation), with a reward that never passes zero or a return that falls while the update is healthy.
Means: a sign error, swapped chosen and rejected labels, or a cost fed as a reward.
Not to be confused with: reward hacking, which usually helps the task first and leaves it later; penalties, which are negative by
    nature and rise with a rising score.
Next test: print ten graded responses; a right one must be graded above a wrong one.
Source: the field guide on wiring mistakes (sign errors, reversed preference labels).
"""

from rl_advisor import trajectory
from rl_advisor.features.relation import correlation
from rl_advisor.finding import Evidence, Finding, Outcome, number
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

import numpy as np

LINK = Link.REWARD_SIGNAL
NEEDS: tuple[str, ...] = ("reward/mean|reward/used", "eval/score/*")
BRINGS: tuple[str, ...] = (
    "train_eval_gap",
    "truncation",
    "length_collapse",
    "length_inflation",
    "zero_variance_groups",
    "destructive_drift",
    "drift_without_gain",
    "update_too_large",
    "entropy_explosion",
    "entropy_collapse",
    "gradient_spikes",
    "loss_discontinuity",
    "sample_repetition",
    "template_collapse",
    "reward_shortcut",
)


def detect(run: Run) -> Finding:
    """Present when reward and score move against each other from the start and the reward never rises above zero."""
    score, reward = trajectory.held_out(run), trajectory.training(run)
    assert score is not None and reward is not None  # diagnosis asked for both
    held, train = trajectory.shape(score), trajectory.shape(reward)
    at_evals = np.interp(held.step, train.step, train.smoothed)
    together = correlation(at_evals, held.value)
    highest = float(train.value.max())
    measures = {"correlation": together.rho, "reward_highest": highest, "score_start": held.start, "score_last": held.last}
    where = (
        Evidence(train.name, float(train.step[0]), float(train.step[-1])),
        Evidence(held.name, float(held.step[0]), float(held.step[-1])),
    )
    text = f"Reward and {held.name} have rank correlation {number(together.rho)}; the highest reward is {number(highest)}"
    early = held.best_step <= held.step[0] + 0.1 * (held.step[-1] - held.step[0])
    if highest <= 0 and float(train.value.min()) < 0 and held.fell and early and train.last > train.start:
        return Finding("reward_sign", LINK, Outcome.PRESENT, f"{text}: it pays failure.", trajectory.decline_began(score), measures, where)
    return Finding("reward_sign", LINK, Outcome.ABSENT, f"{text}.", measures=measures, evidence=where)
