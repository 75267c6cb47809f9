"""The bonus for entropy drowns the reward: the policy is paid for being random.

Looks for: an entropy weight that, in nats a step, stands above the reward of a step, in a run whose outcome never left its start.
Means: whatever the policy does, the bonus is worth more than the task. The usual reason is a weight that was set by hand.
Not to be confused with: a weight that runs away by itself (temperature_runaway); a large weight early on, while the return still rises.
Next test: an automatic weight, or a hundredth of this one, for a tenth of the steps: does the return move?
Source: soft actor-critic's objective, in which weight times entropy stands beside the reward of each step (arXiv 1812.05905).
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.SILENCE
WEIGHT = 2.0
NEEDS: tuple[str, ...] = ("entropy/coef", "reward/mean", "episode/length")
CHANGE: tuple[tuple[str, str], ...] = (("entropy_coef", "a hundredth of"),)


def detect(run: Run) -> Answer:
    """Present when the weight exceeds the reward of a step to the end and the outcome ends no higher than it began."""
    curve, reward, length = run.curves["entropy/coef"], run.curves["reward/mean"], run.curves["episode/length"]
    step, value = curve.finite()
    if min(value.size, reward.finite()[1].size, length.finite()[1].size) < 4:
        raise TooFewPoints("fewer than 4 points of the entropy weight, the return and the length of episodes")
    now, begin = float(np.median(segments.final(curve))), float(np.median(segments.opening(curve)))
    each = float(np.median(reward.finite()[1]) / max(float(np.median(length.finite()[1])), 1.0))
    measures = {"weight": now, "reward_per_step": each}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])),)
    text = f"The entropy coefficient is {number(now)} against a reward of {number(each)} a step"
    s = outcomes.course_or_none(outcomes.outcome(run))
    unmoved = s is not None and s.last - s.start < 2 * s.scatter and s.gain.low <= 0
    if min(now, begin) > abs(each) and now > 0 and unmoved:
        return present(f"{text}: the bonus swamps the reward.", segments.around(step, float(step[0])), measures, where)
    return absent(f"{text}.", measures=measures, evidence=where)
