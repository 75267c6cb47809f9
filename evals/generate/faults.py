"""The classic-control runs of the corpus as data: environment, algorithm, what was broken in it, and how readings of it are admitted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PPO = {"n_steps": 256, "batch_size": 256, "n_epochs": 20, "learning_rate": 1e-3, "gae_lambda": 0.8, "gamma": 0.98, "n_envs": 8}
DQN = {
    "learning_rate": 2.3e-3, "batch_size": 64, "buffer_size": 50_000, "learning_starts": 1000, "target_update_interval": 10, "gamma": 0.99,
    "train_freq": 64, "gradient_steps": 32, "exploration_fraction": 0.16, "exploration_final_eps": 0.04,
    "policy_kwargs": {"net_arch": [64, 64]},
}  # fmt: skip
A2C = {"n_envs": 8}
"""Hyper-parameters that work on these tasks, near those of the library's own zoo."""


@dataclass(frozen=True)
class Recipe:
    """One family of runs; ``changes`` are hyper-parameters, ``wrap`` changes of the training environment only."""

    family: str
    env: str
    algo: str
    steps: int
    note: str
    links: tuple[str, ...] = ()
    """Admissible first broken links; empty when nothing was broken."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    wrap: Mapping[str, float] = field(default_factory=dict)
    later: Mapping[str, float] = field(default_factory=dict)
    """What changes at ``injected_at``: ``learning_rate``, or a number of the training environment as in ``wrap``."""
    hacks: bool = False
    """Whether the training reward may rise while the task is unlearned."""
    injected_at: int | None = None
    """Step at which ``changes`` or ``wrap`` set in, when not from the start."""
    seeds: tuple[int, ...] = (1,)
    episodes: int = 20
    """Episodes of an evaluation, half of them hidden; more where an episode is but won or lost."""


BASE: Mapping[str, Mapping[str, Any]] = {
    "PPO": PPO,
    "DQN": DQN,
    "A2C": A2C,
    "SAC": {"learning_rate": 1e-3},
    "TD3": {},
    "DDPG": {},
    "TRPO": {},
    "QRDQN": {},
    "TQC": {},
}

CARTPOLE_PPO = ("CartPole-v1", "PPO", 50_000)
CARTPOLE_A2C = ("CartPole-v1", "A2C", 60_000)
CARTPOLE_DQN = ("CartPole-v1", "DQN", 50_000)
ACROBOT_PPO = ("Acrobot-v1", "PPO", 50_000)

RECIPES = (
    Recipe("ppo-cartpole-healthy", *CARTPOLE_PPO, "nothing was changed", seeds=(1, 2)),
    Recipe("a2c-cartpole-healthy", *CARTPOLE_A2C, "nothing was changed"),
    Recipe("dqn-cartpole-healthy", *CARTPOLE_DQN, "nothing was changed"),
    Recipe("ppo-acrobot-healthy", *ACROBOT_PPO, "nothing was changed", changes={"gae_lambda": 0.94, "gamma": 0.99}),
    Recipe("ppo-cartpole-short", "CartPole-v1", "PPO", 14_000, "a budget too short to converge", seeds=(3,)),
    Recipe("sac-pendulum-healthy", "Pendulum-v1", "SAC", 8_000, "nothing was changed"),
    Recipe(
        "ppo-cartpole-reversed", "CartPole-v1", "PPO", 40_000, "the reward has the wrong sign: short episodes pay", ("reward_signal",),
        wrap={"scale": -1.0}, hacks=True,
    ),
    Recipe(
        "a2c-cartpole-scaled", "CartPole-v1", "A2C", 50_000, "rewards are a thousand times too large",
        ("reward_signal", "training_signal", "policy_update"), wrap={"scale": 1000.0},
    ),
    Recipe("ppo-cartpole-lr-high", *CARTPOLE_PPO, "learning rate a hundred times too high", ("policy_update",), {"learning_rate": 0.1}),
    Recipe(
        "ppo-cartpole-lr-low", "CartPole-v1", "PPO", 40_000, "learning rate a thousand times too low", ("policy_update",),
        {"learning_rate": 1e-6},
    ),
    Recipe(
        "ppo-cartpole-no-clip", *CARTPOLE_PPO, "no clipping, large steps", ("policy_update",), {"clip_range": 1e6, "learning_rate": 1e-2}
    ),
    Recipe("ppo-cartpole-no-critic", *CARTPOLE_PPO, "the value loss has no weight", ("training_signal",), {"vf_coef": 0.0}),
    Recipe(
        "dqn-cartpole-greedy", *CARTPOLE_DQN, "no exploration from the start", ("exploration",),
        {"exploration_initial_eps": 0.0, "exploration_final_eps": 0.0},
    ),
    Recipe("ppo-acrobot-greedy", "Acrobot-v1", "PPO", 40_000, "the entropy is punished", ("exploration",), {"ent_coef": -0.3}),
    Recipe(
        "dqn-cartpole-stale", *CARTPOLE_DQN, "nothing is stored any more from a third of the run on", ("data_freshness",),
        wrap={"freeze_at": 16_000.0}, injected_at=16_000,
    ),
    Recipe(
        "dqn-cartpole-truncation", *CARTPOLE_DQN, "a time limit of 50 steps is stored as a true end",
        ("environment_data", "training_signal"),
        wrap={"time_limit": 50.0},
    ),
    Recipe("ppo-cartpole-wide", *CARTPOLE_PPO, "nothing was changed; a wider network", changes={"policy_kwargs": {"net_arch": [128, 128]}}),
    Recipe("ppo-cartpole-calm", *CARTPOLE_PPO, "nothing was changed; small steps", changes={"learning_rate": 3e-4, "n_epochs": 10}),
    Recipe(
        "ppo-acrobot-calm", *ACROBOT_PPO, "nothing was changed; small steps",
        changes={"gae_lambda": 0.94, "gamma": 0.99, "learning_rate": 3e-4, "n_epochs": 10},
    ),
    Recipe("ppo-cartpole-early", "CartPole-v1", "PPO", 20_000, "a budget too short to converge", changes={"learning_rate": 3e-4}),
    Recipe("sac-pendulum-calm", "Pendulum-v1", "SAC", 6_000, "nothing was changed; smaller steps", changes={"learning_rate": 5e-4}),
    Recipe("ppo-cartpole-long-horizon", *CARTPOLE_PPO, "nothing was changed; another discount", changes={"gamma": 0.99, "gae_lambda": 0.9}),
    Recipe("ppo-acrobot-healthy", *ACROBOT_PPO, "nothing was changed", changes={"gae_lambda": 0.94, "gamma": 0.99}, seeds=(2,)),
    Recipe("sac-pendulum-healthy", "Pendulum-v1", "SAC", 8_000, "nothing was changed", seeds=(2,)),
)  # fmt: skip
"""Every run of the classic part of the corpus."""
SMOKE = ("dqn-cartpole-truncation", "ppo-cartpole-lr-high")
"""Families of the quick split."""
