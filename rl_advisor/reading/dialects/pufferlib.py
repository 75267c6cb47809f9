"""PufferLib: CleanRL's losses by agent step, with ``environment/`` for what the episodes gave."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="pufferlib",
    marks=(
        "environment/episode_return", "environment/episode_length", "environment/score", "environment/perf", "environment/n",
        "agent_steps", "losses/importance", "performance/eval", "performance/train", "overview/agent_steps", "overview/sps",
    ),
    metrics={
        "environment/episode_return": "reward/mean",
        "environment/score": "reward/mean",
        "environment/episode_length": "episode/length",
        "losses/policy_loss": "policy/loss",
        "losses/value_loss": "value/loss",
        "losses/entropy": "entropy/mean",
        "losses/approx_kl": "kl/old",
        "losses/old_approx_kl": "kl/old",
        "losses/clipfrac": "ratio/clip_fraction",
        "losses/explained_variance": "value/explained_variance",
        "learning_rate": "policy/learning_rate",
        "SPS": "throughput/env_steps",
        "overview/sps": "throughput/env_steps",
    },
    step="env steps",
    notes={"kl/old": "k3 estimator (old_approx_kl: k1, signed)"},
)  # fmt: skip
