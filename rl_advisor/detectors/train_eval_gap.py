"""The training reward rises while the held-out score falls: the reward is being gamed, or the training data learned by heart.

Looks for: a reward that gained, a held-out score that lost, and a gap between the two that widens; then whether side metrics
    (length, truncation, entropy, KL, tool calls) left their own beginnings at the same time.
Means: with side metrics far from their beginnings and prompts that vary, the policy has found what the reward pays besides the
    task. With the same few prompts again and again and an unchanged style, it has learned the prompts (see memorised_data).
Not to be confused with: a constant distance between easy training prompts and hard test prompts: only a widening gap counts; a
    test protocol that changed (one step in the score alone).
Next test: read twenty of the highest-rewarded responses of the last checkpoint; grade them again with a second, stricter verifier.
Source: the field guide's triad of reward hacking; reward-model over-optimisation (Gao et al. 2022, arXiv 2210.10760).
"""

import numpy as np

from rl_advisor import course, trajectory
from rl_advisor.features.relation import gap_trend
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present, unclear
from rl_advisor.run import Run
from rl_advisor.trajectory import Shape
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.GAMING
WEIGHT = 2.0
NEEDS: tuple[str, ...] = ("eval/score/*", "reward/mean|reward/used|reward/success")
BRINGS: tuple[str, ...] = (
    "truncation",
    "length_inflation",
    "length_collapse",
    "zero_variance_groups",
    "destructive_drift",
    "drift_without_gain",
    "drift_with_gain",
    "update_too_large",
    "entropy_explosion",
    "entropy_collapse",
    "gradient_spikes",
    "loss_discontinuity",
    "sample_repetition",
    "template_collapse",
    "reward_outliers",
)


def detect(run: Run) -> Answer:
    """Present when the reward ends above its start and the score below its best, both by more than noise, and the gap widens."""
    score, reward = trajectory.held_out(run), trajectory.training(run)
    assert score is not None and reward is not None  # diagnosis asked for both
    held, train = trajectory.shape(score), trajectory.shape(reward)
    gap = gap_trend(train.step, train.value, held.step, held.value)
    left = course.departures(run)
    gained = train.last - train.start
    measures = {
        "reward_start": train.start,
        "reward_last": train.last,
        "reward_best": train.best,
        "reward_best_step": train.best_step,
        "score_best": held.best,
        "score_last": held.last,
        "gap_p": gap.p,
        "side_metrics_changed": float(len(left)),
    }
    where = (Evidence(held.name, held.best_step, float(held.step[-1])), Evidence(train.name, held.best_step, float(train.step[-1])))
    went = (
        f"{train.name} went from {number(train.start)} to {number(train.last)}, {held.name} from {number(held.best)} to {number(held.last)}"
    )
    if parted(held, train, gained):
        side = ", ".join(sorted(left)) or "none"
        text = f"{went}: they part. Side metrics far from their beginning: {side}."
        return present(text, course.decline_began(score), measures, where)
    if held.n < 8 and gained > train.margin and not held.rose:
        return unclear(f"{went}: {held.n} evaluations are too few to say.", measures=measures)
    return absent(f"{went}: no widening gap.", measures=measures, evidence=where)


def parted(held: Shape, train: Shape, gained: float) -> bool:
    """Whether the score fell for good while the reward, over the same stretch, did not fall with it."""
    after = train.value[train.step >= held.best_step]
    before = train.value[train.step <= held.best_step]
    kept = float(np.median(after[-max(3, after.size // 5) :])) if after.size else train.last
    base = float(np.median(before[-5:])) if before.size >= 3 else train.start
    sure = train.gain.low > 0 or train.overall.low > 0
    reward_rose = max(gained, kept - base) > train.margin and sure and train.lost < 0.3
    score_fell = held.fell and held.lost > 0.15
    return bool(score_fell and reward_rose)
