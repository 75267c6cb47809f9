"""Brax: training by environment step with ``eval/`` and ``training/``; the entropy loss holds its cost and its sign and stays unmapped."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="brax",
    marks=(
        "eval/avg_episode_length", "eval/epoch_eval_time",
        "training/v_loss", "training/entropy_loss", "training/sps", "training/walltime",
    ),
    metrics={
        "eval/episode_reward": "eval/score/episode_reward",
        "eval/avg_episode_length": "eval/length",
        "episode/sum_reward": "reward/mean",
        "episode/length": "episode/length",
        "training/policy_loss": "policy/loss",
        "training/actor_loss": "policy/loss",
        "training/total_loss": "policy/total_loss",
        "training/v_loss": "value/loss",
        "training/critic_loss": "value/loss",
        "training/alpha": "entropy/coef",
        "training/alpha_loss": "entropy/coef_loss",
        "training/kl_mean": "kl/old",
        "training/sps": "throughput/env_steps",
        "training/walltime": "time/elapsed",
    },
    patterns=((r"eval/(.+)", r"eval/other/\1"),),
    step="env steps",
)  # fmt: skip
