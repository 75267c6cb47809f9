"""The next experiment: the framework's own switches, how long, and what each of two explanations predicts."""

import numpy as np
import pytest
from evals.drawn import make_run, rising
from rl_advisor.curves.outcomes import course_of
from rl_advisor.curves.performance import Performance
from rl_advisor.detectors import patterns
from rl_advisor.finding import Evidence, Finding, Onset, Outcome
from rl_advisor.judgement.case import Case, open_case
from rl_advisor.judgement.experiment import next_experiment
from rl_advisor.judgement.settings_to_change import concrete, lasting, turns
from rl_advisor.judgement.usual_steps import usual_step
from rl_advisor.judgement.verdict import Judged
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import Link
from rl_advisor.vocabulary.dialects import dialects


def found(pattern: str, step: float) -> Finding:
    """A present cause that began at a step."""
    link = patterns()[pattern].link
    return Finding(pattern, link, Outcome.PRESENT, "seen", Onset(step, step, step), {}, (Evidence("reward/mean", 0.0, 1.0),))


def curve(noise: float) -> Curve:
    """A reward that rises from 0.2 to 0.8 within noise."""
    step = np.arange(1.0, 101.0)
    value = 0.2 + 0.6 * step / 100 + noise * np.random.default_rng(0).standard_normal(100)
    return Curve("reward/mean", "reward", "metrics.jsonl", step, value)


@pytest.mark.parametrize(
    ("framework", "pattern", "said"),
    [
        ("areal", "stale_data", ("`rollout.max_head_offpolicyness` = 0", "`actor.use_decoupled_loss` = false", "recompute_logprob")),
        ("areal", "importance_weight", ("`actor.ppo_n_minibatches` = 1", "rejection_sampling.upper", "deterministic")),
        ("areal", "zero_variance_groups", ("should_accept_fn",)),
        ("areal", "truncation", ("`gconfig.max_new_tokens` at twice its value",)),
        ("trl", "update_too_large", ("`learning_rate` at a third", "`num_iterations` = 1", "gradient_accumulation_steps")),
        ("verl", "zero_variance_groups", ("`algorithm.filter_groups.enable` = True",)),
        ("sb3", "no_exploration", ("exploration_fraction",)),
    ],
)
def test_switches_are_those_of_the_framework(framework: str, pattern: str, said: tuple[str, ...]) -> None:
    """Each framework's own names stand in the experiment."""
    told = "; ".join(turns(Run(frameworks=(framework,)), pattern))
    assert all(part in told for part in said), told


def test_nothing_is_named_that_is_already_so_or_unknown() -> None:
    """The present value is told; a switch that stands where it should is left out; a framework without a dialect has none."""
    run = Run(
        frameworks=("verl",),
        config={"actor_rollout_ref.actor.optim.lr": 3e-6, "actor_rollout_ref.actor.ppo_epochs": 1},
        settings={"learning_rate": 3e-6, "updates_per_batch": 1},
    )
    told = "; ".join(turns(run, "update_too_large"))
    assert "now 3e-6" in told.replace("0.000003", "3e-6") and "ppo_epochs" not in told
    assert turns(Run(frameworks=("nobody",)), "update_too_large") == [] == turns(Run(), "update_too_large")


@pytest.mark.parametrize(
    ("ours", "now", "times", "low", "high"),
    [
        ("learning_rate", 0.1, 0.1, 1e-5, 3e-3),
        ("learning_rate", 3e-4, 1 / 3, 1e-4, 1e-4),
        ("learning_rate", 1e-6, 30, 3e-5, 3e-5),
        ("entropy_coef", 0.0, 3, 1e-3, 0.05),
        ("entropy_coef", None, 3, 1e-3, 0.05),
        ("group_size", 8, 2, 16, 16),
        ("max_response_length", 1024, 2, 2048, 2048),
    ],
)
def test_the_value_to_set_is_concrete_and_within_what_is_usual(ours: str, now: object, times: float, low: float, high: float) -> None:
    value = concrete(Run(settings={"algorithm": "ppo"}, frameworks=("sb3",)), ours, now, times)
    assert value is not None and low * 0.99 <= value <= high * 1.01
    assert concrete(Run(), "max_response_length", None, times) is None


def test_a_limit_that_cuts_nothing_is_not_halved() -> None:
    """Gradients that never come near the limit are not helped by half of it; those that do are."""
    asked = {"frameworks": ("trl",), "config": {"max_grad_norm": 1.0}, "settings": {"max_grad_norm": 1.0}}
    for level, told in ((0.1, False), (4.0, True)):
        run = Run(curves=make_run({"policy/grad_norm": np.full(50, level)}).curves, **asked)
        assert ("max_grad_norm" in str(turns(run, "gradient_spikes"))) is told


def test_every_switch_is_turned_by_a_pattern() -> None:
    """No dialect spells a switch that no detector suggests to turn."""
    turned = {ours for pattern in patterns().values() for ours, _ in pattern.change}
    assert {name for d in dialects().values() for name in d.switches} <= turned


def test_a_noisier_curve_needs_a_longer_experiment() -> None:
    """The length follows from noise and from the change that is to be seen; what noise would hide is said to be hidden."""
    calm, wild = lasting(course_of(curve(0.02))), lasting(course_of(curve(0.3)))
    assert "5 points" in calm
    assert int(wild.split("(")[1].split(" points")[0]) > 5
    assert lasting(None) == ""


def test_the_second_explanation_is_the_next_root() -> None:
    """What the other present root predicts stands against the first; alone, the manual page's near-misses do."""
    first, second = found("stale_data", 20.0), found("entropy_collapse", 40.0)
    run = Run(frameworks=("areal",))
    judged = Judged("degrading", "it fell", "high", first)
    case = Case(run, {f.pattern: f for f in (first, second)}, Performance(None, course_of(curve(0.02))))
    both = next_experiment(case, judged, "stop")
    assert "max_head_offpolicyness" in both.do and "in reward/mean" in both.do
    assert patterns()["entropy_collapse"].page["Means"] in both.expect_if_wrong
    alone = next_experiment(Case(run, {"stale_data": first}, Performance(None, None)), judged, "stop")
    assert patterns()["stale_data"].page["Not to be confused with"] in alone.expect_if_wrong
    assert first.link is Link.DATA_FRESHNESS


@pytest.mark.parametrize(
    ("verdict", "call", "start"),
    [
        ("plateaued", "continue", "Go on"),
        ("plateaued", "stop", "Stop here"),
        ("improving", "continue", "Go on"),
        ("improving", "undecided", "Go on"),
        ("improving", "stop", "Stop here"),
    ],
)
def test_what_to_do_never_says_the_opposite_of_the_call(verdict, call, start):
    """Whatever a run is called, nobody is told to continue and to stop in one answer."""
    run = make_run({"reward/mean": rising(n=60)}, planned=100, save_every=1000)
    assert usual_step(open_case(run), verdict, call).do.startswith(start)
