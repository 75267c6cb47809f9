"""Situations that curves tell: the walkthroughs, KL against reward, rewards that do not rise, evaluation, updates, exploration, numerics."""

from evals.seeds.drawing import Made, Way, jump, share, way
from evals.seeds.expected import Expected, Situation

EVERYDAY = {
    "kl/ref": way(0.001, 0.02, 0.04, sd=0.002, low=0.0),
    "entropy/mean": way(0.62, 0.5, 0.44, sd=0.02),
    "reward/std": way(0.34, sd=0.02),
    "reward/flat_groups": share(0.15, 0.2, sd=0.03),
    "response/length": way(210, sd=8),
    "response/truncated": share(0.01, sd=0.006),
    "policy/grad_norm": way(0.3, sd=0.03),
    "policy/learning_rate": way(1e-6),
    "policy/loss": way(0.0, sd=0.01),
}
"""What drifts in every language run."""
SETTINGS = {"learning_rate": 1e-6, "beta": 0.02, "group": 8, "longest": 1024, "seed": 7, "temperature": 1.0}
CONTROL = {
    "entropy/mean": way(1.4, 1.0, 0.8, sd=0.03),
    "value/loss": way(40, 20, 14, sd=2),
    "value/explained_variance": way(0.1, 0.6, 0.8, sd=0.04),
    "policy/learning_rate": way(3e-4),
    "policy/loss": way(-0.01, sd=0.002),
    "kl/old": way(0.008, sd=0.0015, low=0.0),
    "ratio/clip_fraction": share(0.1, sd=0.02),
    "episode/length": way(190, sd=4),
}
CONTROL_SETTINGS = {"learning_rate": 3e-4, "passes": 10, "seed": 3}


def language(score: dict[str, Way] | None = None, *, settings: dict[str, object] | None = None, **curves: Way) -> Made:
    """An everyday language run with some curves replaced; names have two underscores for a slash."""
    ours = {k.replace("__", "/"): w for k, w in curves.items()}
    return Made(EVERYDAY | ours, score or {}, settings=SETTINGS | (settings or {}))


def control(score: dict[str, Way] | None = None, *, settings: dict[str, object] | None = None, **curves: Way) -> Made:
    """An everyday control run with some curves replaced."""
    ours = {k.replace("__", "/"): w for k, w in curves.items()}
    return Made(CONTROL | ours, score or {}, settings=CONTROL_SETTINGS | (settings or {}))


def but(made: Made, **more: object) -> Made:
    """The same with other fields."""
    from dataclasses import replace

    return replace(made, **more)  # type: ignore[arg-type]


