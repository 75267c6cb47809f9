"""prime-rl 0.8 and its earlier bare names: two processes write one metrics.jsonl; ``time/step`` differs between them and is not mapped."""

from rl_advisor.vocabulary import Dialect

_AGENT = r"train/agg/all/[^/]+/"
_USED = r"train/agg/effective/[^/]+/"

DIALECT = Dialect(
    name="prime_rl",
    marks=(
        "mismatch_kl/all/mean", "entropy/all/mean", "is_masked/mean", "is_masked_low/mean", "kl_ent_ratio/mean", "masked_mismatch_kl/mean",
        "unmasked_mismatch_kl/mean", "time/wait_for_batch", "time/broadcast_weights", "perf/throughput_per_gpu", "optim/grad_norm",
        "off_policy/mean", "time/wait_for_policy", "watcher/policy_version", "perf/peak_memory", "batch/effective_batch_size",
        "batch/solve_none", "batch/solve_all",
        "mismatch_kl/mean", "completion_len/mean", "time/generate_completions",
    ),
    metrics={
        "reward/mean": "reward/mean",
        "batch/solve_none": "reward/failed_groups",
        "batch/solve_all": "reward/solved_groups",
        "batch/effective_batch_size": "reward/flat_groups",
        "completion_len/mean": "response/length",
        "prompt_len/mean": "prompt/length",
        "is_truncated/mean": "response/truncated",
        "entropy/mean": "entropy/mean",
        "mismatch_kl/mean": "kl/mismatch",
        "mismatch_kl/all/mean": "kl/mismatch",
        "entropy/all/mean": "entropy/mean",
        "loss/mean": "policy/loss",
        "is_masked/mean": "ratio/clip_fraction",
        "is_masked_low/mean": "ratio/clip_low",
        "is_masked_high/mean": "ratio/clip_high",
        "ref_kl/mean": "kl/ref",
        "optim/grad_norm": "policy/grad_norm",
        "optim/lr": "policy/learning_rate",
        "off_policy/mean": "rollout/staleness",
        "off_policy/max": "rollout/staleness_max",
        "off_policy/dropped": "rollout/dropped",
        "perf/throughput": "throughput/tokens",
        "perf/peak_memory": "memory/allocated",
    },
    patterns=(
        (_AGENT + r"reward/mean", "reward/mean"),
        (_AGENT + r"reward/min", "reward/min"),
        (_AGENT + r"reward/max", "reward/max"),
        (_USED + r"reward/mean", "reward/used"),
        (_AGENT + r"rewards/(.+)/mean", r"reward/component/\1"),
        (_AGENT + r"num_output_tokens/mean", "response/length"),
        (_AGENT + r"num_output_tokens/min", "response/length_min"),
        (_AGENT + r"num_output_tokens/max", "response/length_max"),
        (_AGENT + r"num_input_tokens/mean", "prompt/length"),
        (_AGENT + r"is_truncated/mean", "response/truncated"),
        (_AGENT + r"num_turns/mean", "episode/turns"),
        (_AGENT + r"has_error/mean", "episode/errors"),
        (r"eval/([^/]+)/all/[^/]+/reward/mean", r"eval/score/\1"),
        (r"eval/([^/]+)/all/[^/]+/(.+)", r"eval/other/\1/\2"),
        (r"time/(?!step$|save_ckpt$)(.+)", r"time/phase/\1"),
    ),
    affine={"batch/effective_batch_size": (-1.0, 1.0)},
    step="training steps",
    notes={
        "kl/mismatch": "k3 estimator, trainer against inference",
        "ratio/clip_fraction": "share of tokens that the importance-ratio mask dropped",
        "reward/mean": "everything that arrived",
        "reward/used": "the batch that was shipped to the trainer",
        "throughput/tokens": "of all GPUs together",
        "memory/allocated": "reserved by the allocator, peak",
    },
    config={
        "max_steps": "planned_steps", "trainer.optim.lr": "learning_rate", "orchestrator.rollouts_per_example": "group_size",
        "orchestrator.sampling.max_tokens": "max_response_length", "orchestrator.sampling.temperature": "temperature", "seed": "seed",
    },
)  # fmt: skip
