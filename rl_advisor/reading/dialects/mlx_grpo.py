"""MLX-GRPO and mlx-lm-lora: lines ``Iter 10: Train loss ..., Total rewards mean ..., KL ...``."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="mlx_grpo",
    marks=("Total rewards mean", "Total rewards std", "Grouped rewards mean", "Grouped rewards std", "total_rewards_mean"),
    metrics={
        "Total rewards mean": "reward/mean",
        "total_rewards_mean": "reward/mean",
        "Total rewards std": "reward/std",
        "Grouped rewards std": "reward/group_std",
        "Train loss": "policy/total_loss",
        "KL": "kl/ref",
        "kl": "kl/ref",
        "Learning Rate": "policy/learning_rate",
        "Learning rate": "policy/learning_rate",
        "Tokens/sec": "throughput/tokens",
    },
    step="iterations",
    notes={"policy/total_loss": "policy loss and beta * KL: no sign of progress", "kl/ref": "to the reference model"},
)  # fmt: skip
