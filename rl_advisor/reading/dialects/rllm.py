"""rLLM 0.3 on its own trainer or Tinker; on the verl backend most names are verl's and that dialect is the nearer one."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="rllm",
    marks=(
        "batch/solve_partial", "batch/termination_reason/max_turns", "groups/num_groups", "groups/num_trajs_before_filter",
        "groups/num_trajs_after_filter", "groups/dropped_zero_adv", "groups/dropped_min_trajs", "async/buffer_qsize",
    ),
    metrics={
        "async/staleness_mean": "rollout/staleness",
        "async/staleness_max": "rollout/staleness_max",
        "optim/lr": "policy/learning_rate",
        "optim/entropy": "entropy/mean",
        "optim/kl_sample_train_v2": "kl/mismatch",
        "time/total": "time/step",
        "time/step": "time/step",
    },
    patterns=(
        (r"reward/[^/]+/mean", "reward/mean"),
        (r"reward/[^/]+/std", "reward/std"),
        (r"reward/[^/]+/min", "reward/min"),
        (r"reward/[^/]+/max", "reward/max"),
        (r"advantage/[^/]+/mean", "advantage/mean"),
        (r"advantage/[^/]+/std", "advantage/std"),
        (r"val/(.+/pass@\d+)", r"eval/score/\1"),
        (r"val/(.+)", r"eval/other/\1"),
        (r"time/([^/]+)", r"time/phase/\1"),
    ),
    step="training steps",
    notes={"reward/mean": "of one role; where there are several the first is taken"},
)  # fmt: skip
