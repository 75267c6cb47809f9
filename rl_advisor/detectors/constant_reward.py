"""The reward never varies: there is nothing to learn from.

Looks for: a training reward that stays at one value from the first step on, with no spread inside the batch where that is logged.
Means: at its lowest value, the task is out of reach, the reward too sparse, or the verifier or environment broken. At its highest,
    the reward is too loose: it pays whatever is said. Either way the advantage is zero and the policy gradient silent.
Not to be confused with: a reward that reached its ceiling by learning; responses cut before they end, which are all graded zero
    for a reason outside the reward (see truncation).
Next test: grade the outputs of a hand-written good policy and of a random one: the reward must tell them apart.
Source: the field guide's table of reward distributions (almost all 0, almost all 1).
"""

import numpy as np

from rl_advisor import trajectory
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Evidence, Finding, Onset, Outcome, number
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
NEEDS: tuple[str, ...] = ("reward/mean|reward/used|reward/component/*",)
BRINGS: tuple[str, ...] = ("zero_variance_groups", "frozen_policy", "reward_outliers", "loss_discontinuity", "gradient_spikes")


def detect(run: Run, share: float = 0.95) -> Finding:
    """Present when at least ``share`` of the points, the first ones among them, are one and the same value."""
    curve = trajectory.training(run)
    assert curve is not None  # diagnosis asked for it
    step, value = curve.finite()
    if value.size < trajectory.FEWEST:
        raise TooFewPoints(f"{curve.name} has {value.size} points")
    level = float(np.median(value))
    scale = max(abs(level), 1.0 if np.abs(value).max() <= 1 else float(np.abs(value).max()))
    same = float(np.mean(np.abs(value - level) <= 0.003 * scale))
    from_start = bool(np.all(np.abs(value[:3] - level) <= 0.02 * scale))
    std = run.curves.get("reward/std")
    spread = float(np.median(std.finite()[1])) if std is not None else 0.0
    measures = {"level": level, "share_at_level": same, "spread": spread}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])),)
    if same >= share and from_start and spread <= 0.05 * scale:
        kind = "its floor" if level <= float(value.min()) + 0.003 * scale and level < 0.5 * scale else "its top"
        text = f"{curve.name} is {number(level)} at {number(100 * same)} percent of the steps, from the first on: it stands at {kind}."
        onset = Onset(float(step[0]), float(step[0]), float(step[0]))
        return Finding("constant_reward", LINK, Outcome.PRESENT, text, onset, measures, where)
    return Finding("constant_reward", LINK, Outcome.ABSENT, f"{curve.name} varies.", measures=measures, evidence=where)
