"""What the dialects of TRL, verl and SB3 make of names that are easily mistaken."""

import re

import pytest
from rl_advisor.reading.translating import our_name, recognise, settings_of
from rl_advisor.vocabulary import metric
from rl_advisor.vocabulary.dialects import dialects

DIALECTS = dialects()


@pytest.mark.parametrize(
    ("framework", "raw", "ours"),
    [
        ("trl", "reward", "reward/mean"),
        ("trl", "train/reward", "reward/mean"),
        ("trl", "eval_reward", "eval/score/reward"),
        ("trl", "eval/reward", "eval/score/reward"),
        ("trl", "eval_accuracy", "eval/score/accuracy"),
        ("trl", "eval_math/pass@1", "eval/score/math/pass@1"),
        ("trl", "eval_reward_std", "eval/other/reward_std"),
        ("trl", "eval_rewards/format/mean", "eval/other/rewards/format/mean"),
        ("trl", "eval_temperature", "eval/other/temperature"),
        ("trl", "eval_loss", "eval/loss"),
        ("trl", "eval_completions/mean_length", "eval/length"),
        ("trl", "rewards/format/mean", "reward/component/format"),
        ("trl", "rewards/format/std", "reward/component_std/format"),
        ("trl", "rewards/xmlcount_reward_func", "reward/component/xmlcount_reward_func"),
        ("trl", "rewards/chosen", "pairs/chosen"),
        ("trl", "rewards/margins", "pairs/margin"),
        ("trl", "completions/clipped_ratio", "response/truncated"),
        ("trl", "clip_ratio/region_mean", "ratio/clip_fraction"),
        ("trl", "clip_ratio/high_max", None),
        ("trl", "kl", "kl/ref"),
        ("trl", "accuracy", None),
        ("verl", "critic/score/mean", "reward/mean"),
        ("verl", "critic/rewards/mean", "reward/used"),
        ("verl", "actor/ppo_kl", "kl/old"),
        ("verl", "actor/kl_loss", "kl/ref"),
        ("verl", "rollout_corr/kl", "kl/mismatch"),
        ("verl", "actor/pg_clipfrac_lower", "ratio/dual_clip_fraction"),
        ("verl", "response_length/clip_ratio", "response/truncated"),
        ("verl", "critic/answer_score/mean", "reward/component/answer_score"),
        ("verl", "val/answer_score/hotpotqa", "eval/score/hotpotqa"),
        ("verl", "val/format_score/hotpotqa", "eval/other/format_score/hotpotqa"),
        ("verl", "turns/mean", "episode/turns"),
        ("verl", "env/number_of_valid_search", "episode/tool_calls"),
        ("verl", "env/ratio_of_valid_action", None),
        ("trl", "env/reward_mean", "reward/mean"),
        ("trl", "ppo/returns/mean", "value/return_mean"),
        ("trl", "objective/kl", "kl/ref"),
        ("trl", "ppo/policy/approxkl", "kl/old"),
        ("trl", "ppo/mean_non_score_reward", None),
        ("trl", "zero_std_ratio", "reward/flat_groups"),
        ("trl", "Training Loss", "policy/loss"),
        ("verl", "prompt_length/clip_ratio", None),
        ("verl", "val-core/gsm8k/acc/mean@8", "eval/score/gsm8k/acc/mean@8"),
        ("verl", "val-core/gsm8k/acc/best@8/std", "eval/other/gsm8k/acc/best@8/std"),
        ("verl", "val-aux/gsm8k/reward/mean@8", "eval/other/gsm8k/reward/mean@8"),
        ("verl", "val/test_score/openai/gsm8k", "eval/score/openai/gsm8k"),
        ("verl", "timing_s/gen", "time/phase/gen"),
        ("verl", "timing_s/step", "time/step"),
        ("verl", "timing_s/agent_loop/tool_calls/max", None),
        ("verl", "timing_per_token_ms/gen", None),
        ("sb3", "rollout/ep_rew_mean", "reward/mean"),
        ("sb3", "eval/mean_reward", "eval/score/mean_reward"),
        ("sb3", "eval/mean_ep_length", "eval/length"),
        ("sb3", "train/approx_kl", "kl/old"),
        ("sb3", "train/entropy_loss", "entropy/mean"),
        ("sb3", "train/ent_coef", "entropy/coef"),
        ("sb3", "time/iterations", None),
    ],
)
def test_a_name_means(framework, raw, ours):
    """A raw name gets the meaning the framework's source gives it, or none."""
    assert our_name(raw, DIALECTS[framework]) == ours


@pytest.mark.parametrize("name", ["trl", "verl", "sb3"])
def test_a_dialect_speaks_our_words(name):
    """Every name a dialect gives is in the vocabulary, its patterns are valid, its scales belong to names it knows."""
    dialect = DIALECTS[name]
    templates = [template.replace(r"\1", "x") for _, template in dialect.patterns]
    assert [ours for ours in [*dialect.metrics.values(), *templates, *dialect.notes] if metric(ours) is None] == []
    assert set(dialect.affine) <= set(dialect.metrics)
    for pattern, _ in dialect.patterns:
        re.compile(pattern)


@pytest.mark.parametrize(
    ("names", "framework"),
    [
        (["loss", "reward", "reward_std", "kl"], "trl"),
        (["train/loss", "train/frac_reward_zero_std"], "trl"),
        (["critic/score/mean", "actor/ppo_kl", "reward_std"], "verl"),
        (["rollout/ep_rew_mean", "train/loss"], "sb3"),
        (["loss", "reward", "kl"], None),
        ([], None),
    ],
)
def test_a_framework_is_recognised_by_its_marks(names, framework):
    """Most marks win; names anybody could write recognise nobody."""
    found = recognise(names)
    assert (found.name if found else None) == framework


def test_settings_leave_out_what_is_unset():
    """A planned length of -1, TRL's way of saying that epochs count, is no plan."""
    settings = settings_of({"max_steps": -1, "learning_rate": 1e-6, "beta": 0.0, "save_steps": None}, DIALECTS["trl"])
    assert settings == {"learning_rate": 1e-6, "kl_coef": 0.0}
