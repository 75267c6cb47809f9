"""skrl: TensorBoard by timestep, each of which is one step of every environment. ``Loss / Entropy loss`` holds its weight: unmapped."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="skrl",
    marks=(
        "Reward / Total reward (mean)", "Reward / Total reward (max)", "Reward / Instantaneous reward (mean)",
        "Episode / Total timesteps (mean)", "Loss / Policy loss", "Loss / Value loss", "Loss / Entropy loss", "Loss / Critic loss",
        "Policy / Standard deviation", "Learning / Learning rate", "Coefficient / Entropy coefficient",
    ),
    metrics={
        "Reward / Total reward (mean)": "reward/mean",
        "Reward / Total reward (min)": "reward/min",
        "Reward / Total reward (max)": "reward/max",
        "Episode / Total timesteps (mean)": "episode/length",
        "Loss / Policy loss": "policy/loss",
        "Loss / Value loss": "value/loss",
        "Loss / Critic loss": "value/loss",
        "Policy / Standard deviation": "policy/std",
        "Policy / KL divergence": "kl/old",
        "Learning / Learning rate": "policy/learning_rate",
        "Learning / Policy learning rate": "policy/learning_rate",
        "Coefficient / Entropy coefficient": "entropy/coef",
        "Q-network / Q1 (mean)": "value/mean",
    },
    step="env steps",
    notes={"reward/mean": "return of the episodes that ended since the last write"},
    config={"agent.learning_rate": "learning_rate", "agent.ratio_clip": "clip_range", "trainer.timesteps": "planned_steps", "seed": "seed"},
)  # fmt: skip
