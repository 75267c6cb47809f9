"""Rare extreme rewards dominate the training signal.

Looks for: single rewards many times larger than the usual ones (in the rollouts), or a batch spread many times the batch mean with
    spikes in it.
Means: a few samples decide the gradient; without normalisation or clipping the update follows luck.
Not to be confused with: a binary reward that is rarely one, whose spread is bounded by its own mean.
Next test: train a short stretch with rewards clipped at their 99th percentile; a calmer curve with the same score says it was the tail.
Source: the field guide's extreme long tail; difficulty and scale bias of the group normalisation (Dr. GRPO, arXiv 2503.20783).
"""

import numpy as np

from rl_advisor.curves import outcomes
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("rollouts|reward/std", "reward/mean|reward/used|rollouts")


def detect(run: Run, times: float = 8.0) -> Answer:
    """Present when the largest rewards are ``times`` beyond the spread of the bulk, or the batch spread says so."""
    if len(run.rollouts) >= 50 and "reward" in run.rollouts and run.rollouts["reward"].notna().any():
        reward = run.rollouts["reward"].dropna().to_numpy(np.float64)
        low, high = np.quantile(reward, [0.05, 0.95])
        nonzero = np.abs(reward[reward != 0])
        bulk = max(high - low, float(np.median(nonzero)) if nonzero.size else 1.0)
        furthest = float(np.max(np.abs(reward - np.median(reward))))
        measures = {"furthest": furthest, "bulk": float(bulk), "ratio": furthest / bulk}
        text = f"The most extreme reward of the samples is {number(furthest / bulk)} times the usual spread away from the median"
        where = (Evidence("rollouts", float(run.rollouts["step"].min()), float(run.rollouts["step"].max())),)
        if furthest > times * bulk:
            return present(f"{text}.", measures=measures, evidence=where)
    return _by_spread(run, times)


def _by_spread(run: Run, times: float) -> Answer:
    curve, std = outcomes.training(run), run.curves.get("reward/std")
    if curve is None or std is None:
        return absent("No sample's reward is far from the others.")
    usual, widest = float(np.median(std.finite()[1])), float(np.max(std.finite()[1]))
    calm = float(np.quantile(std.finite()[1], 0.1))
    level = float(np.median(np.abs(curve.finite()[1])))
    measures = {"spread_usual": usual, "spread_widest": widest, "spread_calm": calm, "level": level}
    where = (Evidence("reward/std", float(std.step[0]), float(std.step[-1])),)
    text = f"reward/std has a median of {number(usual)} and a maximum of {number(widest)}, {number(calm)} in its calmest "
    text += f"tenth, at a mean reward of {number(level)}"
    if level > 0 and widest > times * max(calm, level / 2) and usual > level and widest > 1:
        return present(f"{text}: rare, large rewards.", measures=measures, evidence=where)
    return absent(f"{text}.", measures=measures, evidence=where)
