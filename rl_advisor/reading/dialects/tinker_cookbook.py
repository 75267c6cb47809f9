"""Tinker cookbook 0.6.1: ``metrics.jsonl`` with one row a batch, counted from 0."""

from rl_advisor.vocabulary import Dialect

_SCORE = r"(?:.*[/_])?(?:reward/total|correct|accuracy|acc|score|pass@\d+|solved|success)"

DIALECT = Dialect(
    name="tinker_cookbook",
    marks=(
        "env/all/reward/total", "env/all/ac_tokens_per_turn", "env/all/ob_tokens_per_turn", "env/all/turns_per_episode",
        "env/all/by_group/frac_mixed", "env/all/by_group/frac_all_good", "optim/kl_sample_train_v1", "optim/kl_sample_train_v2",
        "progress/done_frac", "kl_policy_base",
    ),
    metrics={
        "env/all/reward/total": "reward/mean",
        "env/all/by_group/frac_mixed": "reward/flat_groups",
        "env/all/by_group/frac_all_good": "reward/solved_groups",
        "env/all/by_group/frac_all_bad": "reward/failed_groups",
        "env/all/ac_tokens_per_turn": "response/length",
        "env/all/ob_tokens_per_turn": "prompt/length",
        "env/all/turns_per_episode": "episode/turns",
        "optim/lr": "policy/learning_rate",
        "optim/entropy": "entropy/mean",
        "optim/kl_sample_train_v2": "kl/mismatch",
        "optim/kl_sample_train_v1": "kl/mismatch",
        "kl_policy_base": "kl/ref",
        "kl_pre_post_v2": "kl/old",
        "kl_pre_post_v1": "kl/old",
        "async/staleness_mean": "rollout/staleness",
        "async/staleness_max": "rollout/staleness_max",
        "time/total": "time/step",
    },
    patterns=(
        (rf"(?:test|eval)/(?:env/all/)?({_SCORE})", r"eval/score/\1"),
        (r"(?:test|eval)/(?:env/all/)?ac_tokens_per_turn", "eval/length"),
        (r"(?:test|eval)/(?:env/all/)?(.+)", r"eval/other/\1"),
        (r"time/((?!sampling_time_)[^:]+)(?::total)?", r"time/phase/\1"),
    ),
    affine={"env/all/by_group/frac_mixed": (-1.0, 1.0)},
    step="training steps",
    notes={
        "reward/flat_groups": "1 minus the share of groups with mixed rewards",
        "kl/mismatch": "sampler against trainer: v2 is half the mean square (k2), v1 the signed mean (k1)",
        "kl/ref": "sampler minus base model, signed",
        "kl/old": "after against before the update: v2 is k2, v1 the signed mean",
        "entropy/mean": "minus the mean log-probability of the sampled tokens",
        "response/length": "tokens of one turn",
        "prompt/length": "tokens of one observation",
    },
    config={
        "learning_rate": "learning_rate", "group_size": "group_size", "groups_per_batch": "prompts_per_step",
        "batch_size": "prompts_per_step",
        "max_tokens": "max_response_length", "kl_penalty_coef": "kl_coef", "model_name": "model", "temperature": "temperature",
        "eval_every": "eval_every", "save_every": "save_every", "seed": "seed",
    },
)  # fmt: skip
