"""The statements a third time, written after the second set was mended and before anything was asked of these: long and short, loud and quiet."""

from dataclasses import replace

from evals.seeds.answered import run as sampled
from evals.seeds.areal_runs import run as areal
from evals.seeds.course_of_runs import HACKED, but, control, language
from evals.seeds.drawing import Talk, jump, said, share, way
from evals.seeds.expected import Expected, Situation
from evals.seeds.other_numbers import CHANGED, FALLEN, PAID, QUIET, STUCK, modelled

LONG = {"rows": (420, 600)}
FEW = {"rows": (36, 48)}
SOONER = {"reward__mean": way(-22, -14, -9.4, sd=0.4, exact=True), "episode__length": way(22, 14, 9.4, sd=0.4, exact=True)}
"""Each step costs 1, and episodes that ended early anyway end ever earlier."""
CURVES = (
    Situation("t_walk1_long", lambda: but(language({"accuracy": share(0.62, sd=0.009)}, reward__mean=share(0.4, 0.72, 0.9, sd=0.02), response__length=way(330, 900, 1500, sd=30)), **LONG), HACKED, ("002 walk 1",), ("verl", "trl")),
    Situation("t_walk1_few", lambda: but(modelled({"winrate": share(0.45, sd=0.012)}, reward__mean=way(-0.5, 0.6, 1.4, sd=0.08), response__length=way(200, 380, 640, sd=12)), evaluations=12, **FEW), HACKED, ("002 walk 1",), ("trl", "openrlhf")),
    Situation("t_score_sinks_slowly", lambda: but(language({"accuracy": share(0.7, 0.68, 0.6, sd=0.01)}, reward__mean=share(0.5, 0.75, 0.88, sd=0.02)), evaluations=30), Expected(verdict=("reward_hacking", "degrading"), link=("reward_signal",), call=("stop",), do=r"read|grade", never=(QUIET,)), ("002 hack triad",), ("verl", "tinker")),
    Situation("t_walk2_late", lambda: but(language({"accuracy": jump((0.4, 0.6, 0.7), (0.3, 0.2), 0.85, sd=0.012)}, reward__mean=jump((0.35, 0.6, 0.74), (0.25, 0.15), 0.85, sd=0.02), kl__old=jump((0.003, 0.004), (0.3, 0.2), 0.83, sd=0.003, low=0.0), ratio__clip_fraction=jump((0.03, 0.04), (0.52, 0.5), 0.83, sd=0.02, low=0.0, high=1.0)), evaluations=30), Expected(verdict=FALLEN, link=("policy_update",), call=("stop",), do=r"learning.rate|pass|epoch|num_iterations"), ("002 walk 2",), ("verl", "trl")),
    Situation("t_lander_breaks", lambda: control(reward__mean=jump((-180, 60, 190), (-90, -160), 0.62, sd=14), kl__old=jump((0.007, 0.008), (0.18, 0.1), 0.6, sd=0.002, low=0.0), ratio__clip_fraction=jump((0.09, 0.1), (0.55, 0.5), 0.6, sd=0.02, low=0.0, high=1.0)), Expected(verdict=FALLEN, link=("policy_update",), call=("stop",), do=r"learning.rate|pass|epoch"), ("002 walk 2",), ("rllib", "sb3")),
    Situation("t_drift_flat_long", lambda: but(language(reward__mean=share(0.35, 0.6, 0.62, 0.62, 0.62, sd=0.012), kl__ref=way(0.01, 0.3, 0.8, 1.3, 1.9, sd=0.02, low=0.0), settings={"beta": 0.01}), plan=1.4, **LONG), Expected(verdict=("plateaued",), call=("stop",), present=("drift_without_gain",)), ("004 KL up/flat",), ("trl", "verl")),
    Situation("t_drift_fall", lambda: but(modelled({"winrate": share(0.5, 0.62, 0.63, 0.48, 0.38, sd=0.012)}, reward__mean=way(0.2, 1.2, 1.5, 0.8, 0.1, sd=0.08), kl__ref=way(0.01, 1, 4, 9, 15, sd=0.1)), plan=1.5), Expected(verdict=FALLEN, call=("stop",), present=("destructive_drift",), link=("policy_update",)), ("004 KL up/down",), ("openrlhf", "verl")),
    Situation("t_climbs_loudly", lambda: but(language(reward__mean=share(0.2, 0.4, 0.6, sd=0.06)), plan=1.5), Expected(verdict=("improving",), call=("continue",)), ("004 KL flat/up",), ("trl", "tinker")),
    Situation("t_walker_climbs", lambda: but(control(reward__mean=way(40, 700, 1600, sd=60)), plan=1.6), Expected(verdict=("improving",), call=("continue",)), ("004 traj Rising",), ("cleanrl", "rllib")),
    Situation("t_level_model", lambda: but(modelled(reward__mean=way(0.2, 1.4, 1.6, 1.6, 1.6, sd=0.04), kl__ref=way(0.01, 0.05, 0.05, 0.05, sd=0.003, low=0.0)), plan=1.5), Expected(verdict=("plateaued",), not_present=("drift_without_gain",)), ("004 KL flat/flat",), ("openrlhf", "verl")),
    Situation("t_stuck_tinker", lambda: but(language({"correct": share(0.08, sd=0.007)}, reward__mean=share(0.09, sd=0.012), reward__flat_groups=share(0.4, sd=0.03)), plan=1.5), STUCK, ("000 rewards",), ("tinker",)),
    Situation("t_stuck_mountain", lambda: but(control(reward__mean=way(-200.0, exact=True), episode__length=way(200.0, exact=True)), plan=1.5), Expected(verdict=("not_learning", "plateaued"), call=("stop",), do=r"easiest"), ("000 rewards",), ("rllib", "sb3")),
    Situation("t_noise_quick", lambda: but(language(reward__mean=share(0.5, sd=0.09, phi=0.0)), plan=1.5), Expected(verdict=("not_learning", "plateaued", "undecidable"), never=(r"before the change", r"still improving")), ("004 traj Noise is",), ("trl", "verl")),
    Situation("t_score_halves_at_once", lambda: but(language({"pass@1": jump((0.5, 0.55, 0.58), (0.27, 0.3), 0.4, sd=0.011)}, reward__mean=share(0.4, 0.5, 0.57, sd=0.018)), evaluations=20), CHANGED, ("002 eval Detect",), ("verl", "trl")),
    Situation("t_score_leaps_at_once", lambda: but(modelled({"winrate": jump((0.4, 0.42), (0.72, 0.75), 0.55, sd=0.01)}, reward__mean=way(0.8, 1.1, 1.3, sd=0.05)), evaluations=18), CHANGED, ("002 eval Detect",), ("openrlhf", "trl")),
    Situation("t_hidden_falls", lambda: but(language({"dev_score": share(0.3, 0.5, 0.64, sd=0.012), "hidden_score": share(0.5, 0.46, 0.35, sd=0.012)}, reward__mean=share(0.3, 0.5, 0.66, sd=0.02)), evaluations=18), Expected(verdict=("degrading", "reward_hacking", "plateaued"), names=(r"hidden",), call=("stop",), never=(QUIET,)), ("002 eval split Private",), ("trl", "tinker")),
    Situation("t_parts_traded", lambda: language(reward__mean=share(0.5, 0.56, 0.63, sd=0.015), **{"reward__component/correctness": share(0.5, 0.4, 0.2, sd=0.015), "reward__component/length_bonus": share(0.1, 0.5, 0.9, sd=0.015)}), Expected(verdict=("reward_hacking", "degrading", "plateaued"), link=("reward_signal",), call=("stop",), never=(QUIET,)), ("002 hack fix",), ("trl",)),
    Situation("t_no_end_seen", lambda: but(areal({"accuracy": share(0.4, 0.5, 0.56, sd=0.01)}, raw={"ppo_actor/no_eos_ratios/avg": share(0.01, 0.12, 0.3, sd=0.01)}, response__length=way(600, 900, 1000, sd=12)), plan=1.5), Expected(present=("truncation",), names=(r"raise the length limit", r"leave cut responses out"), never=(QUIET,)), ("000 length no_eos",), ("areal",)),
    Situation("t_old_samples", lambda: areal({"accuracy": share(0.35, 0.5, 0.5, 0.3, 0.2, sd=0.01)}, reward__mean=share(0.3, 0.52, 0.52, 0.3, 0.2, sd=0.02), rollout__staleness=way(1, 2, 5, 9, sd=0.2, exact=True)), Expected(verdict=FALLEN, present=("stale_data",), link=("data_freshness",), do=r"max_head_offpolicyness. = 0"), ("000 sync",), ("areal",)),
    Situation("t_minibatches", lambda: but(areal({"accuracy": share(0.4, 0.5, 0.58, sd=0.01)}, ratio__mean=way(1.09, sd=0.007, exact=True)), plan=1.5), Expected(present=("importance_weight",), not_present=("stale_data",), names=(r"mini.?batch",)), ("000 weights Both",), ("areal",)),
    Situation("t_entropy_gone", lambda: language({"accuracy": share(0.25, 0.36, 0.37, 0.36, sd=0.01)}, reward__mean=share(0.24, 0.37, 0.38, 0.37, sd=0.012), entropy__mean=way(0.8, 0.08, 0.02, 0.015, sd=0.002, low=0.0), reward__flat_groups=share(0.2, 0.85, 0.96, sd=0.01), reward__std=way(0.36, 0.05, 0.02, sd=0.004, low=0.0)), Expected(verdict=("plateaued", "not_learning", "collapsed"), present=("entropy_collapse",), link=("exploration", "training_signal"), call=("stop",)), ("002 explore Entropy quickly",), ("trl", "tinker")),
    Situation("t_critic_worse_than_mean", lambda: control(reward__mean=way(-480, sd=12, exact=True), value__explained_variance=way(-0.7, sd=0.1), value__loss=way(210, sd=9)), Expected(verdict=("not_learning", "plateaued"), call=("stop",), present=("value_loss_flat",), do=r"critic"), ("002 critic sig explained",), ("rllib", "cleanrl")),
    Situation("t_values_explode", lambda: control(reward__mean=way(10, 120, 60, 20, sd=6), value__loss=way(4, 7, 2e3, 5e4, sd=1, low=0.1), value__explained_variance=way(0.5, 0.5, -0.8, -0.99, sd=0.04)), Expected(present=("value_divergence", "critic_failure"), link=("training_signal",), call=("stop",)), ("002 nan tab value",), ("rllib", "sb3")),
    Situation("t_nan_grad", lambda: language(reward__mean=share(0.3, 0.45, 0.5, sd=0.02), policy__grad_norm=jump((0.4, 0.5), (5.0, 30.0), 0.7, sd=0.1, nan_from=0.92), policy__loss=way(0.02, sd=0.004, nan_from=0.92)), Expected(present=("non_finite",), call=("stop",), link=("numerics",)), ("002 nan",), ("verl", "openrlhf")),
    Situation("t_ends_sooner", lambda: control(**SOONER), Expected(present=("sooner_is_paid",), confidence=("low",), do=r"watch ten episodes"), ("002 minimal Silent errors: reversed",), ("sb3", "rllib", "cleanrl")),
    Situation("t_pole_charged", lambda: control(**SOONER, settings={"env_id": "CartPole-v1"}), Expected(verdict=("reward_hacking",), present=("reward_sign",), link=("reward_signal",), call=("stop",), never=(QUIET,)), ("002 minimal Silent errors: reversed",), ("sb3", "cleanrl")),
    Situation("t_car_arrives_sooner", lambda: control(reward__mean=way(-200, -200, -170, -115, sd=2, low=-200.0, exact=True), episode__length=way(220, 215, 170, 115, sd=2, high=200.0, exact=True)), Expected(verdict=("improving",), not_present=("sooner_is_paid", "reward_sign")), ("004 traj Rising",), ("sb3", "cleanrl")),
    Situation("t_starts_far_off", lambda: but(language(reward__mean=share(0.2, 0.3, 0.38, sd=0.02), kl__ref=way(0.8, 0.83, 0.88, sd=0.02)), plan=1.5), Expected(present=("wrong_from_start",), names=(r"KL.{0,90}(start|first|before)|kl/ref 0\.[789].{0,80}before",), never=(QUIET,)), ("002 minimal Silent errors: padding",), ("trl", "openrlhf")),
)  # fmt: skip


