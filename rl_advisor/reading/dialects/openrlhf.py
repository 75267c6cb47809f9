"""OpenRLHF 0.11.2: ``Global step N: {...}`` on the console, the same names behind ``train/`` and ``eval/`` in TensorBoard and W&B."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="openrlhf",
    marks=(
        "ppo_clip_ratio", "actor_lr", "actor_grad_norm", "group_reward_std", "response_clip_ratio", "logprobs_diff", "vllm_kl",
        "rollout/reward_mean", "rollout/truncated_rate", "rollout/num_samples", "total_length", "timing/make_experience",
        "timing/ppo_train", "timing/broadcast", "timing/step_total", "critic_grad_norm", "dynamic_filtering_pass_rate",
    ),
    prefixes=("train/", "eval/"),
    metrics={
        "rollout/reward_mean": "reward/mean",
        "reward": "reward/mean",
        "rollout/reward_std": "reward/std",
        "group_reward_std": "reward/group_std",
        "return": "reward/used",
        "dynamic_filtering_pass_rate": "reward/flat_groups",
        "rollout/response_length_mean": "response/length",
        "response_length": "response/length",
        "rollout/truncated_rate": "response/truncated",
        "truncated": "response/truncated",
        "policy_loss": "policy/loss",
        "entropy_loss": "entropy/mean",
        "kl": "kl/ref",
        "ppo_kl": "kl/old",
        "vllm_kl": "kl/mismatch",
        "ppo_clip_ratio": "ratio/clip_fraction",
        "actor_grad_norm": "policy/grad_norm",
        "actor_lr": "policy/learning_rate",
        "critic_loss": "value/loss",
        "values": "value/mean",
        "timing/step_total": "time/step",
        "eval_response_length_mean": "eval/length",
    },
    patterns=(
        (r"eval_(.+_pass\d+)", r"eval/score/\1"),
        (r"eval_(.+)", r"eval/other/\1"),
        (r"timing/(.+)", r"time/phase/\1"),
    ),
    affine={"dynamic_filtering_pass_rate": (-1.0, 1.0)},
    step="training steps",
    notes={
        "kl/ref": "to the reference policy, clamped to +-10; 0 when there is no reference",
        "kl/old": "k1 estimator, signed",
        "kl/mismatch": "mean of rollout minus trainer log-probability, signed",
        "entropy/mean": "plus the entropy, although it is called a loss",
        "reward/flat_groups": "share of prompts that dynamic filtering threw away",
        "reward/used": "the return of the experience, after the KL penalty",
        "policy/grad_norm": "of the last update of the step",
    },
)  # fmt: skip