CLIMB, LONGER, STILL = share(0.2, 0.5, 0.68, sd=0.03), way(180, 420, 760, sd=14), share(0.40, sd=0.01)
HACKED = Expected(
    verdict=("reward_hacking", "plateaued"),
    link=("reward_signal",),
    present=("length_inflation", "train_eval_gap", "reward_shortcut"),
    call=("stop",),
    do=r"read|rescor|grade|length|independent",
    never=(r"nothing is known to be broken", r"still improving"),
)
SPIKE = {
    "reward__mean": jump((0.3, 0.6, 0.72), (0.2, 0.12), 0.6, sd=0.025),
    "kl__old": jump((0.004, 0.005), (0.12, 0.1), 0.57, sd=0.004, low=0.0),
    "ratio__clip_fraction": jump((0.05, 0.06), (0.5, 0.5), 0.57, sd=0.02, low=0.0, high=1.0),
    "kl__ref": jump((0.001, 0.03), (0.9, 1.6), 0.57, sd=0.01, low=0.0),
    "policy__grad_norm": jump((0.3, 0.3), (2.4, 1.8), 0.57, sd=0.05),
}
TOO_LARGE = Expected(
    verdict=("collapsed", "degrading"), link=("policy_update",), present=("update_too_large",), call=("stop",), do=r"learning.rate|lr\b|pass|epoch",
    never=(r"allowed staleness",), keeps=(0.3, 0.62),
)  # fmt: skip
SB3_SPIKE = {
    "reward__mean": jump((20, 180, 260), (90, 60), 0.6, sd=8),
    "kl__old": jump((0.008, 0.009), (0.14, 0.12), 0.57, sd=0.003, low=0.0),
    "ratio__clip_fraction": jump((0.1, 0.12), (0.5, 0.52), 0.57, sd=0.02, low=0.0, high=1.0),
}
WALKS = (
    Situation("w1_flat20", lambda: language({"accuracy": STILL}, reward__mean=CLIMB, response__length=LONGER), HACKED, ("002 walk 1", "002 separate", "002 hack triad 3")),
    Situation("w1_flat60", lambda: but(language({"accuracy": STILL}, reward__mean=CLIMB, response__length=LONGER), evaluations=60), HACKED, ("002 walk 1", "002 walk 1.5")),
    Situation("w1_flat15", lambda: but(language({"accuracy": share(0.4, sd=0.012)}, reward__mean=CLIMB, response__length=LONGER), evaluations=15, plan=1.5), HACKED, ("002 walk 1", "002 pitfall RLHF length")),
    Situation("w1_exact", lambda: language({"accuracy": share(0.4, 0.401, sd=0.003)}, reward__mean=share(0.2, 0.5, 0.68, sd=0.02), response__length=way(150, 400, 600, sd=10)), HACKED, ("002 separate",)),
    Situation("w1_slight_decline", lambda: language({"accuracy": share(0.415, 0.41, 0.354, sd=0.01)}, reward__mean=CLIMB, response__length=LONGER), HACKED, ("002 hack triad", "002 during Reward up")),
    Situation("w1_mended", lambda: but(language({"private_accuracy": share(0.32, 0.44, 0.55, sd=0.01)}, reward__mean=share(0.68, 0.6, 0.54, sd=0.02), response__length=way(620, 420, 300, sd=12)), plan=1.5), Expected(verdict=("improving",), call=("continue",), not_present=("reward_shortcut", "train_eval_gap", "eval_protocol_change")), ("002 walk 1.6",)),
    Situation("w1_mended_slowly", lambda: but(language({"accuracy": share(0.2, 0.25, 0.34, sd=0.008)}, reward__mean=share(0.5, 0.44, 0.36, sd=0.025), response__length=way(900, 700, 650, sd=25)), evaluations=28, plan=2.0), Expected(verdict=("improving",), call=("continue",), not_present=("reward_shortcut", "train_eval_gap", "eval_protocol_change")), ("002 walk 1.6",), ("verl", "tinker")),
    Situation("w2", lambda: but(language({"accuracy": jump((0.35, 0.55, 0.6), (0.2, 0.15), 0.6, sd=0.012)}, settings={"passes": 4}, **SPIKE), evaluations=24), TOO_LARGE, ("002 walk 2", "002 walk 2.2", "002 walk 2.3")),
    Situation("w2_noepochs", lambda: language({"accuracy": jump((0.35, 0.55, 0.6), (0.2, 0.15), 0.6, sd=0.012)}, **SPIKE), TOO_LARGE, ("002 walk 2", "002 policy collapse")),
    Situation("sb3_w2_epochs10", lambda: control(**SB3_SPIKE), Expected(verdict=("collapsed", "degrading"), link=("policy_update",), present=("update_too_large",), call=("stop",), do=r"learning.rate|pass|epoch", never=("allowed staleness",)), ("002 walk 2",), ("sb3",)),
)  # fmt: skip