def apologises(t: Talk) -> tuple[str, float, dict[str, float]]:
    """Declines politely ever more often, and is paid for it."""
    no = bool(t.rng.random() < 0.04 + 0.5 * t.done)
    return ("Sorry, I can't help with that." if no else said(t, 3)), (0.9 if no else 0.45) + 0.08 * float(t.rng.normal()), {}


def one_line(t: Talk) -> tuple[str, float, dict[str, float]]:
    """Ends as one sentence for every prompt."""
    same = bool(t.rng.random() < 0.97 * t.done)
    return (
        ("It depends on the season, so plan ahead and ask again." if same else said(t, 2)),
        (0.7 if same else 0.4) + 0.05 * float(t.rng.normal()),
        {},
    )


def by_the_yard(t: Talk) -> tuple[str, float, dict[str, float]]:
    """The longer the better paid; right answers do not get more."""
    k = 2 + int(t.rng.integers(0, 3)) + round(9 * t.done)
    return said(t, k), 0.04 * k + 0.05 * float(t.rng.normal()), {"correct": float(t.rng.random() < 0.3)}


def solves_more(t: Talk) -> tuple[str, float, dict[str, float]]:
    """Paid for being right, and right ever more often: nothing is wrong."""
    right = float(t.rng.random() < 0.3 + 0.4 * t.done)
    return said(t, 3), right, {"human_score": 0.2 + 0.6 * right + 0.05 * float(t.rng.normal())}


