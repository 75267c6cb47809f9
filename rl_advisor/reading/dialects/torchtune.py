"""torchtune 0.6.1: its PPO recipe and the GRPO recipe of its dev folder; lines ``Step 12 | loss:0.1 kl:0.2`` and trackers."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="torchtune",
    marks=(
        "rlhf_reward", "kl_reward", "approx_policy_kl", "num_stop_tokens", "response_lengths", "ratios",
        "tokens_per_second_per_gpu_trajectory", "tokens_per_second_per_gpu_ppo", "successes",
    ),
    metrics={
        "scores": "reward/mean",
        "rewards": "reward/mean",
        "rlhf_reward": "reward/used",
        "successes": "reward/success",
        "kl": "kl/ref",
        "policy_loss": "policy/loss",
        "loss": "policy/total_loss",
        "value_loss": "value/loss",
        "clipfrac": "ratio/clip_fraction",
        "ratios": "ratio/mean",
        "approx_policy_kl": "kl/old",
        "response_lengths": "response/length",
        "tokens_per_second_per_gpu_trajectory": "throughput/tokens",
        "lr": "policy/learning_rate",
        "grad_norm": "policy/grad_norm",
    },
    step="training steps",
    notes={
        "kl/ref": "sum over the tokens of a response, not a mean: it grows with the length",
        "reward/used": "score minus the KL penalty",
        "throughput/tokens": "per GPU, while responses are generated",
    },
)  # fmt: skip
