"""AsyncGRPO of TRL 1.16.0: the names of GRPO, but its ``kl`` is against the policy that sampled, not the reference."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="trl_async",
    marks=(
        "sample/staleness_mean", "sample/staleness_max", "sample/dropped_stale_total", "sample/time_in_queue_s",
        "sample/rollout_queue_size", "perf/rollout_wait_s", "perf/fwd_bwd_s", "perf/optimizer_s", "perf/weight_sync_s",
        "perf/weight_sync_barrier_s", "perf/weight_sync_transfer_s", "perf/mfu_wall_clock", "perf/trained_tok_s_wall_clock",
        "reward_std", "completions/mean_length", "completions/clipped_ratio", "clip_ratio/region_mean", "clip_ratio/low_mean",
        "frac_reward_zero_std", "num_tokens",
    ),
    prefixes=("train/",),
    metrics={
        "reward": "reward/mean",
        "reward_std": "reward/std",
        "frac_reward_zero_std": "reward/flat_groups",
        "loss": "policy/loss",
        "grad_norm": "policy/grad_norm",
        "learning_rate": "policy/learning_rate",
        "kl": "kl/old",
        "ratio": "ratio/mean",
        "entropy": "entropy/mean",
        "clip_ratio/region_mean": "ratio/clip_fraction",
        "clip_ratio": "ratio/clip_fraction",
        "clip_ratio/low_mean": "ratio/clip_low",
        "clip_ratio/high_mean": "ratio/clip_high",
        "completions/mean_length": "response/length",
        "completions/min_length": "response/length_min",
        "completions/max_length": "response/length_max",
        "completions/mean_terminated_length": "response/finished_length",
        "completions/clipped_ratio": "response/truncated",
        "sample/staleness_mean": "rollout/staleness",
        "sample/staleness_max": "rollout/staleness_max",
        "sample/dropped_stale_total": "rollout/dropped",
        "num_tokens": "progress/tokens",
        "epoch": "progress/epoch",
        "perf/step_s": "time/step",
        "perf/trained_tok_s_wall_clock": "throughput/tokens",
    },
    patterns=(
        (r"rewards/(.+)/mean", r"reward/component/\1"),
        (r"rewards/(.+)/std", r"reward/component_std/\1"),
        (r"perf/(\w+)_s", r"time/phase/\1"),
    ),
    notes={
        "kl/old": "k3 estimator between the policy and the one that sampled, which may be several versions old; there is no reference",
        "policy/loss": "near 0 by construction: no sign of progress",
        "rollout/staleness": "weight versions between sampling and training",
    },
    config={
        "max_steps": "planned_steps", "learning_rate": "learning_rate", "num_generations": "group_size",
        "max_completion_length": "max_response_length", "temperature": "temperature", "epsilon": "clip_range",
        "logging_steps": "logging_steps", "seed": "seed", "save_steps": "save_every", "model_name_or_path": "model",
    },
)  # fmt: skip
