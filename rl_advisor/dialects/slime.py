"""slime 0.3: ``rollout/``, ``train/``, ``perf/`` and ``eval/``, each with a step axis of its own."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="slime",
    marks=(
        "rollout/raw_reward", "rollout/rewards", "rollout/response_len/mean", "rollout/response_lengths", "rollout/truncated_ratio",
        "rollout/repetition_frac", "rollout/ref_log_probs", "train/train_rollout_logprob_abs_diff", "train/pg_clipfrac", "train/ppo_kl",
        "train/lr-pg_0", "train/pg_loss", "perf/actor_train_time", "perf/update_weights_time", "perf/train_wait_time", "perf/rollout_time",
    ),
    metrics={
        "rollout/raw_reward": "reward/mean",
        "rollout/rewards": "reward/used",
        "rollout/response_len/mean": "response/length",
        "rollout/response_lengths": "response/length",
        "rollout/response_len/min": "response/length_min",
        "rollout/response_len/max": "response/length_max",
        "rollout/truncated_ratio": "response/truncated",
        "rollout/truncated": "response/truncated",
        "rollout/repetition_frac": "response/repetition",
        "rollout/advantages": "advantage/mean",
        "rollout/returns": "value/return_mean",
        "rollout/values": "value/mean",
        "train/pg_loss": "policy/loss",
        "train/loss": "policy/total_loss",
        "train/entropy_loss": "entropy/mean",
        "train/pg_clipfrac": "ratio/clip_fraction",
        "train/ppo_kl": "kl/old",
        "train/kl_loss": "kl/ref",
        "train/train_rollout_logprob_abs_diff": "mismatch/logprob",
        "train/tis": "rollout/behave_weight",
        "train/grad_norm": "policy/grad_norm",
        "train/lr-pg_0": "policy/learning_rate",
        "train/critic-value_loss": "value/loss",
        "train/critic-value_clipfrac": "value/clip_fraction",
        "perf/step_time": "time/step",
        "perf/tokens_per_gpu_per_sec": "throughput/tokens",
    },
    patterns=(
        (r"eval/[^/]+/response_len/mean", "eval/length"),
        (r"eval/((?!step$)[^/]+-truncated_ratio|[^/]+/.+)", r"eval/other/\1"),
        (r"eval/((?!step$)[^/]+)", r"eval/score/\1"),
        (r"perf/(.+)_time", r"time/phase/\1"),
    ),
    step="rollouts",
    notes={
        "reward/used": "after the normalisation inside groups, so near 0 by construction",
        "kl/old": "k1 estimator, signed",
        "entropy/mean": "plus the entropy, although it is called a loss",
        "rollout/behave_weight": "truncated importance weight, trainer over rollout engine",
        "throughput/tokens": "per GPU",
    },
)  # fmt: skip
