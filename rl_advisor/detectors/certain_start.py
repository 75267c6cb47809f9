"""The policy is certain before training has begun.

Looks for: in the first steps, most groups without spread although the mean reward lies between nothing and everything, and an entropy
    near zero where it is logged.
Means: the starting model was trained so long on demonstrations that it gives one answer to a prompt, right or wrong; what it never
    draws cannot be learned. An earlier, less finished checkpoint is often the better start.
Not to be confused with: prompts that are all too easy or all too hard, where the mean says so; a low sampling temperature.
Next test: draw 64 answers to twenty prompts from the start at the training temperature; then thirty steps from an earlier checkpoint.
Source: studies of how deep supervised tuning limits what follows (arXiv 2606.18487).
"""

import numpy as np

from rl_advisor import course, trajectory
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present, unclear
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("reward/flat_groups", "reward/mean|reward/success")


def detect(run: Run, flat: float = 0.7, low: float = 0.1) -> Answer:
    """Present when groups start flat at a middling reward and entropy starts below ``low`` nats; unclear without the entropy."""
    groups, reward = run.curves["reward/flat_groups"], trajectory.training(run)
    assert reward is not None  # diagnosis asked for it
    step, value = groups.finite()
    level = reward.finite()[1]
    if value.size < 5 or level.size < 5:
        raise TooFewPoints(f"{min(value.size, level.size)} points of groups and reward, 5 needed")
    start, mean = float(np.median(course.opening(groups))), float(np.median(course.opening(reward)))
    entropy = run.curves.get("entropy/mean")
    first = float(np.median(course.opening(entropy))) if entropy is not None and entropy.finite()[1].size else float("nan")
    measures = {"flat_groups_start": start, "reward_start": mean, "entropy_start": first}
    last = float(step[max(2, step.size // 20)])
    where = (Evidence("reward/flat_groups", float(step[0]), last), Evidence(reward.name, float(step[0]), last))
    text = f"At the start {number(start)} of the groups have no spread, at a reward of {number(mean)} and an entropy of {number(first)}"
    scale = float(level.min()) >= 0.0 and float(level.max()) <= 1.0
    flat_at_once = start >= flat and scale and 0.15 < mean < 0.85
    if not flat_at_once or first >= low:
        return absent(f"{text}.", measures=measures, evidence=where)
    if np.isnan(first):
        return unclear(f"{text}: entropy is not logged.", measures=measures)
    onset = Onset(float(step[0]), float(step[0]), float(step[0]))
    return present(f"{text}.", onset, measures, where)
