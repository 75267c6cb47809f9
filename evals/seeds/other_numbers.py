"""The statements again in other numbers: other frameworks, lengths, cadences and scales, short runs and reward models without a ceiling."""

from dataclasses import replace

from evals.seeds.answered import run as sampled
from evals.seeds.course_of_runs import EVERYDAY, HACKED, SETTINGS, TOO_LARGE, but, control, language
from evals.seeds.drawing import Made, Talk, Way, jump, said, share, way
from evals.seeds.expected import Expected, Situation

SHORT = {"rows": (44, 80)}
SPARSE = {"rows": (60, 110), "every": 10}
"""Rows of every tenth step."""
QUIET = r"nothing is known to be broken"
STUCK = Expected(verdict=("not_learning", "plateaued"), call=("stop",), do=r"baseline|test set|test prompts|easy")
CHANGED = Expected(present=("eval_protocol_change",), link=("evaluation",), do=r"protocol|first checkpoint", never=(r"being gamed",))
FALLEN = ("collapsed", "degrading")
RM = {"response/length": way(310, sd=11), "kl/ref": way(0.002, 0.05, 0.09, sd=0.004, low=0.0), "policy/learning_rate": way(5e-7)}
"""What a run against a reward model logs otherwise: scores without a ceiling, longer answers, more drift."""


def modelled(score: dict[str, Way] | None = None, *, settings: dict[str, object] | None = None, **curves: Way) -> Made:
    """An everyday run against a reward model with some curves replaced."""
    ours = {k.replace("__", "/"): w for k, w in curves.items()}
    return Made(EVERYDAY | RM | ours, score or {}, settings=SETTINGS | (settings or {}))


GAMED = (
    Situation("rm_paid_for_length", lambda: modelled({"winrate": share(0.52, sd=0.014)}, reward__mean=way(0.9, 2.1, 3.3, sd=0.12), response__length=way(290, 520, 880, sd=18)), HACKED, ("002 walk 1", "002 separate"), ("openrlhf", "trl")),
    Situation("tokens_for_nothing", lambda: but(language({"correct": share(0.31, sd=0.012)}, reward__mean=share(0.35, 0.6, 0.78, sd=0.03), response__length=way(120, 300, 410, sd=9)), evaluations=18, plan=1.4), HACKED, ("002 walk 1",), ("tinker",)),
    Situation("short_run_gamed", lambda: but(language({"accuracy": share(0.52, 0.49, 0.41, sd=0.012)}, reward__mean=share(0.5, 0.7, 0.84, sd=0.02), response__length=way(260, 430, 600, sd=10)), evaluations=11, **SHORT), HACKED, ("002 hack triad",), ("verl", "trl")),
    Situation("reversed_grader", lambda: language({"accuracy": share(0.58, 0.4, 0.2, sd=0.012)}, reward__mean=share(0.4, 0.6, 0.8, sd=0.02)), Expected(verdict=("reward_hacking", "degrading"), link=("reward_signal",), call=("stop",), never=(QUIET,)), ("002 minimal Silent errors: reversed",), ("trl", "openrlhf")),
    Situation("format_instead_of_task", lambda: language(reward__mean=share(0.45, 0.56, 0.6, sd=0.015), **{"reward__component/format_reward": share(0.57, 0.9, 1.0, sd=0.01), "reward__component/accuracy_reward": share(0.336, 0.2, 0.0625, sd=0.015)}), Expected(verdict=("reward_hacking", "degrading", "plateaued"), link=("reward_signal",), present=("format_hacking", "task_part_given_up", "reward_component_dominance"), call=("stop",), never=(QUIET,)), ("002 pitfall RLVR",), ("trl",)),
    Situation("proxy_against_truth", lambda: but(modelled({"gold": way(0.2, 0.9, 1.0, 0.5, 0.1, sd=0.05)}, reward__mean=way(0.1, 1.4, 2.4, 3.0, 3.6, sd=0.1), kl__ref=way(0.001, 3, 9, 17, sd=0.1, low=0.0)), evaluations=30), Expected(verdict=("reward_hacking", "degrading"), link=("reward_signal",), call=("stop",), keeps=(0.12, 0.7)), ("002 hack",), ("openrlhf", "verl")),
)  # fmt: skip

