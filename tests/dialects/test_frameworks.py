"""Names, signs and units of the frameworks besides TRL, verl and SB3, with near misses: names that look alike and mean another thing."""

import numpy as np
import pytest
from rl_advisor.reading.translating import recognise, translate
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import METRICS, metric
from rl_advisor.vocabulary.dialects import dialects

DIALECTS = dialects()
U = "ppo_actor/update/"

SAME = (1.0, 0.0)
TURNED = (-1.0, 0.0)
REST = (-1.0, 1.0)
"""A share of the other kind: 1 minus it."""

NAMES = [
    ("openai_baselines", "meankl", "kl/old", SAME),
    ("openai_baselines", "pol_surr", "policy/loss", SAME),
    ("openai_baselines", "pol_entpen", None, SAME),
    ("mlagents", "Info/cumulative_reward", "reward/mean", SAME),
    ("mlagents", "Info/value_estimate", "value/mean", SAME),
    ("rl_games", "rewards0/frame", "reward/mean", SAME),
    ("rl_games", "rewards/time", None, SAME),
    ("rlkit", "expl/Returns Mean", "reward/mean", SAME),
    ("rlkit", "eval/Average Returns", "eval/score/return", SAME),
    ("mlx_grpo", "Total rewards mean", "reward/mean", SAME),
    ("mlx_grpo", "Grouped rewards std", "reward/group_std", SAME),
    ("mlx_grpo", "KL", "kl/ref", SAME),
    ("llamafactory", "accuracy", "pairs/accuracy", SAME),
    ("llamafactory", "reward", "reward/mean", SAME),
    ("llamafactory", "total_steps", None, SAME),
    ("rlinf", "env/return", "reward/mean", SAME),
    ("rlinf", "env/success_once", "reward/success", SAME),
    ("rlinf", "train/actor/approx_kl", "kl/old", SAME),
    ("rlinf", "eval/success_once", "eval/score/success_once", SAME),
    ("pfrl", "average_loss_entropy", "entropy/mean", TURNED),
    ("pfrl", "average_loss_value_func", "value/loss", SAME),
    ("areal", "ppo/actor/task_reward", "reward/mean", SAME),
    ("areal", U + "approx_kl", "kl/old", TURNED),
    ("areal", U + "importance_weight", "ratio/mean", SAME),
    ("slime", "rollout/kl", "kl/ref", SAME),
    ("slime", "rollout/ref_log_probs", None, SAME),
    ("skyrl", "policy_kl", "kl/ref", SAME),
    ("skyrl", "avg_final_rewards", "reward/used", SAME),
    ("rsl_rl", "Mean total reward", "reward/mean", SAME),
    ("rsl_rl", "Mean episode up_reward", "reward/component/up", SAME),
    ("openai_baselines", "eprewmean", "reward/mean", SAME),
    ("openai_baselines", "loss/approxkl", "kl/old", SAME),
    ("openai_baselines", "misc/explained_variance", "value/explained_variance", SAME),
    ("openai_baselines", "policy_entropy", "entropy/mean", SAME),
    ("openai_baselines", "EpThisIter", None, SAME),
    ("openai_baselines", "% time spent exploring", None, SAME),
    ("spinning_up", "AverageEpRet", "reward/mean", SAME),
    ("spinning_up", "AverageTestEpRet", "eval/score/TestEpRet", SAME),
    ("spinning_up", "StdTestEpRet", "eval/other/StdTestEpRet", SAME),
    ("spinning_up", "DeltaLossPi", None, SAME),
    ("spinning_up", "KL", "kl/old", SAME),
    ("areal", "ppo_actor/task_reward/avg", "reward/mean", SAME),
    ("areal", "ppo_actor/final_reward/avg", "reward/used", SAME),
    ("areal", "ppo_actor/kl_rewards/avg", None, SAME),
    ("areal", U + "approx_kl/avg", "kl/old", TURNED),
    ("areal", U + "approx_kl/max", None, SAME),
    ("areal", U + "behave_approx_kl/avg", None, SAME),
    ("areal", U + "entropy/avg", "entropy/mean", SAME),
    ("areal", U + "clip_ratio/avg", "ratio/clip_fraction", SAME),
    ("areal", U + "dual_clip_ratio/avg", "ratio/dual_clip_fraction", SAME),
    ("areal", U + "compute_logp/kl_div_dual/avg", "kl/mismatch", SAME),
    ("areal", U + "compute_logp/kl_div_direct/avg", None, SAME),
    ("areal", "ppo_actor/no_eos_ratios/avg", "response/padded_max", SAME),
    ("areal", "rollout/accepted", None, SAME),
    ("areal", "eval-rollout/reward", "eval/score/reward", SAME),
    ("areal", "timeperf/train_step", "time/phase/train_step", SAME),
    ("openrlhf", "train/kl", "kl/ref", SAME),
    ("openrlhf", "ppo_kl", "kl/old", SAME),
    ("openrlhf", "vllm_kl", "kl/mismatch", SAME),
    ("openrlhf", "train/entropy_loss", "entropy/mean", SAME),
    ("openrlhf", "ppo_clip_ratio", "ratio/clip_fraction", SAME),
    ("openrlhf", "response_clip_ratio", None, SAME),
    ("openrlhf", "total_length", None, SAME),
    ("openrlhf", "train/dynamic_filtering_pass_rate", "reward/flat_groups", REST),
    ("openrlhf", "eval/eval_math500_pass1", "eval/score/math500_pass1", SAME),
    ("openrlhf", "eval_math500_truncated_rate", "eval/other/math500_truncated_rate", SAME),
    ("openrlhf", "eval_response_length_mean", "eval/length", SAME),
    ("openrlhf", "timing/step_total", "time/step", SAME),
    ("cleanrl", "charts/episodic_return", "reward/mean", SAME),
    ("cleanrl", "losses/entropy", "entropy/mean", SAME),
    ("cleanrl", "losses/approx_kl", "kl/old", SAME),
    ("cleanrl", "losses/alpha", "entropy/coef", SAME),
    ("rllib", "env_runners/episode_return_mean", "reward/mean", SAME),
    ("rllib", "ray/tune/env_runners/episode_return_mean", "reward/mean", SAME),
    ("rllib", "learners/default_policy/entropy", "entropy/mean", SAME),
    ("rllib", "learners/default_policy/mean_kl_loss", "kl/old", SAME),
    ("rllib", "evaluation/env_runners/episode_return_mean", "eval/score/episode_return_mean", SAME),
    ("tinker_cookbook", "env/all/reward/total", "reward/mean", SAME),
    ("tinker_cookbook", "env/gsm8k/reward/total", None, SAME),
    ("tinker_cookbook", "env/all/by_group/frac_mixed", "reward/flat_groups", REST),
    ("tinker_cookbook", "env/all/by_group/frac_all_bad", "reward/failed_groups", SAME),
    ("tinker_cookbook", "optim/kl_sample_train_v2", "kl/mismatch", SAME),
    ("tinker_cookbook", "kl_policy_base", "kl/ref", SAME),
    ("tinker_cookbook", "test/env/all/reward/total", "eval/score/reward/total", SAME),
    ("tinker_cookbook", "test/env/all/private_accuracy", "eval/score/private_accuracy", SAME),
    ("tinker_cookbook", "test/env/all/format", "eval/other/format", SAME),
    ("tinker_cookbook", "time/sampling_time_max", None, SAME),
    ("tinker_cookbook", "time/train:count", None, SAME),
    ("tinker_cookbook", "time/train:total", "time/phase/train", SAME),
    ("nemo_rl", "train/reward", "reward/mean", SAME),
    ("nemo_rl", "train/filtered_reward", "reward/used", SAME),
    ("nemo_rl", "train/token_mult_prob_error", "mismatch/logprob", (1.0, -1.0)),
    ("nemo_rl", "train/probs_ratio_clamped", None, SAME),
    ("nemo_rl", "train/kl_penalty", "kl/ref", SAME),
    ("nemo_rl", "train/policy_kl_error", None, SAME),
    ("nemo_rl", "validation/accuracy", "eval/score/accuracy", SAME),
    ("nemo_rl", "timing/train/prepare_for_generation/total", "time/phase/prepare_for_generation/total", SAME),
    ("nemo_rl", "timing/train/valid_tokens_per_sec_per_gpu", None, SAME),
    ("prime_rl", "train/agg/all/solver/reward/mean", "reward/mean", SAME),
    ("prime_rl", "train/agg/effective/solver/reward/mean", "reward/used", SAME),
    ("prime_rl", "train/gsm8k/all/solver/reward/mean", None, SAME),
    ("prime_rl", "train/agg/all/solver/rewards/format/mean", "reward/component/format", SAME),
    ("prime_rl", "mismatch_kl/all/mean", "kl/mismatch", SAME),
    ("prime_rl", "masked_mismatch_kl/mean", None, SAME),
    ("prime_rl", "eval/aime/all/solver/reward/mean", "eval/score/aime", SAME),
    ("prime_rl", "time/step", None, SAME),
    ("prime_rl", "time/forward_backward", "time/phase/forward_backward", SAME),
    ("slime", "rollout/raw_reward", "reward/mean", SAME),
    ("slime", "rollout/rewards", "reward/used", SAME),
    ("slime", "train/entropy_loss", "entropy/mean", SAME),
    ("slime", "train/ppo_kl", "kl/old", SAME),
    ("slime", "train/kl_loss", "kl/ref", SAME),
    ("slime", "rollout/repetition_frac", "response/repetition", SAME),
    ("slime", "eval/aime", "eval/score/aime", SAME),
    ("slime", "eval/aime/response_len/mean", "eval/length", SAME),
    ("slime", "eval/aime-truncated_ratio", "eval/other/aime-truncated_ratio", SAME),
    ("slime", "eval/step", None, SAME),
    ("slime", "perf/actor_train_time", "time/phase/actor_train", SAME),
    ("slime", "perf/wait_time_ratio", None, SAME),
    ("skyrl", "loss/avg_final_rewards", "reward/used", SAME),
    ("skyrl", "loss/avg_kl", "kl/ref", SAME),
    ("skyrl", "loss/avg_kl_max", None, SAME),
    ("skyrl", "policy/response_length", None, SAME),
    ("skyrl", "generate/avg_num_tokens", "response/length", SAME),
    ("skyrl", "eval/all/avg_score", "eval/score/all", SAME),
    ("skyrl", "eval/all/pass_at_8", "eval/score/all/pass_at_8", SAME),
    ("skyrl", "eval/gsm8k/mean_positive_reward", "eval/other/gsm8k/mean_positive_reward", SAME),
    ("roll", "critic/score/mean", "reward/mean", SAME),
    ("roll", "actor/pg_loss@sum", "policy/loss", SAME),
    ("roll", "actor/policykl@sum", "kl/old", SAME),
    ("roll", "actor/kl_loss", "kl/ref", SAME),
    ("roll", "group/mixed_groups_ratio", "reward/flat_groups", REST),
    ("roll", "math/critic/score/mean", None, SAME),
    ("roll", "val/math/score/mean", "eval/score/math", SAME),
    ("open_instruct", "val/stop_rate", "response/truncated", REST),
    ("open_instruct", "real_batch_size_ratio", "reward/flat_groups", REST),
    ("open_instruct", "unsolved_batch_size_ratio", None, SAME),
    ("open_instruct", "objective/kl2_avg", "kl/ref", SAME),
    ("open_instruct", "loss/kl_avg", None, SAME),
    ("open_instruct", "objective/gsm8k_reward", "reward/component/gsm8k", SAME),
    ("open_instruct", "eval/scores", "eval/score/scores", SAME),
    ("art", "train/reward", "reward/mean", SAME),
    ("art", "val/reward", "eval/score/reward", SAME),
    ("art", "loss/kl_policy_ref", "kl/ref", SAME),
    ("art", "loss/kl_div", "kl/old", SAME),
    ("art", "discarded/cum/zero_variance_groups", None, SAME),
    ("rllm", "reward/solver/mean", "reward/mean", SAME),
    ("rllm", "batch/solve_none", None, SAME),
    ("rllm", "val/math/pass@1", "eval/score/math/pass@1", SAME),
    ("torchrl", "kl_approx", "kl/old", SAME),
    ("torchrl", "r_total", None, SAME),
    ("tianshou", "update/ent_loss/mean", "entropy/mean", SAME),
    ("tianshou", "training/returns_stat/mean", "reward/mean", SAME),
    ("tianshou", "test/returns_stat/mean", "eval/score/return", SAME),
    ("tianshou", "test/returns_stat/std", "eval/other/returns_stat/std", SAME),
    ("sample_factory", "train/ratio_mean", None, SAME),
    ("sample_factory", "train/kl_divergence", "kl/old", SAME),
    ("sample_factory", "train/kl_divergence_max", None, SAME),
    ("sample_factory", "train/kl_loss", None, SAME),
    ("rsl_rl", "Train/mean_reward", "reward/mean", SAME),
    ("rsl_rl", "Train/mean_reward/time", None, SAME),
    ("rsl_rl", "Episode_Reward/track_lin_vel", "reward/component/track_lin_vel", SAME),
    ("rsl_rl", "Episode_Termination/time_out", None, SAME),
    ("torchtune", "kl", "kl/ref", SAME),
    ("torchtune", "approx_policy_kl", "kl/old", SAME),
    ("torchtune", "kl_reward", None, SAME),
    ("torchtune", "rlhf_reward", "reward/used", SAME),
    ("torchforge", "reward/evaluate_response/avg_total_reward", "reward/mean", SAME),
    ("torchforge", "rl_trainer/optimizer_step/duration_avg_s", "time/phase/rl_trainer/optimizer_step", SAME),
    ("mlagents", "Environment/Cumulative Reward", "reward/mean", SAME),
    ("mlagents", "Policy/Extrinsic Reward", "reward/component/Extrinsic", SAME),
    ("mlagents", "Policy/Beta", "entropy/coef", SAME),
    ("mlagents", "Losses/Inverse Loss", None, SAME),
    ("rl_games", "rewards/step", "reward/mean", SAME),
    ("rl_games", "rewards/iter", None, SAME),
    ("rl_games", "rewards/time", None, SAME),
    ("rl_games", "losses/entropy", "entropy/mean", SAME),
    ("rl_games", "info/e_clip", "ratio/clip_range", SAME),
    ("skrl", "Reward / Total reward (mean)", "reward/mean", SAME),
    ("skrl", "Reward / Instantaneous reward (mean)", None, SAME),
    ("skrl", "Loss / Entropy loss", None, SAME),
    ("epymarl", "test_return_mean", "eval/score/return", SAME),
    ("epymarl", "loss", "value/loss", SAME),
    ("epymarl", "test_return_std", "eval/other/return_std", SAME),
    ("rlkit", "exploration/Returns Mean", "reward/mean", SAME),
    ("rlkit", "exploration/Rewards Mean", None, SAME),
    ("rlkit", "evaluation/Returns Mean", "eval/score/return", SAME),
    ("rlkit", "evaluation/Rewards Mean", "eval/other/Rewards Mean", SAME),
    ("garage", "Evaluation/AverageReturn", "reward/mean", SAME),
    ("garage", "Evaluation/AverageDiscountedReturn", None, SAME),
    ("garage", "GaussianMLPPolicy/KL", "kl/old", SAME),
    ("garage", "GaussianMLPPolicy/KLBefore", None, SAME),
    ("brax", "eval/episode_reward", "eval/score/episode_reward", SAME),
    ("brax", "training/entropy_loss", None, SAME),
    ("dreamer", "episode/score", "reward/mean", SAME),
    ("dreamer", "train/loss/rew", None, SAME),
    ("dreamer", "train/opt/model_opt_grad_norm", "model/grad_norm", SAME),
    ("pufferlib", "environment/episode_return", "reward/mean", SAME),
    ("pufferlib", "losses/old_approx_kl", "kl/old", SAME),
    ("omnisafe", "Metrics/EpRet", "reward/mean", SAME),
    ("omnisafe", "Metrics/EpCost", None, SAME),
    ("omnisafe", "Loss/Loss_cost_critic", None, SAME),
    ("mappo", "average_episode_rewards", "reward/mean", SAME),
    ("mappo", "eval_average_episode_rewards", "eval/score/average_episode_rewards", SAME),
    ("mappo", "agent1/policy_loss", None, SAME),
    ("pfrl", "mean", "eval/score/return", SAME),
    ("pfrl", "max", "eval/other/max", SAME),
    ("cleanrl", "episodic_return", "reward/mean", SAME),
    ("nemo_rl", "Generation KL Error", "kl/mismatch", SAME),
    ("prime_rl", "reward/mean", "reward/mean", SAME),
    ("prime_rl", "batch/solve_none", "reward/failed_groups", SAME),
    ("prime_rl", "batch/effective_batch_size", "reward/flat_groups", REST),
    ("slime", "train/ois", "ratio/mean", SAME),
    ("verl", "rollout_correction/rollout_corr/k3_kl", "kl/mismatch", SAME),
    # Names that mean one thing here and another there.
    ("trl", "kl", "kl/ref", SAME),
    ("trl_async", "kl", "kl/old", SAME),
    ("verl", "actor/ppo_kl", "kl/old", SAME),
    ("sb3", "train/entropy_loss", "entropy/mean", TURNED),
    ("verl", "actor/entropy_loss", "entropy/mean", SAME),
    ("trl", "clip_ratio/region_mean", "ratio/clip_fraction", SAME),
    ("trl", "completions/clipped_ratio", "response/truncated", SAME),
    ("verl", "response_length/clip_ratio", "response/truncated", SAME),
    ("verl", "actor/pg_clipfrac_lower", "ratio/dual_clip_fraction", SAME),
    ("verl", "critic/score/mean", "reward/mean", SAME),
    ("verl", "critic/rewards/mean", "reward/used", SAME),
    ("verl", "critic/advantages/mean", "advantage/mean", SAME),
    ("areal", "rollout/rejected", None, SAME),
    ("verl", "perf/max_memory_allocated_gb", "memory/allocated", SAME),
    ("verl", "actor/perf/max_memory_allocated_gb", "memory/allocated", SAME),
    ("verl", "val-core/gsm8k/acc/mean_at_8", "eval/score/gsm8k/acc/mean_at_8", SAME),
    ("trl", "train/reward", "reward/mean", SAME),
]


