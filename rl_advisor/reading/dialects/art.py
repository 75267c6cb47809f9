"""OpenPipe ART 0.5: ``history.jsonl`` with one row a step and split (``train/``, ``val/``) and sections of its own."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="art",
    marks=(
        "train/reward_std_dev", "train/exception_rate", "val/exception_rate", "loss/train", "loss/kl_policy_ref",
        "loss/clipped_token_fraction",
        "loss/importance_ratio_mean", "loss/kl_div", "time/step_wall_s", "time/step_backend_train_s", "time/step_collect_batch_s",
        "throughput/accepted_train_tok_per_s", "discarded/rate/zero_variance_groups", "offpolicy/token_weighted_policy_age_steps",
    ),
    metrics={
        "train/reward": "reward/mean",
        "train/reward_std_dev": "reward/std",
        "train/exception_rate": "episode/errors",
        "val/reward": "eval/score/reward",
        "loss/train": "policy/loss",
        "loss/entropy": "entropy/mean",
        "loss/kl_policy_ref": "kl/ref",
        "loss/kl_div": "kl/old",
        "loss/grad_norm": "policy/grad_norm",
        "loss/learning_rate": "policy/learning_rate",
        "loss/importance_ratio_mean": "ratio/mean",
        "loss/clipped_token_fraction": "ratio/clip_fraction",
        "offpolicy/token_weighted_policy_age_steps": "rollout/staleness",
        "discarded/rate/zero_variance_groups": "reward/flat_groups",
        "discarded/step/stale_groups": "rollout/dropped",
        "time/step_wall_s": "time/step",
        "throughput/accepted_train_tok_per_s": "throughput/tokens",
    },
    patterns=(
        (r"test/reward", "eval/score/test_reward"),
        (r"(?:val|test)/(.+)", r"eval/other/\1"),
        (r"time/step_(collect_batch|backend_train|rollout_idle)_s", r"time/phase/\1"),
    ),
    step="training steps",
    notes={"rollout/dropped": "groups, not samples", "rollout/staleness": "weighted by tokens"},
)  # fmt: skip