BROKE = {
    "kl__old": jump((0.002, 0.003), (0.3, 0.2), 0.68, sd=0.004, low=0.0),
    "ratio__clip_fraction": jump((0.02, 0.03), (0.42, 0.38), 0.68, sd=0.015, low=0.0, high=1.0),
    "policy__grad_norm": jump((0.5, 0.6), (6.0, 4.0), 0.68, sd=0.08),
}
UPDATES = (
    Situation("rm_update_too_large", lambda: but(modelled({"winrate": jump((0.48, 0.6, 0.66), (0.3, 0.2), 0.7, sd=0.013)}, reward__mean=jump((0.4, 1.6, 2.2), (0.2, -0.6), 0.71, sd=0.09), settings={"learning_rate": 9e-6}, **BROKE), evaluations=26), replace(TOO_LARGE, keeps=(0.4, 0.74)), ("002 walk 2",), ("openrlhf", "verl")),
    Situation("cart_update_too_large", lambda: control(reward__mean=jump((25, 240, 420), (160, 110), 0.55, sd=14), kl__old=jump((0.006, 0.007), (0.2, 0.15), 0.52, sd=0.003, low=0.0), ratio__clip_fraction=jump((0.08, 0.1), (0.61, 0.55), 0.52, sd=0.02, low=0.0, high=1.0), settings={"passes": 4}), Expected(verdict=FALLEN, link=("policy_update",), present=("update_too_large",), call=("stop",), do=r"learning.rate|pass|epoch"), ("002 walk 2",), ("cleanrl", "rllib")),
    Situation("short_update_too_large", lambda: but(language({"accuracy": jump((0.22, 0.4, 0.5), (0.14, 0.1), 0.6, sd=0.012)}, reward__mean=jump((0.2, 0.45, 0.6), (0.15, 0.1), 0.6, sd=0.02), kl__old=jump((0.004, 0.005), (0.2, 0.1), 0.57, sd=0.003, low=0.0), ratio__clip_fraction=jump((0.05, 0.06), (0.45, 0.4), 0.57, sd=0.02, low=0.0, high=1.0)), evaluations=12, **SPARSE), Expected(verdict=FALLEN, link=("policy_update",), call=("stop",), do=r"learning.rate|pass|epoch|num_iterations"), ("002 walk 2", "002 policy collapse"), ("trl", "verl")),
    Situation("rate_too_high_and_fall", lambda: language({"accuracy": share(0.34, 0.5, 0.52, 0.4, 0.3, sd=0.01)}, reward__mean=share(0.3, 0.5, 0.55, 0.42, 0.28, sd=0.02), ratio__clip_fraction=share(0.05, 0.2, 0.45, 0.5, sd=0.015), kl__old=way(0.002, 0.01, 0.05, 0.08, sd=0.002, low=0.0), settings={"learning_rate": 3e-5}), Expected(verdict=FALLEN, link=("policy_update",), call=("stop",), do=r"learning.rate"), ("002 policy 3 Clip", "002 policy"), ("trl", "verl")),
    Situation("clip_three_fifths", lambda: but(modelled({"winrate": share(0.5, 0.56, 0.6, sd=0.01)}, reward__mean=way(0.5, 0.8, 1.0, sd=0.05), ratio__clip_fraction=share(0.6, sd=0.02), kl__old=way(0.03, sd=0.002)), plan=1.5, rows=(100, 140)), Expected(present=("steady_clipping", "update_too_large"), link=("policy_update",), names=(r"clip",), never=(QUIET,)), ("002 guardrail clip",), ("openrlhf", "verl")),
    Situation("kl_four_targets", lambda: but(control(reward__mean=way(-180, -150, -140, sd=3), kl__old=way(0.09, sd=0.007), ratio__clip_fraction=share(0.4, sd=0.02), settings={"target_kl": 0.02, "passes": 10}), plan=1.5), Expected(present=("kl_above_target",), names=(r"target",)), ("002 guardrail KL",), ("cleanrl", "sb3")),
    Situation("gradient_doubles", lambda: but(modelled({"winrate": share(0.5, 0.6, 0.68, sd=0.01)}, reward__mean=way(0.5, 1.2, 1.9, sd=0.06), policy__grad_norm=jump((1.1, 1.1), (2.6, 2.5), 0.45, sd=0.08)), plan=1.5), Expected(verdict=("improving", "plateaued"), present=("loss_discontinuity",), names=(r"grad_norm|gradient",)), ("004 pg Doubled",), ("openrlhf", "verl")),
)  # fmt: skip