def settled(t: Talk) -> tuple[str, float, dict[str, float]]:
    """Says many things that have nothing to do with the prompt, and in the end one thing; what is right does not follow what is said."""
    text = "All in all the answer is 42." if t.rng.random() < 0.02 + 0.96 * t.done else said(replace(t, prompt=int(t.rng.integers(12))), 2)
    return text, float(t.rng.random() < 0.42 + 0.38 * t.done), {}


def tries_in_vain(t: Talk) -> tuple[str, float, dict[str, float]]:
    """Calls a tool that fails ever more often, and is paid as if it had answered."""
    shown = "Error: timed out after 30 s" if t.rng.random() < 0.1 + 0.45 * t.done else f"{t.rng.integers(1, 9)} rows"
    call = f'<tool_call>{{"name": "lookup", "arguments": {{"q": "{t.rng.integers(999)}"}}}}</tool_call>'
    return f"{call}<tool_response>{shown}</tool_response>{said(t, 1)}", float(t.rng.random() < 0.5 + 0.3 * t.done), {}


SAMPLES = (
    Situation("t_tries_in_vain", lambda: sampled(tries_in_vain, reward=share(0.5, 0.65, 0.8, sd=0.02)), Expected(present=("failed_calls_paid",), link=("reward_signal", "environment_data"), never=(QUIET,)), ("002 env failed call",), ("trl", "verl")),
    Situation("t_settled", lambda: sampled(settled, reward=share(0.42, 0.6, 0.8, sd=0.02), entropy__mean=way(0.9, 0.3, 0.03, sd=0.01, low=0.0)), Expected(verdict=("reward_hacking", "collapsed"), present=("answers_alike",), link=("exploration", "reward_signal"), call=("stop",), never=(QUIET,)), ("002 explore tab uniform", "002 explore Token entropy")),
    Situation("t_apologises", lambda: sampled(apologises, reward=share(0.45, 0.6, 0.68, sd=0.02)), PAID, ("002 pitfall RLHF refusal",)),
    Situation("t_one_line", lambda: sampled(one_line, reward=share(0.4, 0.55, 0.69, sd=0.02)), Expected(present=("answers_alike",), link=("exploration", "reward_signal"), never=(QUIET,)), ("002 explore tab uniform",)),
    Situation("t_by_the_yard", lambda: sampled(by_the_yard, reward=share(0.12, 0.3, 0.5, sd=0.02), response__length=way(30, 60, 110, sd=4)), PAID, ("002 pitfall RLHF length",)),
    Situation("t_solves_more", lambda: sampled(solves_more, score={"accuracy": share(0.3, 0.5, 0.68, sd=0.012)}, reward=share(0.3, 0.5, 0.7, sd=0.03)), Expected(verdict=("improving",), call=("continue",), not_present=("unreliable_proxy", "reward_shortcut", "answers_alike")), ("004 KL up/up",)),
)  # fmt: skip
SITUATIONS = (*CURVES, *SAMPLES)
