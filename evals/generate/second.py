"""A second set of runs that no rule was written on, as data: made after the first one had been looked at.

Algorithms (from the library's contributed package, too), tasks and faults are again others. Hyper-parameters of the sound runs are the
library's own or near those of its zoo and were not tried out first; what came of them is labeled by hindsight, and every run is kept.
Those of seeds 33 and 43 were added, before anything was scored, so that four runs of the whole corpus in ten are sound.
"""

from faults import CARTPOLE_A2C, CARTPOLE_DQN, CARTPOLE_PPO, Recipe
from grpo_faults import grpo
from unseen import LANDER_PPO, PENDULUM_PPO, SMALL

TRPO = {"n_steps": 1024, "gae_lambda": 0.98, "gamma": 0.99, "learning_rate": 1e-3}
QRDQN = {
    "learning_rate": 2.3e-3, "batch_size": 64, "buffer_size": 100_000, "learning_starts": 1000, "target_update_interval": 10, "gamma": 0.99,
    "train_freq": 64, "gradient_steps": 32, "exploration_fraction": 0.16, "exploration_final_eps": 0.04,
    "policy_kwargs": {"net_arch": [64, 64], "n_quantiles": 10},
}  # fmt: skip
TAXI_PPO = {"n_envs": 8, "n_steps": 256, "batch_size": 256, "n_epochs": 10, "learning_rate": 1e-3, "gamma": 0.98, "ent_coef": 0.02}
PENDULUM = ("Pendulum-v1", "PPO", 60_000)
TAXI = ("Taxi-v4", "PPO", 100_000)
NOTHING = "nothing was changed"

RECIPES = (
    Recipe("trpo-cartpole-healthy", "CartPole-v1", "TRPO", 60_000, NOTHING, changes=TRPO, seeds=(31,)),
    Recipe("qrdqn-cartpole-healthy", "CartPole-v1", "QRDQN", 50_000, NOTHING, changes=QRDQN, seeds=(31,)),
    Recipe("tqc-pendulum-healthy", "Pendulum-v1", "TQC", 6_000, NOTHING, changes=SMALL, seeds=(31,)),
    Recipe("ppo-taxi-healthy", *TAXI, NOTHING, changes=TAXI_PPO, seeds=(31,)),
    Recipe("trpo-pendulum-healthy", "Pendulum-v1", "TRPO", 80_000, NOTHING, changes={**TRPO, "gamma": 0.9, "gae_lambda": 0.95}, seeds=(31,)),
    Recipe("ppo-lander-continuous", "LunarLanderContinuous-v3", "PPO", 120_000, NOTHING, changes=LANDER_PPO, seeds=(31,)),
    Recipe("a2c-pendulum-healthy", "Pendulum-v1", "A2C", 80_000, NOTHING, changes={"n_envs": 8, "gamma": 0.9, "gae_lambda": 0.9, "use_sde": True, "max_grad_norm": 0.5, "n_steps": 8, "learning_rate": 7e-4}, seeds=(31,)),
    Recipe(
        "trpo-cartpole-step-large", "CartPole-v1", "TRPO", 60_000, "the trust region is two hundred times too wide", ("policy_update",),
        changes={**TRPO, "target_kl": 2.0}, seeds=(32,),
    ),
    Recipe(
        "ppo-pendulum-clip-shut", *PENDULUM, "the clip range lets no step through", ("policy_update",),
        changes={**PENDULUM_PPO, "clip_range": 1e-4}, seeds=(32,),
    ),
    Recipe(
        "ppo-cartpole-short-sighted", *CARTPOLE_PPO, "a discount of 0.2: nothing later than a step counts", ("training_signal",),
        changes={"gamma": 0.2}, seeds=(32,),
    ),
    Recipe(
        "qrdqn-cartpole-rate-jump", "CartPole-v1", "QRDQN", 50_000, "the learning rate becomes two hundred times larger at half of the run",
        ("policy_update", "training_signal"), changes=QRDQN, later={"learning_rate": 0.46}, injected_at=25_000, seeds=(32,),
    ),
    Recipe(
        "tqc-pendulum-noise-late", "Pendulum-v1", "TQC", 6_000, "the reward is nothing but noise from half of the run on", ("reward_signal",),
        changes=SMALL, later={"noise": 5.0}, injected_at=3_000, seeds=(32,),
    ),
    Recipe(
        "ppo-taxi-rewards-large", *TAXI, "rewards are ten thousand times too large", ("reward_signal", "training_signal", "policy_update"),
        changes=TAXI_PPO, wrap={"scale": 10_000.0}, seeds=(32,),
    ),
    Recipe(
        "a2c-cartpole-noise", *CARTPOLE_A2C, "the reward is nothing but noise from two fifths of the run on", ("reward_signal",),
        later={"noise": 1.0}, injected_at=24_000, seeds=(32,),
    ),
    Recipe(
        "dqn-cartpole-buffer-tiny", *CARTPOLE_DQN, "the replay buffer holds two hundred steps", ("environment_data", "training_signal", "policy_update"),
        {"buffer_size": 200, "target_update_interval": 10}, seeds=(32,),
    ),
    Recipe(
        "ppo-cartpole-swapped", *CARTPOLE_PPO, "the actions mean something else in training from half of the run on", ("environment_data",),
        later={"shift_actions": 1.0}, injected_at=25_000, seeds=(32,),
    ),
    Recipe("trpo-acrobot-healthy", "Acrobot-v1", "TRPO", 60_000, NOTHING, changes={**TRPO, "n_envs": 4}, seeds=(33,)),
    Recipe("trpo-cartpole-many", "CartPole-v1", "TRPO", 80_000, "nothing was changed; eight environments", changes={**TRPO, "n_envs": 8, "n_steps": 256}, seeds=(33,)),
    Recipe(
        "ppo-cartpole-library", *CARTPOLE_PPO, "nothing was changed; the library's own hyper-parameters",
        changes={"n_envs": 4, "n_steps": 2048, "batch_size": 64, "n_epochs": 10, "learning_rate": 3e-4, "gae_lambda": 0.95, "gamma": 0.99}, seeds=(33,),
    ),
)  # fmt: skip
"""The classic-control runs of the second set."""

