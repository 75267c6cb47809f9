"""rl_games (IsaacGymEnvs, Isaac Lab): TensorBoard by frame; names that end in ``/iter`` and ``/time`` repeat others by epoch and second."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="rl_games",
    marks=(
        "rewards/step", "rewards/iter", "rewards/time", "rewards/frame", "episode_lengths/step", "episode_lengths/iter",
        "episode_lengths/frame", "rewards0/step", "shaped_rewards/step", "losses/a_loss", "losses/c_loss", "losses/bounds_loss",
        "info/last_lr", "info/lr_mul", "info/e_clip", "performance/step_inference_fps", "performance/step_inference_rl_update_fps",
    ),
    metrics={
        "rewards/step": "reward/mean",
        "rewards/frame": "reward/mean",
        "rewards0/step": "reward/mean",
        "rewards0/frame": "reward/mean",
        "shaped_rewards/step": "reward/used",
        "episode_lengths/step": "episode/length",
        "episode_lengths/frame": "episode/length",
        "losses/a_loss": "policy/loss",
        "losses/c_loss": "value/loss",
        "losses/entropy": "entropy/mean",
        "info/last_lr": "policy/learning_rate",
        "info/e_clip": "ratio/clip_range",
        "info/kl": "kl/old",
        "performance/step_inference_rl_update_fps": "throughput/env_steps",
        "performance/total_fps": "throughput/env_steps",
    },
    patterns=((r"performance/(\w+)_time", r"time/phase/\1"),),
    step="env steps",
    notes={
        "reward/mean": "return of the last episodes, before the reward shaper",
        "reward/used": "after the reward shaper",
        "entropy/mean": "of a Gaussian, so it may be negative",
    },
    config={
        "params.config.max_epochs": "planned_epochs", "params.config.learning_rate": "learning_rate", "params.config.gamma": "gamma",
        "params.config.e_clip": "clip_range", "params.config.entropy_coef": "entropy_coef",
        "params.config.mini_epochs": "updates_per_batch", "params.seed": "seed", "params.algo.name": "algorithm",
    },
)  # fmt: skip
