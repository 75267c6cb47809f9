"""RLinf (embodied and reasoning): ``env/``, ``rollout/`` and ``train/actor/``, in TensorBoard and behind its progress bar."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="rlinf",
    marks=(
        "env/success_once", "env/return", "env/episode_len", "rollout/advantages_mean", "rollout/advantages_max", "train/actor/grad_norm",
        "train/actor/policy_loss", "train/actor/clip_fraction", "train/actor/approx_kl", "train/critic/value_loss",
    ),
    metrics={
        "env/return": "reward/mean",
        "env/success_once": "reward/success",
        "env/episode_len": "episode/length",
        "rollout/rewards": "reward/used",
        "rollout/advantages_mean": "advantage/mean",
        "rollout/advantages_max": "advantage/max",
        "rollout/advantages_min": "advantage/min",
        "rollout/returns_mean": "value/return_mean",
        "train/actor/policy_loss": "policy/loss",
        "train/actor/total_loss": "policy/total_loss",
        "train/actor/grad_norm": "policy/grad_norm",
        "train/actor/lr": "policy/learning_rate",
        "train/actor/approx_kl": "kl/old",
        "train/actor/ratio": "ratio/mean",
        "train/actor/clip_fraction": "ratio/clip_fraction",
        "train/critic/value_loss": "value/loss",
        "train/critic/explained_variance": "value/explained_variance",
        "train/critic/value_clip_ratio": "value/clip_fraction",
        "time/step": "time/step",
    },
    patterns=(
        (r"eval/(success_once|return|success_at_end)", r"eval/score/\1"),
        (r"eval/(.+)", r"eval/other/\1"),
        (r"time/(.+)", r"time/phase/\1"),
    ),
    step="training steps",
    notes={
        "reward/used": "per step of a chunk, before the sum over an episode",
        "reward/success": "share that succeeded at any time of the episode",
    },
)  # fmt: skip