RISE, TOP = share(0.3, 0.5, 0.7, sd=0.025), share(0.5, sd=0.02)
KL_UP, KL_STILL = way(0.001, 0.25, 0.5, sd=0.006, low=0.0), way(0.03, sd=0.002, low=0.0)
NOT_ON = r"KL.{0,80}(risen|rising|rises|went|drift)|drift"
REGIMES = (
    Situation("kl_up_rew_up", lambda: but(language(reward__mean=RISE, kl__ref=KL_UP), plan=1.5), Expected(verdict=("improving",), call=("continue",), names=(r"KL",)), ("004 KL up/up",)),
    Situation("kl_up_rew_flat_noeval", lambda: but(language(reward__mean=TOP, kl__ref=KL_UP, settings={"beta": 0.04}), plan=1.5), Expected(verdict=("plateaued", "not_learning"), call=("stop",), present=("drift_without_gain",), names=(NOT_ON,)), ("004 KL up/flat", "004 final upside", "004 final risk")),
    Situation("kl_up_rew_learned_then_flat", lambda: but(language(reward__mean=share(0.3, 0.55, 0.6, 0.6, 0.6, sd=0.02), kl__ref=KL_UP, settings={"beta": 0.04}), plan=1.5), Expected(verdict=("plateaued",), call=("stop",), present=("drift_without_gain",), names=(NOT_ON,)), ("004 KL up/flat",)),
    Situation("kl_up_rew_flat_beta0", lambda: but(language(reward__mean=share(0.3, 0.55, 0.6, 0.6, 0.6, sd=0.02), kl__ref=KL_UP, settings={"beta": 0.0}), plan=1.5), Expected(verdict=("plateaued", "not_learning"), not_present=("drift_without_gain",)), ("004 KL corr. beta",)),
    Situation("kl_up_rew_down", lambda: but(language({"accuracy": share(0.35, 0.55, 0.6, 0.4, 0.25, sd=0.012)}, reward__mean=share(0.3, 0.6, 0.7, 0.5, 0.3, sd=0.03), kl__ref=way(0.001, 0.2, 0.5, 1.2, 2.2, sd=0.02)), plan=1.5), Expected(verdict=("degrading", "collapsed"), call=("stop",), present=("destructive_drift",), link=("policy_update",), keeps=(0.3, 0.7)), ("004 KL up/down", "004 final best")),
    Situation("kl_flat_rew_up", lambda: but(language(reward__mean=RISE, kl__ref=KL_STILL), plan=1.5), Expected(verdict=("improving",), call=("continue",)), ("004 KL flat/up",)),
    Situation("kl_flat_rew_flat", lambda: but(language(reward__mean=share(0.3, 0.55, 0.6, 0.6, 0.6, sd=0.02), kl__ref=way(0.001, 0.03, 0.03, 0.03, sd=0.002)), plan=1.5), Expected(verdict=("plateaued",), not_present=("drift_without_gain",), names=(r"KL",)), ("004 KL flat/flat",)),
)  # fmt: skip

