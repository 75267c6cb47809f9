"""The policy is certain before training has begun.

Looks for: in the first steps, most groups without spread although the mean reward lies between nothing and everything; or an entropy
    next to nothing from the first step on, with room above the reward.
Means: the starting model was trained so long on demonstrations that it gives one answer to a prompt, right or wrong, or it is sampled too
    cold; what it never draws cannot be learned. An earlier, less finished checkpoint is often the better start.
Not to be confused with: prompts that are all too easy or all too hard, where the mean says so; an entropy that falls as the run learns (see
    entropy_collapse); a start that is certain and learns all the same.
Next test: draw 64 answers to twenty prompts from the start at the training temperature; then thirty steps from an earlier checkpoint.
Source: studies of how deep supervised tuning limits what follows (arXiv 2606.18487).
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.curves.task import task
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present, unclear
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("reward/flat_groups|entropy/mean", "reward/mean|reward/success")


def detect(run: Run, flat: float = 0.7, low: float = 0.1, near: float = 0.02) -> Answer:
    """Present when groups start flat at a middling reward with entropy below ``low``, or entropy below ``near``, and nothing is gained."""
    reward = outcomes.training(run)
    assert reward is not None  # diagnosis asked for it
    level = reward.finite()[1]
    if level.size < 5:
        raise TooFewPoints(f"{level.size} points of the reward, 5 needed")
    mean, start, first = float(np.median(segments.opening(reward))), _first(run, "reward/flat_groups"), _first(run, "entropy/mean")
    measures = {"flat_groups_start": start, "reward_start": mean, "entropy_start": first}
    at = float(reward.step[0])
    where = (Evidence(reward.name, at, at),)
    text = f"At the start {percent(start)} of the groups have zero variance" if not np.isnan(start) else "At the start"
    text += f", at a reward of {number(mean)}" + (f" and an entropy of {number(first)}" if not np.isnan(first) else "")
    share = float(level.min()) >= 0.0 and float(level.max()) <= 1.0
    alike = start >= flat and share and 0.15 < mean < 0.85
    certain = 0 <= first < near and bool(task(run).traits & {"language", "tools"}) and not (share and mean > 0.85)
    if not (alike and not first >= low) and not certain:
        return absent(f"{text}.", measures=measures, evidence=where)
    if np.isnan(first):
        return unclear(f"{text}; entropy is not logged, so certainty cannot be told.", measures=measures)
    if outcomes.thriving(run):
        return unclear(f"{text}, yet the run learns.", measures=measures, evidence=where)
    return present(f"{text}: the model starts out certain and has nothing to choose between.", Onset(at, at, at), measures, where)


def _first(run: Run, name: str) -> float:
    """The level at which a curve opens; NaN where it is not logged."""
    curve = run.curves.get(name)
    return float(np.median(segments.opening(curve))) if curve is not None and curve.finite()[1].size else float("nan")