def spoken(framework: str, raw: str) -> Curve:
    """Return what a curve of that raw name becomes in a dialect; its values were 0 and 0.25."""
    curve = Curve(raw, raw, "file", np.array([1.0, 2.0]), np.array([0.0, 0.25]))
    return translate(Run(curves={raw: curve}), DIALECTS[framework], {})[0].curve


@pytest.mark.parametrize(("framework", "raw", "ours", "affine"), NAMES)
def test_a_name_its_meaning_and_its_sign(framework: str, raw: str, ours: str | None, affine: tuple[float, float]) -> None:
    """What it is called here, and by what its numbers are turned into ours; None: the name stays as it is."""
    curve = spoken(framework, raw)
    assert (curve.name if curve.mapped else None) == ours
    np.testing.assert_allclose(curve.value, affine[0] * np.array([0.0, 0.25]) + affine[1])


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_speaks_only_our_words(name: str) -> None:
    """Every target is one of our metrics or of their families; every affine entry turns a name the table knows."""
    dialect = DIALECTS[name]
    targets = [*dialect.metrics.values(), *(template.replace(r"\1", "x").replace(r"\2", "y") for _, template in dialect.patterns)]
    assert [t for t in targets if metric(t) is None] == []
    assert [t for t in targets if t.endswith("/*")] == []
    assert [raw for raw in dialect.affine if raw not in dialect.metrics] == []
    assert [ours for ours in dialect.notes if metric(ours) is None] == []
    assert METRICS