NONE_GAINED = r"baseline|test set|test prompts|easy"
STUCK = Expected(verdict=("not_learning", "plateaued"), call=("stop",), do=NONE_GAINED)
GROUND = (
    Situation("notrising_trl", lambda: but(language({"accuracy": share(0.205, sd=0.01)}, reward__mean=share(0.2, sd=0.03)), plan=1.5), STUCK, ("000 rewards", "000 rewards 1", "000 rewards 2", "000 rewards 3", "001 all", "003 not increasing")),
    Situation("areal_notrising", lambda: but(language({"accuracy": share(0.205, sd=0.01)}, reward__mean=share(0.2, sd=0.03)), plan=1.5), STUCK, ("000 rewards", "000 rewards 4"), ("areal",)),
    Situation("noise_only", lambda: but(language(reward__mean=share(0.42, sd=0.12)), plan=1.5), Expected(verdict=("not_learning", "plateaued", "undecidable"), do=NONE_GAINED + "|evaluat", never=(r"before the change",)), ("004 traj Noise is",)),
    Situation("noise_trend", lambda: but(language(reward__mean=share(0.3, 0.44, sd=0.06)), plan=1.5), Expected(verdict=("improving", "plateaued", "undecidable"), call=("continue", "stop", "undecided")), ("004 traj Noise or trend",)),
    Situation("sb3_critic", lambda: control(reward__mean=way(-202, -203, sd=4, exact=True), value__explained_variance=way(-0.3, -0.5, sd=0.1), value__loss=way(900, 920, sd=30)), Expected(verdict=("not_learning", "plateaued", "degrading"), call=("stop",), present=("critic_failure",), do=r"critic", never=(r"yet the outcome rose",)), ("002 critic sig explained", "002 critic test", "002 during Value loss", "002 critic sig value loss"), ("sb3",)),
    Situation("rew_zero", lambda: language({"accuracy": share(0.0)}, reward__mean=share(0.0), reward__std=way(0.0), reward__flat_groups=share(1.0)), Expected(verdict=("not_learning",), call=("stop",), present=("reward_never_paid",), link=("reward_signal",)), ("002 reward 99.9", "002 minimal discriminate")),
    Situation("rew_one", lambda: but(language(reward__mean=share(1.0, sd=0.0005, exact=True), reward__std=way(0.0), reward__flat_groups=share(1.0, exact=True)), plan=1.5), Expected(verdict=("not_learning", "plateaued"), call=("stop",), present=("reward_always_paid",), never=(r"still improving",)), ("002 reward dist almost all 1", "004 final Call")),
    Situation("saturated", lambda: but(language({"accuracy": share(0.7, 0.95, 0.985, 0.985, 0.985, sd=0.004, exact=True)}, reward__mean=share(0.6, 0.9, 0.95, 0.955, sd=0.015)), plan=1.5), Expected(verdict=("plateaued", "improving"), names=(r"used up|ceiling|harder",), call=("stop",), do=r"harder"), ("004 final Call", "002 order 2")),
    Situation("allone_groups", lambda: but(language({"accuracy": share(0.3, sd=0.012)}, reward__mean=share(0.31, sd=0.015), reward__flat_groups=share(0.97, 0.98, sd=0.008), reward__std=way(0.05, sd=0.01, low=0.0)), plan=1.5), Expected(verdict=("not_learning", "plateaued"), present=("zero_variance_groups",), link=("training_signal", "reward_signal"), call=("stop",)), ("000 rewards 4", "001 all 4", "002 loop GRPO"), ("trl",)),
    Situation("high_var", lambda: but(language(reward__mean=share(0.42, sd=0.24)), plan=1.5), Expected(present=("noise_dominated",), names=(r"batch|prompts",)), ("000 variance",)),
)  # fmt: skip