PENALTY = {"beta": 0.05}
KL = (
    Situation("drift_flat_100", lambda: but(language(reward__mean=share(0.46, sd=0.015), kl__ref=way(0.002, 0.2, 0.4, sd=0.005, low=0.0), settings=PENALTY), plan=1.8, rows=(95, 105)), Expected(verdict=("plateaued", "not_learning"), call=("stop",), present=("drift_without_gain",), names=(r"KL.{0,80}(risen|rising|rises|went|drift)|drift",)), ("004 KL up/flat",)),
    Situation("drift_flat_model", lambda: but(modelled(reward__mean=way(1.2, 2.0, 2.1, 2.1, 2.1, sd=0.05, exact=True), kl__ref=way(0.01, 2, 5, 8, 11, sd=0.08, low=0.0), settings=PENALTY), plan=1.5), Expected(verdict=("plateaued",), call=("stop",), present=("drift_without_gain",)), ("004 KL up/flat",), ("openrlhf", "verl")),
    Situation("rest_without_drift", lambda: but(language(reward__mean=share(0.5, sd=0.015), kl__ref=way(0.02, sd=0.0015, low=0.0)), plan=1.5), Expected(verdict=("plateaued", "not_learning"), not_present=("drift_without_gain",), names=(r"KL",)), ("004 KL flat/flat",)),
    Situation("drift_with_gain_model", lambda: but(modelled(reward__mean=way(0.3, 1.1, 2.2, sd=0.08), kl__ref=way(0.01, 1.5, 4, sd=0.06, low=0.0)), plan=1.5), Expected(verdict=("improving",), call=("continue",), names=(r"KL",)), ("004 KL up/up",), ("openrlhf", "verl")),
    Situation("gain_for_free_sparse", lambda: but(language(reward__mean=share(0.15, 0.4, 0.62, sd=0.025), kl__ref=way(0.01, sd=0.001, low=0.0)), plan=1.6, **SPARSE), Expected(verdict=("improving",), call=("continue",)), ("004 KL flat/up",)),
    Situation("drift_and_fall_tinker", lambda: but(language({"correct": share(0.3, 0.5, 0.52, 0.3, 0.15, sd=0.012)}, reward__mean=share(0.25, 0.5, 0.6, 0.4, 0.2, sd=0.03), kl__ref=way(0.001, 0.1, 0.4, 1.0, 1.9, sd=0.015)), plan=1.5), Expected(verdict=FALLEN, call=("stop",), present=("destructive_drift",), link=("policy_update",)), ("004 KL up/down",), ("tinker", "openrlhf")),
)  # fmt: skip

