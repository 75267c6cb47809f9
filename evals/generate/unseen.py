"""The classic-control runs that no rule was written on, as data: other tasks, other algorithms, other faults than in ``faults.py``.

Hyper-parameters of the sound runs are near those of the library's own zoo and were not tried out first; what came of them is labeled
by hindsight, and every run that was made is kept. Those of seed 13 were added on tasks that are usually learned, after most of the first
nine runs without a fault had come out restless or slow: of the whole corpus four runs in ten should be sound.
"""

from faults import Recipe

PENDULUM_PPO = {
    "n_envs": 4, "n_steps": 1024, "gae_lambda": 0.95, "gamma": 0.9, "learning_rate": 1e-3, "use_sde": True, "sde_sample_freq": 4,
}  # fmt: skip
ACROBOT_DQN = {
    "learning_rate": 6.3e-4, "batch_size": 128, "buffer_size": 50_000, "learning_starts": 1000, "target_update_interval": 250, "gamma": 0.99,
    "train_freq": 4, "gradient_steps": 4, "exploration_fraction": 0.12, "exploration_final_eps": 0.1, "policy_kwargs": {"net_arch": [64, 64]},
}  # fmt: skip
CAR_DQN = {
    "learning_rate": 4e-3, "batch_size": 128, "buffer_size": 10_000, "learning_starts": 1000, "target_update_interval": 600, "gamma": 0.98,
    "train_freq": 16, "gradient_steps": 8, "exploration_fraction": 0.2, "exploration_final_eps": 0.07,
    "policy_kwargs": {"net_arch": [128, 128]},
}  # fmt: skip
CAR_SAC = {
    "learning_rate": 3e-4, "buffer_size": 50_000, "batch_size": 256, "ent_coef": 0.1, "train_freq": 32, "gradient_steps": 32, "gamma": 0.9999,
    "tau": 0.01, "learning_starts": 0, "use_sde": True, "policy_kwargs": {"log_std_init": -3.67, "net_arch": [64, 64]},
}  # fmt: skip
LAKE_PPO = {"n_steps": 128, "batch_size": 256, "n_epochs": 10, "learning_rate": 1e-3, "gamma": 0.99, "ent_coef": 0.01}
LANDER_PPO = {"n_envs": 16, "n_steps": 1024, "batch_size": 64, "n_epochs": 4, "gamma": 0.999, "gae_lambda": 0.98, "ent_coef": 0.01}
SMALL = {"policy_kwargs": {"net_arch": [64, 64]}, "learning_rate": 1e-3, "learning_starts": 500}

PENDULUM = ("Pendulum-v1", "PPO", 60_000)
LAKE = ("FrozenLake-v1", "PPO", 60_000)

RECIPES = (
    Recipe("dqn-acrobot-healthy", "Acrobot-v1", "DQN", 30_000, "nothing was changed", changes=ACROBOT_DQN, seeds=(11,)),
    Recipe("ppo-frozenlake-healthy", *LAKE, "nothing was changed", changes=LAKE_PPO, seeds=(11,), episodes=100),
    Recipe("ppo-pendulum-healthy", *PENDULUM, "nothing was changed", changes=PENDULUM_PPO, seeds=(11,)),
    Recipe("td3-pendulum-healthy", "Pendulum-v1", "TD3", 8_000, "nothing was changed", changes=SMALL, seeds=(11,)),
    Recipe("ddpg-pendulum-healthy", "Pendulum-v1", "DDPG", 8_000, "nothing was changed", changes=SMALL, seeds=(11,)),
    Recipe("sac-car-healthy", "MountainCarContinuous-v0", "SAC", 20_000, "nothing was changed", changes=CAR_SAC, seeds=(11,)),
    Recipe("dqn-car-healthy", "MountainCar-v0", "DQN", 60_000, "nothing was changed", changes=CAR_DQN, seeds=(11,)),
    Recipe("ppo-lander-healthy", "LunarLander-v3", "PPO", 150_000, "nothing was changed", changes=LANDER_PPO, seeds=(11,)),
    Recipe("a2c-acrobot-healthy", "Acrobot-v1", "A2C", 80_000, "nothing was changed", changes={"n_envs": 16}, seeds=(11,)),
    Recipe("td3-pendulum-calm", "Pendulum-v1", "TD3", 6_000, "nothing was changed; smaller steps", changes={**SMALL, "learning_rate": 5e-4}, seeds=(13,)),
    Recipe("ppo-pendulum-calm", *PENDULUM, "nothing was changed; smaller steps", changes={**PENDULUM_PPO, "learning_rate": 5e-4}, seeds=(13,)),
    Recipe(
        "ppo-pendulum-lr-jump", *PENDULUM, "the learning rate becomes a hundred times larger at half of the run", ("policy_update",),
        changes=PENDULUM_PPO, later={"learning_rate": 0.1}, injected_at=30_000, seeds=(12,),
    ),
    Recipe(
        "dqn-acrobot-target-frozen", "Acrobot-v1", "DQN", 30_000, "the target network is never brought up to date", ("training_signal",),
        changes={**ACROBOT_DQN, "target_update_interval": 10_000_000}, seeds=(12,),
    ),
    Recipe(
        "sac-pendulum-hot", "Pendulum-v1", "SAC", 6_000, "the entropy bonus outweighs the reward", ("exploration", "policy_update"),
        changes={**SMALL, "ent_coef": 50.0}, seeds=(12,),
    ),
    Recipe(
        "td3-pendulum-reversed-late", "Pendulum-v1", "TD3", 8_000, "the reward changes its sign at half of the run", ("reward_signal",),
        changes=SMALL, later={"scale": -1.0}, injected_at=4_000, hacks=True, seeds=(12,),
    ),
    Recipe(
        "ppo-frozenlake-actions-swapped", *LAKE, "the actions mean something else in training from half of the run on", ("environment_data",),
        changes=LAKE_PPO, later={"shift_actions": 1.0}, injected_at=30_000, seeds=(12,), episodes=100,
    ),
    Recipe(
        "ppo-acrobot-noise", "Acrobot-v1", "PPO", 50_000, "the reward is nothing but noise from half of the run on", ("reward_signal",),
        changes={"gae_lambda": 0.94, "gamma": 0.99}, later={"noise": 1.0}, injected_at=25_000, seeds=(12,),
    ),
    Recipe(
        "a2c-cartpole-lr-jump", "CartPole-v1", "A2C", 60_000, "the learning rate becomes fifty times larger at two thirds of the run",
        ("policy_update",), later={"learning_rate": 0.035}, injected_at=40_000, seeds=(12,),
    ),
)  # fmt: skip
"""Every run of the part of the corpus that no rule was written on."""