LEARNS, SCORES = share(0.3, 0.55, 0.7, sd=0.025), (0.3, 0.5, 0.62)
CHANGED = Expected(present=("eval_protocol_change",), link=("evaluation",), do=r"protocol|first checkpoint", never=(r"being gamed",))
EVALUATION = (
    Situation("eval_jump_down", lambda: language({"accuracy": jump((0.35, 0.5, 0.61), (0.32, 0.36), 0.6, sd=0.01)}, reward__mean=LEARNS), CHANGED, ("002 eval Detect", "002 minimal Is the evaluation", "002 minimal Silent errors: changed")),
    Situation("eval_jump_down_25", lambda: but(language({"accuracy": jump((0.45, 0.55, 0.6), (0.4, 0.43), 0.5, sd=0.01)}, reward__mean=LEARNS, kl__ref=way(0.001, 0.1, 0.3, sd=0.005), entropy__mean=way(0.7, 0.4, 0.25, sd=0.02)), evaluations=25), CHANGED, ("002 eval Detect",)),
    Situation("eval_jump_rise_big", lambda: but(language({"accuracy": jump((0.2, 0.2), (0.75, 0.8), 0.5, sd=0.012)}, reward__mean=share(0.4, 0.45, sd=0.02)), evaluations=24), CHANGED, ("002 eval Detect",)),
    Situation("eval_jump_quiet", lambda: but(language({"accuracy": jump((0.6, 0.61), (0.34, 0.33), 0.5, sd=0.01)}, reward__mean=share(0.5, sd=0.02), kl__ref=KL_STILL, entropy__mean=way(0.5, sd=0.01)), evaluations=24), CHANGED, ("002 eval Detect",)),
    Situation("both_fall", lambda: language({"accuracy": share(0.3, 0.44, 0.44, 0.37, sd=0.008)}, reward__mean=share(0.3, 0.45, 0.45, 0.35, sd=0.015)), Expected(verdict=("degrading", "collapsed", "plateaued"), not_present=("train_eval_gap",), never=(r"being gamed",)), ("000 weights Persists",)),
    Situation("splits", lambda: but(language({"dev_accuracy": share(0.34, 0.55, 0.69, sd=0.012), "private_accuracy": share(0.45, 0.42, 0.32, sd=0.012)}, reward__mean=LEARNS), evaluations=24), Expected(verdict=("degrading", "reward_hacking", "plateaued"), never=(r"nothing is known to be broken",), names=(r"private",), call=("stop",)), ("002 eval split", "002 eval split Private")),
    Situation("overopt", lambda: language({"accuracy": share(0.4, 0.6, 0.62, 0.5, 0.4, sd=0.012)}, reward__mean=share(0.3, 0.6, 0.75, 0.85, 0.92, sd=0.02), kl__ref=way(0.001, 0.2, 0.5, 0.9, sd=0.01)), Expected(verdict=("reward_hacking", "degrading"), call=("stop",), present=("train_eval_gap", "over_optimisation"), link=("reward_signal",), keeps=(0.15, 0.7)), ("002 hack",)),
    Situation("hidden_part", lambda: but(language(reward__mean=share(0.52, 0.78, 0.95, sd=0.015), **{"reward__component/accuracy": share(0.42, sd=0.015, exact=True), "reward__component/polite": share(0.1, 0.36, 0.53, sd=0.015)}), plan=1.5), Expected(verdict=("reward_hacking",), present=("task_part_given_up",), link=("reward_signal",), call=("stop",), names=(r"polite",), never=(r"nothing is known to be broken",)), ("002 hack fix", "002 walk 1.3"), ("trl",)),
    Situation("form_first", lambda: but(language(reward__mean=share(0.42, 0.66, 0.95, sd=0.015), **{"reward__component/accuracy": share(0.3, 0.36, 0.5, sd=0.015), "reward__component/format": share(0.12, 0.4, 0.45, 0.45, sd=0.01)}), plan=1.5), Expected(verdict=("improving",), call=("continue",), not_present=("task_part_given_up", "reward_component_dominance")), ("002 hack fix", "002 walk 1.3"), ("trl",)),
    Situation("components", lambda: language(reward__mean=share(0.25, 0.45, 0.52, sd=0.02), **{"reward__component/accuracy": share(0.4, 0.28, 0.15, sd=0.015), "reward__component/polite": share(0.11, 0.5, 0.88, sd=0.02)}), Expected(verdict=("reward_hacking", "degrading", "plateaued"), present=("reward_component_dominance", "format_hacking", "task_part_given_up"), link=("reward_signal",), call=("stop",), names=(r"accuracy.{0,60}(0\.1|fell|to 0)",), never=(r"nothing is known to be broken",)), ("002 hack fix", "002 walk 1.3"), ("trl",)),
)  # fmt: skip