GRPO_RECIPES = (
    grpo("grpo-second-reverse", "reverse", NOTHING, right=0.5, seeds=(41,)),
    grpo("grpo-second-digit-sum", "digit-sum", "nothing was changed; credit for single characters", reward="partial", right=0.3, seeds=(41,)),
    grpo(
        "grpo-second-leash", "greatest", "the KL term outweighs the reward: the policy can't move", "policy_update", "training_signal",
        changes={"beta": 20.0}, right=0.4, seeds=(42,),
    ),
    grpo(
        "grpo-second-hot", "reverse", "sampling at a temperature of three", "exploration",
        changes={"temperature": 3.0}, seeds=(42,),
    ),
    grpo(
        "grpo-second-cut-off", "ordered", "answers are cut off before they can be right", "environment_data",
        changes={"max_completion_length": 4}, reward="partial", seeds=(42,),
    ),
    grpo(
        "grpo-second-long-late", "reverse", "the reward pays for length from half of the run on", "reward_signal",
        later={"reward": "long"}, injected_at=75, hacks=True, seeds=(42,),
    ),
    grpo(
        "grpo-second-long-late-unseen", "digit-sum", "the reward pays for length from two fifths of the run on; no held-out score is logged",
        "reward_signal", later={"reward": "long"}, injected_at=60, hacks=True, logged_eval=False, seeds=(42,),
    ),
    grpo("grpo-second-greatest", "greatest", NOTHING, right=0.6, seeds=(43,)),
    grpo("grpo-second-ordered", "ordered", NOTHING, right=0.5, seeds=(43,)),
    grpo("grpo-second-reverse-dapo", "reverse", "nothing was changed; another loss", changes={"loss_type": "dapo"}, right=0.3, seeds=(43,)),
    grpo("grpo-second-digit-sum-bnpo", "digit-sum", "nothing was changed; another loss", changes={"loss_type": "bnpo"}, right=0.5, seeds=(43,)),
)  # fmt: skip
"""The runs of small language models of the second set."""