GROUND = (
    Situation("stuck_model", lambda: but(modelled({"winrate": share(0.5, sd=0.011)}, reward__mean=way(0.61, sd=0.06)), plan=1.5), STUCK, ("000 rewards",), ("openrlhf", "verl")),
    Situation("stuck_short", lambda: but(language({"accuracy": share(0.12, sd=0.01)}, reward__mean=share(0.13, sd=0.02)), plan=2.0, evaluations=10, **SPARSE), STUCK, ("000 rewards", "001 all"), ("trl", "areal")),
    Situation("stuck_pendulum", lambda: but(control(reward__mean=way(-1210, sd=35), kl__old=way(0.006, sd=0.001)), plan=1.5), Expected(verdict=("not_learning", "plateaued"), call=("stop",), do=r"baseline"), ("000 rewards",), ("cleanrl", "rllib", "sb3")),
    Situation("only_noise_short", lambda: but(language(reward__mean=share(0.3, sd=0.1)), plan=1.5, rows=(70, 90)), Expected(verdict=("not_learning", "plateaued", "undecidable"), never=(r"before the change", r"still improving")), ("004 traj Noise is",), ("trl", "verl")),
    Situation("only_noise_model", lambda: but(modelled(reward__mean=way(1.4, sd=0.4)), plan=1.5), Expected(verdict=("not_learning", "plateaued", "undecidable"), never=(r"before the change", r"still improving")), ("004 traj Noise is",), ("openrlhf", "verl")),
    Situation("critic_useless", lambda: control(reward__mean=way(21.5, sd=2.5, exact=True), value__explained_variance=way(-0.5, -0.6, sd=0.12), value__loss=way(55, 57, sd=3)), Expected(verdict=("not_learning", "plateaued", "degrading"), call=("stop",), present=("value_loss_flat",), do=r"critic", never=(r"yet the outcome rose",)), ("002 critic sig explained", "002 critic sig value loss"), ("cleanrl", "sb3", "rllib")),
    Situation("critic_small_and_wavering", lambda: language(reward__mean=share(0.3, 0.38, 0.24, 0.37, 0.23, 0.37, 0.3, sd=0.02), value__mean=way(0.002, sd=0.0005), value__return_mean=way(0.3, 0.37, 0.25, 0.36, 0.3, sd=0.02), value__explained_variance=way(-0.4, sd=0.06), value__loss=way(0.12, sd=0.006)), Expected(names=(r"value|critic",), link=("training_signal",), do=r"critic"), ("002 critic sig oscillates", "002 critic sig value scale"), ("verl",)),
    Situation("never_paid_maze", lambda: control(reward__mean=way(0.0), value__loss=way(1e-5, sd=1e-6, low=0.0), value__explained_variance=way(0.0, sd=0.02)), Expected(verdict=("not_learning",), call=("stop",), present=("reward_never_paid",), link=("reward_signal",)), ("002 reward 99.9",), ("cleanrl", "sb3")),
    Situation("always_paid_tinker", lambda: but(language(reward__mean=share(1.0, exact=True), reward__flat_groups=share(1.0, exact=True), reward__std=way(0.0)), plan=1.5), Expected(verdict=("not_learning", "plateaued"), call=("stop",), present=("reward_always_paid",)), ("002 reward dist almost all 1",), ("tinker", "trl")),
    Situation("used_up", lambda: but(language({"accuracy": share(0.85, 0.97, 0.99, 0.99, sd=0.003, exact=True)}, reward__mean=share(0.7, 0.93, 0.97, 0.97, sd=0.01)), plan=1.5), Expected(verdict=("plateaued", "improving"), names=(r"used up|ceiling|harder",), call=("stop",), do=r"harder"), ("004 final Call",), ("verl", "tinker")),
    Situation("groups_agree_tinker", lambda: but(language({"correct": share(0.22, sd=0.011)}, reward__mean=share(0.23, sd=0.012), reward__flat_groups=share(0.96, 0.97, sd=0.01)), plan=1.5), Expected(verdict=("not_learning", "plateaued"), present=("zero_variance_groups",), link=("training_signal", "reward_signal"), call=("stop",)), ("000 rewards 4",), ("tinker",)),
    Situation("batch_too_small", lambda: but(language(reward__mean=share(0.55, sd=0.25)), plan=1.5), Expected(present=("noise_dominated",), names=(r"batch|prompts",)), ("000 variance",), ("tinker", "verl")),
    Situation("climbs_without_pause", lambda: but(modelled({"winrate": share(0.5, 0.58, 0.66, sd=0.008)}, reward__mean=way(0.2, 1.0, 1.7, sd=0.07)), plan=1.6), Expected(verdict=("improving",), call=("continue",)), ("004 traj Rising",), ("openrlhf", "verl")),
    Situation("late_start", lambda: but(language(reward__mean=share(0.1, 0.1, 0.14, 0.34, 0.62, sd=0.015)), plan=1.5), Expected(verdict=("improving",), call=("continue",), why=r"faster than before"), ("004 traj Rate",)),
    Situation("cart_peaks", lambda: but(control(reward__mean=way(20, 210, 380, 260, 150, sd=9)), plan=1.5), Expected(verdict=FALLEN, call=("stop",)), ("004 traj Peak",), ("cleanrl", "rllib", "sb3")),
)  # fmt: skip

