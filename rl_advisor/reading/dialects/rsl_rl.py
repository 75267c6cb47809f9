"""rsl_rl (Isaac Lab, legged_gym): TensorBoard by learning iteration. ``Train/.../time`` has seconds as its steps and stays unmapped."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="rsl_rl",
    marks=(
        "Train/mean_reward", "Train/mean_episode_length", "Loss/value_function", "Loss/surrogate", "Loss/learning_rate",
        "Policy/mean_noise_std", "Policy/mean_std", "Perf/total_fps", "Perf/collection time", "Perf/collection_time", "Perf/learning_time",
        "Value function loss", "Surrogate loss", "Mean action noise std", "Mean episode length", "Mean value_function loss",
        "Mean surrogate loss",
    ),
    metrics={
        "Train/mean_reward": "reward/mean",
        "Train/mean_episode_length": "episode/length",
        "Loss/value_function": "value/loss",
        "Loss/value": "value/loss",
        "Loss/surrogate": "policy/loss",
        "Loss/entropy": "entropy/mean",
        "Loss/learning_rate": "policy/learning_rate",
        "Policy/mean_noise_std": "policy/std",
        "Policy/mean_std": "policy/std",
        "Perf/total_fps": "throughput/env_steps",
        "Perf/collection time": "time/phase/collection",
        "Perf/collection_time": "time/phase/collection",
        "Perf/learning_time": "time/phase/learning",
        "Mean reward": "reward/mean",
        "Mean total reward": "reward/mean",
        "Mean value loss": "value/loss",
        "Entropy": "entropy/mean",
        "Mean episode length": "episode/length",
        "Value function loss": "value/loss",
        "Mean value_function loss": "value/loss",
        "Surrogate loss": "policy/loss",
        "Mean surrogate loss": "policy/loss",
        "Mean entropy loss": "entropy/mean",
        "Mean action noise std": "policy/std",
        "Computation": "throughput/env_steps",
        "Total timesteps": "progress/env_steps",
        "Iteration time": "time/step",
    },
    patterns=(
        (r"(?:Episode_Reward/|Episode/rew_|Mean episode rew_)(.+)", r"reward/component/\1"),
        (r"Mean episode (.+)_reward", r"reward/component/\1"),
    ),
    step="iterations",
    notes={"reward/mean": "return of the last 100 episodes", "entropy/mean": "of a Gaussian, so it may be negative"},
    config={
        "max_iterations": "planned_steps", "algorithm.learning_rate": "learning_rate", "algorithm.gamma": "gamma",
        "algorithm.clip_param": "clip_range", "algorithm.entropy_coef": "entropy_coef",
        "algorithm.num_learning_epochs": "updates_per_batch",
        "algorithm.num_mini_batches": "minibatches", "seed": "seed",
    },
)  # fmt: skip