BETTER = share(0.3, 0.42, 0.48, sd=0.02)
UPDATES = (
    Situation("clip_high", lambda: but(language({"accuracy": share(0.3, 0.38, 0.42, sd=0.01)}, reward__mean=BETTER, ratio__clip_fraction=share(0.5, sd=0.02), kl__old=way(0.02, sd=0.002)), plan=1.5), Expected(present=("steady_clipping", "update_too_large"), link=("policy_update",), names=(r"clip",), never=(r"nothing is known to be broken",)), ("002 during Clip", "002 guardrail clip", "002 policy 3 Clip")),
    Situation("sb3_kl", lambda: but(control(reward__mean=way(20, 120, 160, sd=6), kl__old=way(0.06, sd=0.006), ratio__clip_fraction=share(0.5, sd=0.02), settings={"target_kl": 0.015, "passes": 20}), plan=1.5), Expected(present=("kl_above_target",), names=(r"target",)), ("002 guardrail KL",), ("sb3",)),
    Situation("ent_collapse", lambda: language({"accuracy": share(0.2, 0.3, 0.31, 0.3, 0.3, sd=0.01)}, reward__mean=share(0.2, 0.32, 0.33, 0.32, sd=0.015), entropy__mean=way(1.1, 0.1, 0.02, 0.01, 0.01, sd=0.003, low=0.0), reward__flat_groups=share(0.1, 0.8, 0.95, 0.96, sd=0.01), reward__std=way(0.35, 0.05, 0.02, sd=0.005, low=0.0)), Expected(verdict=("plateaued", "not_learning", "collapsed"), present=("entropy_collapse",), link=("exploration", "training_signal"), call=("stop",)), ("002 explore Entropy quickly", "002 during Entropy")),
    Situation("ent_high", lambda: but(language({"accuracy": share(0.05, sd=0.006)}, reward__mean=share(0.05, sd=0.008), entropy__mean=way(6.5, sd=0.05), kl__ref=way(0.001, 0.002, sd=0.0003, low=0.0)), plan=1.5), Expected(verdict=("not_learning", "plateaued"), link=("exploration", "reward_signal", "policy_update"), names=(r"entropy",), call=("stop",)), ("002 explore Entropy stays", "002 policy 3 Entropy")),
    Situation("len_short", lambda: language(reward__mean=share(0.3, 0.5, 0.65, sd=0.02), response__length=way(200, 60, 25, sd=4, low=1.0)), Expected(present=("length_collapse",), names=(r"read|samples|shortest",), never=(r"nothing is known to be broken",), confidence=("low", "medium")), ("004 gen Length suddenly shorter",)),
    Situation("len_long", lambda: language(reward__mean=share(0.3, 0.5, 0.65, sd=0.02), response__length=way(200, 420, 800, sd=14)), Expected(present=("longer_unscored", "length_inflation"), names=(r"length|longer",), never=(r"nothing is known to be broken",), confidence=("low", "medium"), do=r"read|length|held-out|score"), ("004 gen Length suddenly longer", "002 during Length")),
    Situation("trunc", lambda: language({"accuracy": share(0.4, 0.44, 0.3, sd=0.01)}, reward__mean=share(0.4, 0.45, 0.3, sd=0.02), response__length=way(400, 800, 1000, sd=10, high=1024), response__truncated=share(0.02, 0.4, 0.8, sd=0.02)), Expected(present=("truncation",), do=r"twice|longer|length|cut|max"), ("000 length Then raise", "000 length Growing")),
    Situation("pg_negative", lambda: but(language({"accuracy": share(0.3, 0.5, 0.6, sd=0.01)}, reward__mean=LEARNS, policy__loss=way(0.04, 0.0, -0.05, sd=0.01)), plan=1.5), Expected(verdict=("improving",), call=("continue",)), ("004 pg Negative",)),
    Situation("pg_oscillate", lambda: but(language({"accuracy": share(0.3, 0.5, 0.6, sd=0.01)}, reward__mean=LEARNS, policy__loss=way(0.0, sd=0.05, phi=0.0)), plan=1.5), Expected(verdict=("improving",), call=("continue",)), ("004 pg Oscillates",)),
    Situation("pg_double", lambda: but(language({"accuracy": share(0.3, 0.5, 0.6, sd=0.01)}, reward__mean=LEARNS, policy__grad_norm=jump((0.3, 0.3), (0.85, 0.85), 0.6, sd=0.03)), plan=1.5), Expected(verdict=("improving", "plateaued"), present=("loss_discontinuity",), names=(r"grad_norm|gradient",)), ("004 pg Doubled",)),
    Situation("peak_decline", lambda: but(language({"accuracy": share(0.35, 0.6, 0.66, 0.56, 0.47, sd=0.01)}, reward__mean=share(0.3, 0.6, 0.67, 0.58, 0.49, sd=0.02)), plan=1.5), Expected(verdict=("degrading", "collapsed"), call=("stop",), keeps=(0.3, 0.7)), ("004 traj Peak",)),
    Situation("rate_accel", lambda: but(language({"accuracy": share(0.3, 0.32, 0.36, 0.5, 0.68, sd=0.01)}, reward__mean=share(0.3, 0.32, 0.36, 0.5, 0.7, sd=0.02)), plan=1.5), Expected(verdict=("improving",), call=("continue",), why=r"faster than before"), ("004 traj Rate",)),
    Situation("rate_slow", lambda: but(language({"accuracy": share(0.3, 0.5, 0.58, 0.62, 0.64, sd=0.008)}, reward__mean=share(0.3, 0.52, 0.6, 0.64, 0.66, sd=0.015)), plan=1.5), Expected(verdict=("improving", "plateaued"), why=r"more slowly than before|has stayed"), ("004 traj Rate",)),
)  # fmt: skip