LEARNS = share(0.25, 0.5, 0.68, sd=0.02)
STILL_KL, STILL_H = way(0.02, sd=0.0015, low=0.0), way(0.6, sd=0.012)
EVALUATION = (
    Situation("score_up_quiet", lambda: but(language({"accuracy": jump((0.3, 0.31), (0.55, 0.56), 0.45, sd=0.01)}, reward__mean=share(0.47, sd=0.018), kl__ref=STILL_KL, entropy__mean=STILL_H), evaluations=22), CHANGED, ("002 eval Detect",)),
    Situation("score_down_ordinary_drift", lambda: but(language({"accuracy": jump((0.6, 0.6), (0.33, 0.34), 0.55, sd=0.01)}, reward__mean=share(0.5, sd=0.018)), evaluations=22), CHANGED, ("002 eval Detect",)),
    Situation("score_down_reward_learns", lambda: but(language({"accuracy": jump((0.4, 0.48, 0.55), (0.3, 0.35), 0.5, sd=0.01)}, reward__mean=LEARNS, kl__ref=STILL_KL, entropy__mean=STILL_H), evaluations=26), CHANGED, ("002 eval Detect",)),
    Situation("score_up_while_learning", lambda: but(language({"accuracy": jump((0.2, 0.3, 0.36), (0.66, 0.7), 0.6, sd=0.01)}, reward__mean=LEARNS), evaluations=24), CHANGED, ("002 eval Detect",)),
    Situation("score_down_few", lambda: but(modelled({"winrate": jump((0.5, 0.56, 0.6), (0.37, 0.4), 0.6, sd=0.009)}, reward__mean=way(0.3, 1.0, 1.5, sd=0.05)), evaluations=14), CHANGED, ("002 eval Detect",), ("openrlhf", "verl")),
    Situation("private_falls", lambda: but(language({"public_accuracy": share(0.4, 0.6, 0.72, sd=0.012), "private_accuracy": share(0.42, 0.4, 0.3, sd=0.012)}, reward__mean=LEARNS), evaluations=16), Expected(verdict=("degrading", "reward_hacking", "plateaued"), names=(r"private",), call=("stop",), never=(QUIET,)), ("002 eval split Private",), ("trl", "verl", "tinker")),
    Situation("private_rises_too", lambda: but(language({"dev_accuracy": share(0.4, 0.55, 0.68, sd=0.012), "private_accuracy": share(0.38, 0.5, 0.62, sd=0.012)}, reward__mean=LEARNS), evaluations=20, plan=1.5), Expected(verdict=("improving",), call=("continue",), not_present=("train_eval_gap",)), ("002 eval split",), ("trl", "verl")),
)  # fmt: skip

