"""Most groups of responses get one and the same reward, so the update has nothing to compare.

Looks for: the share of groups without spread in the last fifth; whether it grew; whether the reward there says all right or all wrong.
Means: with a group-relative advantage those groups give no gradient. All right: the prompts have become too easy. All wrong: they are
    out of reach. The two call for opposite mends.
Not to be confused with: a share of one by construction where the reward is scaled over the batch; convergence at the ceiling.
Next test: a histogram of the pass rate per prompt; then dynamic sampling, or prompts of the missing difficulty.
Source: TRL's notes on frac_reward_zero_std; dynamic sampling in DAPO (arXiv 2503.14476).
"""

import numpy as np

from rl_advisor import course, trajectory
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Evidence, Finding, Onset, Outcome, number
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.TRAINING_SIGNAL
NEEDS: tuple[str, ...] = ("reward/flat_groups",)


def detect(run: Run, share: float = 0.8) -> Finding:
    """Present when at least ``share`` of the groups have no spread over the last fifth of the run."""
    curve = run.curves["reward/flat_groups"]
    step, value = curve.finite()
    if value.size < 3:
        raise TooFewPoints(f"{value.size} points of reward/flat_groups")
    begin, now = float(np.median(value[:3])), float(np.median(course.final(curve)))
    reward = trajectory.training(run)
    level = float(np.median(course.final(reward))) if reward is not None else float("nan")
    measures = {"at_start": begin, "now": now, "live_share": 1 - now, "reward": level}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])),)
    text = f"Groups without spread: {number(begin)} at the start, {number(now)} at the end, at a reward of {number(level)}"
    if now < share:
        return Finding("zero_variance_groups", LINK, Outcome.ABSENT, f"{text}.", measures=measures, evidence=where)
    onset = Onset(float(step[0]), float(step[0]), float(step[0])) if begin >= share else course.began(curve)
    return Finding("zero_variance_groups", LINK, Outcome.PRESENT, f"{text}: little is left to learn from.", onset, measures, where)
