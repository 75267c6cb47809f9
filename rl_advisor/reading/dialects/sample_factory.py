"""Sample Factory 2.1: TensorBoard by environment frames. ``train/ratio_mean`` is mean |1 - ratio|, so it is no ratio and stays unmapped."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="sample_factory",
    marks=(
        "train/fraction_clipped", "train/kl_divergence", "train/kl_divergence_max", "train/version_diff_avg", "train/version_diff_max",
        "train/exploration_loss", "train/adv_std", "policy_stats/avg_reward", "policy_stats/avg_len", "policy_stats/avg_true_objective",
        "perf/_fps", "perf/_sample_throughput", "train/ratio_mean", "reward/reward", "len/len",
    ),
    metrics={
        "policy_stats/avg_reward": "reward/mean",
        "policy_stats/avg_reward_min": "reward/min",
        "policy_stats/avg_reward_max": "reward/max",
        "policy_stats/avg_len": "episode/length",
        "reward/reward": "reward/mean",
        "reward/reward_min": "reward/min",
        "reward/reward_max": "reward/max",
        "len/len": "episode/length",
        "train/loss": "policy/total_loss",
        "train/policy_loss": "policy/loss",
        "train/value_loss": "value/loss",
        "train/value": "value/mean",
        "train/adv_std": "advantage/std",
        "train/entropy": "entropy/mean",
        "train/kl_divergence": "kl/old",
        "train/fraction_clipped": "ratio/clip_fraction",
        "train/ratio_min": "ratio/min",
        "train/ratio_max": "ratio/max",
        "train/grad_norm": "policy/grad_norm",
        "train/lr": "policy/learning_rate",
        "train/version_diff_avg": "rollout/staleness",
        "train/version_diff_max": "rollout/staleness_max",
        "perf/_fps": "throughput/env_steps",
    },
    step="env steps",
    config={
        "train_for_env_steps": "planned_steps", "learning_rate": "learning_rate", "gamma": "gamma", "ppo_clip_ratio": "clip_range",
        "exploration_loss_coeff": "entropy_coef", "num_epochs": "updates_per_batch", "num_batches_per_epoch": "minibatches",
        "seed": "seed", "algo": "algorithm",
    },
)  # fmt: skip
