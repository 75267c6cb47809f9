"""Dreamer (v2, v3): JSON lines by environment step; losses of the world model and of imagined rollouts stand beside episode scores."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="dreamer",
    marks=(
        "episode/score", "train/loss/dyn", "train/loss/rep", "train/loss/rew", "train/rand/action", "train/dyn_loss", "train/rep_loss",
        "train/model_loss", "train/reward_loss", "image_loss", "prior_ent", "post_ent", "fps/policy", "fps/train",
    ),
    metrics={
        "episode/score": "reward/mean",
        "train_return": "reward/mean",
        "episode/length": "episode/length",
        "train_length": "episode/length",
        "eval_return": "eval/score/return",
        "eval_episode/score": "eval/score/score",
        "eval_length": "eval/length",
        "eval_episode/length": "eval/length",
        "actor_loss": "policy/loss",
        "train/actor_loss": "policy/loss",
        "train/loss/policy": "policy/loss",
        "critic_loss": "value/loss",
        "train/critic_loss": "value/loss",
        "train/loss/value": "value/loss",
        "actor_ent": "entropy/mean",
        "train/policy_entropy": "entropy/mean",
        "actor_grad_norm": "policy/grad_norm",
        "fps/policy": "throughput/env_steps",
    },
    step="env steps",
    notes={
        "reward/mean": "score of an episode that ended",
        "policy/loss": "on imagined rollouts",
        "value/loss": "on imagined rollouts",
    },
)  # fmt: skip