@pytest.mark.parametrize("name", [n for n in DIALECTS if DIALECTS[n].marks])
def test_a_framework_is_recognised_by_what_it_writes(name: str) -> None:
    """All names of a dialect's table and all its marks together are recognised as that dialect and no other."""
    dialect = DIALECTS[name]
    found = recognise([*dialect.metrics, *dialect.marks])
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["train/reward", "train/loss", "train/grad_norm", "train/token_mult_prob_error"], "nemo_rl"),
        (
            ["critic/score/mean", "critic/rewards/mean", "actor/pg_loss", "actor/approxkl", "token/response_length/mean", "system/tps"],
            "roll",
        ),
        (["critic/score/mean", "critic/rewards/mean", "actor/pg_loss", "actor/ppo_kl", "response_length/mean"], "verl"),
        (["train/reward", "train/reward_std_dev", "loss/train"], "art"),
        (["loss", "lr", "accuracy"], None),
        (["environment/episode_return", "losses/clipfrac", "losses/approx_kl", "SPS", "agent_steps", "epoch"], "pufferlib"),
        (["frame", "episode_reward", "episode_length", "fps", "batch_reward", "actor_loss", "actor_ent"], None),
        (["training_iteration", "time_this_iter_s", "timesteps_total", "mean_accuracy", "loss"], None),
        (["reward/mean", "batch/solve_none", "batch/solve_all", "batch/effective_batch_size", "optim/lr", "time/step"], "prime_rl"),
        (["loss", "acc", "lr", "steps", "minutes", "lines", "total_length"], None),
    ],
)
def test_frameworks_that_share_names(names: list[str], expected: str | None) -> None:
    """The names that only one of them writes decide; names that anybody writes decide nothing."""
    found = recognise(names)
    assert (found.name if found else None) == expected