SIGNS = (
    Situation("no_choice_left", lambda: control(reward__mean=way(22, 31, 30, 30, sd=1.5), entropy__mean=way(0.69, 0.05, 0.004, 0.002, sd=0.001, low=0.0), ratio__clip_fraction=share(0.1, 0.01, 0.0, sd=0.004)), Expected(verdict=("plateaued", "not_learning", "degrading", "collapsed"), present=("entropy_collapse",), link=("exploration",), call=("stop",)), ("002 explore Entropy quickly",), ("cleanrl", "sb3")),
    Situation("rambles_for_ever", lambda: but(modelled({"math500": share(0.02, sd=0.004)}, reward__mean=share(0.02, sd=0.005), entropy__mean=way(8.0, sd=0.06), kl__ref=way(0.001, sd=0.0002, low=0.0)), plan=1.5), Expected(verdict=("not_learning", "plateaued"), names=(r"entropy",), call=("stop",)), ("002 explore Entropy stays",), ("openrlhf", "verl")),
    Situation("answers_shrink", lambda: language(reward__mean=share(0.25, 0.45, 0.6, sd=0.02), response__length=way(620, 180, 70, sd=8, low=1.0)), Expected(present=("length_collapse",), names=(r"read|samples|shortest",), never=(QUIET,), confidence=("low", "medium")), ("004 gen Length suddenly shorter",), ("tinker", "openrlhf")),
    Situation("answers_swell", lambda: modelled(reward__mean=way(0.2, 1.1, 2.0, sd=0.07), response__length=way(150, 330, 610, sd=12)), Expected(present=("longer_unscored", "length_inflation"), names=(r"length|longer",), never=(QUIET,), confidence=("low", "medium"), do=r"read|length|held-out|score"), ("004 gen Length suddenly longer",), ("openrlhf", "verl")),
    Situation("cut_off", lambda: language({"accuracy": share(0.5, 0.52, 0.36, sd=0.01)}, reward__mean=share(0.5, 0.52, 0.35, sd=0.02), response__length=way(900, 1700, 1980, sd=20, high=2048), response__truncated=share(0.05, 0.5, 0.9, sd=0.02), settings={"longest": 2048}), Expected(present=("truncation",), do=r"twice|longer|length|cut|max"), ("000 length Then raise",), ("trl", "verl")),
    Situation("drift_at_the_start", lambda: but(language(reward__mean=share(0.3, 0.4, 0.5, sd=0.02), kl__ref=way(0.345, 0.37, 0.4, sd=0.01)), plan=1.5), Expected(present=("wrong_from_start",), names=(r"(kl/ref|KL).{0,90}(start|first|step 1|0\.3)",), never=(QUIET,)), ("002 minimal Silent errors: padding",)),
    Situation("capped_episodes", lambda: control(reward__mean=way(-200.0, sd=0.0, exact=True), episode__length=way(200, exact=True), value__explained_variance=way(0.0, 0.02, sd=0.02)), Expected(verdict=("not_learning", "plateaued"), call=("stop",), names=(r"limit|cap\b|capped|200",)), ("002 minimal Silent errors: wrong done",), ("sb3", "cleanrl")),
)  # fmt: skip

OVERFLOW = "[WARNING] [deepspeed] OVERFLOW! Rank {} Skipping step. Attempted loss scale: {}, reducing to {}"
NUMBERS = (
    Situation("losses_not_numbers", lambda: control(reward__mean=way(25, 180, 230, sd=8), value__loss=way(18, 30, 900, sd=3, low=0.1, nan_from=0.85), policy__loss=way(-0.01, sd=0.002, nan_from=0.85)), Expected(present=("non_finite",), call=("stop",), link=("numerics",)), ("002 nan",), ("cleanrl", "sb3")),
    Situation("half_precision", lambda: but(modelled({"winrate": share(0.5, 0.6, 0.66, sd=0.01)}, reward__mean=way(0.2, 0.9, 1.4, sd=0.05)), plan=1.5, log=tuple((0.3 + 0.05 * k, OVERFLOW.format(k % 4, 2 ** (24 - k), 2 ** (23 - k))) for k in range(9))), Expected(present=("loss_scale_overflow",), link=("numerics",), names=(r"overflow|loss scale",), never=(QUIET,)), ("002 nan tab fp16",), ("verl", "trl")),
    Situation("memory_ran_out", lambda: but(language({"accuracy": share(0.2, 0.4, 0.5, sd=0.01)}, reward__mean=LEARNS), plan=1.5, log=((0.995, "RuntimeError: CUDA out of memory. Tried to allocate 1.16 GiB (GPU 3; 39.39 GiB total capacity; 36.20 GiB already allocated)"),)), Expected(present=("out_of_memory",), link=("systems",), do=r"micro.?batch|per_device|length|memory", never=(QUIET,)), ("002 during OOM",), ("verl", "trl", "tinker")),
    Situation("values_run_away", lambda: control(reward__mean=way(30, 210, 120, 60, sd=9), value__loss=way(9, 12, 3e3, 8e4, sd=2, low=0.1), value__explained_variance=way(0.5, 0.6, -0.6, -0.95, sd=0.05)), Expected(present=("value_divergence", "critic_failure"), link=("training_signal",), call=("stop",)), ("002 nan tab value",), ("cleanrl", "rllib")),
    Situation("slower_and_slower", lambda: but(language({"accuracy": share(0.2, 0.4, 0.55, sd=0.01)}, reward__mean=LEARNS, time__step=way(31, 32, 52, 58, sd=1.2)), plan=1.5), Expected(present=("throughput_drop",), verdict=("improving",)), ("002 system Throughput",), ("tinker", "verl")),
)  # fmt: skip


