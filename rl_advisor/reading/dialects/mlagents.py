"""Unity ML-Agents: TensorBoard of one behaviour by environment step, and the lines of its console (``Step: 5000. ... Mean Reward:``)."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="mlagents",
    marks=(
        "Environment/Cumulative Reward", "Environment/Episode Length", "Environment/Lesson", "Policy/Extrinsic Reward",
        "Policy/Extrinsic Value Estimate", "Losses/Policy Loss", "Losses/Value Loss", "Is Training", "Std of Reward", "Self-play/ELO",
        "Info/cumulative_reward", "Info/episode_length", "Info/value_estimate",
    ),
    metrics={
        "Self-play/ELO": "eval/score/ELO",
        "Environment/Cumulative Reward": "reward/mean",
        "Mean Reward": "reward/mean",
        "Info/cumulative_reward": "reward/mean",
        "Info/episode_length": "episode/length",
        "Info/policy_loss": "policy/loss",
        "Info/value_loss": "value/loss",
        "Info/entropy": "entropy/mean",
        "Info/learning_rate": "policy/learning_rate",
        "Info/value_estimate": "value/mean",
        "Environment/Group Cumulative Reward": "reward/mean",
        "Std of Reward": "reward/std",
        "Environment/Episode Length": "episode/length",
        "Losses/Policy Loss": "policy/loss",
        "Losses/Value Loss": "value/loss",
        "Losses/Q1 Loss": "value/loss",
        "Policy/Entropy": "entropy/mean",
        "Policy/Learning Rate": "policy/learning_rate",
        "Policy/Epsilon": "ratio/clip_range",
        "Policy/Entropy Coeff": "entropy/coef",
        "Policy/Discrete Entropy Coeff": "entropy/coef",
        "Policy/Continuous Entropy Coeff": "entropy/coef",
        "Policy/Beta": "entropy/coef",
        "Policy/Extrinsic Value Estimate": "value/mean",
        "Time Elapsed": "time/elapsed",
    },
    patterns=((r"Policy/(Extrinsic|Curiosity|GAIL|RND|Intrinsic) Reward", r"reward/component/\1"),),
    step="env steps",
    notes={
        "policy/loss": "mean of its absolute value",
        "ratio/clip_range": "epsilon of PPO, which decays",
        "reward/mean": "return of the episodes that ended since the last summary",
    },
    config={
        "max_steps": "planned_steps", "hyperparameters.learning_rate": "learning_rate", "hyperparameters.epsilon": "clip_range",
        "hyperparameters.beta": "entropy_coef", "hyperparameters.num_epoch": "updates_per_batch", "trainer_type": "algorithm",
        "learning_rate": "learning_rate", "epsilon": "clip_range", "beta": "entropy_coef", "num_epoch": "updates_per_batch",
        "trainer": "algorithm",
        "reward_signals.extrinsic.gamma": "gamma", "summary_freq": "logging_steps", "checkpoint_interval": "save_every",
    },
)  # fmt: skip
