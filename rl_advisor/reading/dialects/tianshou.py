"""Tianshou 2: ``training/`` and ``test/`` by environment step, ``update/`` by update, ``info/`` by epoch: four axes in one file."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="tianshou",
    marks=(
        "training/returns_stat/mean", "training/lens_stat/mean", "training/n_collected_episodes", "training/n_collected_steps",
        "training/collect_time", "training/collect_speed", "test/returns_stat/mean", "update/gradient_steps", "update/update_step",
        "training/env_step", "info/best_reward",
    ),
    metrics={
        "training/returns_stat/mean": "reward/mean",
        "training/returns_stat/std": "reward/std",
        "training/returns_stat/min": "reward/min",
        "training/returns_stat/max": "reward/max",
        "training/lens_stat/mean": "episode/length",
        "test/returns_stat/mean": "eval/score/return",
        "test/lens_stat/mean": "eval/length",
        "training/collect_speed": "throughput/env_steps",
        "update/gradient_steps": "progress/updates",
        "update/loss/mean": "policy/total_loss",
        "update/loss": "policy/total_loss",
        "update/actor_loss/mean": "policy/loss",
        "update/actor_loss": "policy/loss",
        "update/vf_loss/mean": "value/loss",
        "update/critic_loss": "value/loss",
        "update/critic1_loss": "value/loss",
        "update/ent_loss/mean": "entropy/mean",
        "update/alpha": "entropy/coef",
        "update/alpha_loss": "entropy/coef_loss",
    },
    patterns=((r"test/(.+)", r"eval/other/\1"),),
    step="env steps",
    notes={
        "entropy/mean": "plus the entropy, although it is called a loss",
        "policy/loss": "the step of update/ names is the count of updates, not of environment steps",
        "value/loss": "the step of update/ names is the count of updates, not of environment steps",
    },
)  # fmt: skip