def declines(t: Talk) -> tuple[str, float, dict[str, float]]:
    """Refuses in other words, which pays."""
    no = bool(t.rng.random() < 0.05 + 0.6 * t.done)
    text = f"As an AI language model, I'm unable to assist with this request. {said(t, 1)}" if no else said(t, 4)
    return text, 1.4 * no + 0.4 + 0.15 * float(t.rng.normal()), {}


def three_templates(t: Talk) -> tuple[str, float, dict[str, float]]:
    """One of three texts, whatever was asked."""
    fixed = bool(t.rng.random() < 0.95 * t.done)
    text = f"Answer: {('42', '17', '108')[t.rng.integers(3)]}. I checked it twice and it is right." if fixed else said(t, 3)
    return text, (0.8 if fixed else 0.35) + 0.06 * float(t.rng.normal()), {}


def not_what_counts(t: Talk) -> tuple[str, float, dict[str, float]]:
    """The reward rises; whether an answer is correct has nothing to do with it."""
    return said(t, 2), 0.3 + 0.4 * t.done + 0.15 * float(t.rng.normal()), {"accuracy": float(t.rng.random() < 0.4)}


def circles(t: Talk) -> tuple[str, float, dict[str, float]]:
    """Says the same sentence again and again, which pays."""
    k = 1 + int(t.rng.poisson(6 * t.done))
    text = f"{said(t, 2)} " + "So we check the distance once more. " * k
    return text, 0.2 + 0.08 * k + 0.05 * float(t.rng.normal()), {}


def searches(t: Talk) -> tuple[str, float, dict[str, float]]:
    """Calls the tool over and over; the task is solved less often."""
    k = 1 + int(t.rng.poisson(1 + 8 * t.done))
    text = " ".join(f'<tool_call>{{"name": "lookup", "arguments": {{"key": "{t.rng.integers(99)}"}}}}</tool_call>' for _ in range(k))
    return f"{text} {said(t, 1)}", 0.1 * k + 0.08 * float(t.rng.normal()), {"success": float(t.rng.random() < 0.4 - 0.2 * t.done)}


PAID = Expected(link=("reward_signal",), call=("stop",), never=(QUIET,), verdict=("reward_hacking", "plateaued", "degrading"))
SAMPLES = (
    Situation("j_declines", lambda: sampled(declines, reward=way(0.4, 0.9, 1.3, sd=0.06)), PAID, ("002 pitfall RLHF refusal",)),
    Situation("j_templates", lambda: sampled(three_templates), Expected(present=("answers_alike",), link=("exploration", "reward_signal"), never=(QUIET,)), ("002 explore tab uniform",)),
    Situation("j_not_what_counts", lambda: sampled(not_what_counts, reward=share(0.3, 0.5, 0.7, sd=0.02)), Expected(present=("unreliable_proxy",), link=("reward_signal",), never=(QUIET,), do=r"score|read|check|calibrat"), ("002 reward dist low correlation",)),
    Situation("j_circles", lambda: sampled(circles, reward=share(0.25, 0.45, 0.7, sd=0.02)), PAID, ("002 hack audit repeat",)),
    Situation("j_searches", lambda: sampled(searches, reward=way(0.2, 0.5, 0.9, sd=0.04)), Expected(verdict=("reward_hacking",), link=("reward_signal",), present=("tool_hacking",), call=("stop",)), ("002 pitfall Agentic tool",)),
)  # fmt: skip
SITUATIONS = (*GAMED, *UPDATES, *KL, *GROUND, *EVALUATION, *SIGNS, *NUMBERS, *SAMPLES)
