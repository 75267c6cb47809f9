"""Group-relative training draws one answer to a prompt, so there is nothing to compare it with.

Looks for: a group size of one, or a mean advantage that equals the mean reward row by row: no baseline was taken off.
Means: every answer that is paid anything is made likelier and none is made rarer. Whatever the policy says is reinforced, slowly and with
    the variance of the plain policy gradient.
Not to be confused with: a critic or a running mean as baseline, with which one answer is enough; an advantage that is logged before it is
    centred.
Next test: eight answers a prompt and an eighth of the prompts: the same tokens, with a baseline.
Source: GRPO takes the mean of the group as baseline (DeepSeekMath, arXiv 2402.03300); a group of one has none.
"""

import numpy as np

from rl_advisor.curves import segments
from rl_advisor.finding import Answer, Evidence, Role, absent, present
from rl_advisor.output.wording import percent
from rl_advisor.priors.circumstances import method
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.TRAINING_SIGNAL
ROLE = Role.FAULT
KINDS = ("language",)
NEEDS: tuple[str, ...] = ("reward/mean|reward/used",)
CHANGE: tuple[tuple[str, str], ...] = (("group_size", "8"),)


def detect(run: Run, share: float = 0.9) -> Answer:
    """Present when groups hold one answer by the settings, or advantage and reward are one at ``share`` of the rows."""
    reward = run.curves.get("reward/used") or run.curves["reward/mean"]
    where = (Evidence(reward.name, run.first_step, run.last_step),)
    alone = run.settings.get("group_size") == 1
    same = alike(run)
    measures = {"group_size": float(run.settings.get("group_size") or "nan"), "rows_alike": same}
    if method(run) != "grpo" or "value/loss" in run.curves:
        return absent("The baseline is not a group mean.", measures=measures)
    onset = segments.around(reward.step, float(reward.step[0]))
    if same >= share:
        text = f"Mean advantage and mean reward are the same at {percent(same)} of the steps: no baseline is subtracted."
        return present(text, onset, measures, where)
    if alone and not same < 0.5:
        return present("Each group holds one answer, so there is no group mean to compare it with.", onset, measures, where)
    return absent("Advantages differ from rewards: a baseline is subtracted.", measures=measures)


def alike(run: Run, close: float = 0.02) -> float:
    """The share of rows at which mean advantage and a mean reward differ by next to nothing; NaN where they are not logged together."""
    advantage = run.curves.get("advantage/mean")
    best = float("nan")
    for reward in (run.curves.get("reward/mean"), run.curves.get("reward/used")):
        if advantage is None or reward is None:
            continue
        _, a, b = np.intersect1d(advantage.step, reward.step, return_indices=True)
        x, y = advantage.value[a], reward.value[b]
        # A reward of nothing equals a centred advantage by chance.
        told = np.isfinite(x) & np.isfinite(y) & (np.abs(y) > close)
        if told.sum() >= 8:
            best = float(np.nanmax([best, np.mean(np.abs(x - y)[told] <= np.maximum(close, 0.1 * np.abs(y[told])))]))
    return best