OVERFLOW = "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {}, reducing to {}"
NUMBERS = (
    Situation("fp16", lambda: but(language({"accuracy": share(0.3, 0.5, 0.6, sd=0.01)}, reward__mean=LEARNS), plan=1.5, log=tuple((0.4 + 0.04 * k, OVERFLOW.format(2 ** (16 - k), 2 ** (15 - k))) for k in range(12))), Expected(present=("loss_scale_overflow",), link=("numerics",), names=(r"overflow|loss scale",), never=(r"nothing is known to be broken",)), ("002 nan tab fp16",)),
    Situation("nan", lambda: language(reward__mean=share(0.3, 0.5, 0.6, sd=0.02), policy__grad_norm=jump((0.2, 0.25), (2.0, 9.0), 0.8, sd=0.1), policy__loss=way(0.01, sd=0.004, nan_from=0.9)), Expected(present=("non_finite",), call=("stop",), link=("numerics",)), ("002 nan",)),
    Situation("oom", lambda: but(language({"accuracy": share(0.3, 0.5, 0.6, sd=0.01)}, reward__mean=LEARNS), plan=1.5, log=((0.99, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.25 GiB"),)), Expected(present=("out_of_memory",), link=("systems",), do=r"micro.?batch|per_device|length|memory", never=(r"nothing is known to be broken",)), ("002 during OOM",)),
    Situation("valexp", lambda: control(reward__mean=way(20, 160, 80, 40, sd=8), value__loss=way(6, 8, 900, 9000, sd=2, low=0.1), value__explained_variance=way(0.6, 0.7, -0.5, -0.9, sd=0.05)), Expected(present=("value_divergence", "critic_failure"), link=("training_signal",), call=("stop",)), ("002 nan tab value",), ("sb3",)),
    Situation("value_small", lambda: language(reward__mean=share(0.3, sd=0.02), value__mean=way(0.002, sd=0.0004), value__return_mean=way(0.3, sd=0.02), value__explained_variance=way(-0.2, -0.3, sd=0.05), value__loss=way(0.09, sd=0.004)), Expected(names=(r"value|critic",), link=("training_signal",), do=r"critic"), ("002 critic sig value scale", "002 critic sig value loss"), ("verl",)),
    Situation("slow", lambda: but(language({"accuracy": share(0.3, 0.5, 0.6, sd=0.01)}, reward__mean=LEARNS, time__step=way(73, 75, 110, 114, sd=2)), plan=1.5), Expected(present=("throughput_drop",), verdict=("improving",)), ("002 system Throughput",)),
)  # fmt: skip


SITUATIONS = (*WALKS, *REGIMES, *GROUND, *EVALUATION, *UPDATES, *NUMBERS)
