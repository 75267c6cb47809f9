"""Patterns that the seed documents ask for: each shown a run that has it, near-misses, and one that cannot tell."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from evals.drawn import falling, flat, make_run, noise, rising, saturating
from rl_advisor.detectors import patterns
from rl_advisor.finding import Outcome
from rl_advisor.judgement.diagnosis import run_detector
from rl_advisor.run import Event, Run

from rollout_runs import made, sentence

MODULES = patterns()
P, A, U, N = Outcome.PRESENT, Outcome.ABSENT, Outcome.UNCLEAR, Outcome.NOT_LOGGED
RNG = np.random.Generator


def run(settings: dict | None = None, **curves: np.ndarray) -> Run:
    """A synthetic run; ``__`` in a keyword stands for the slash of a metric's name."""
    return replace(make_run({name.replace("__", "/"): value for name, value in curves.items()}), planned_steps=200, settings=settings or {})


def score(*levels: float, n: int = 20, at: float | None = None) -> np.ndarray:
    """Held-out scores through these levels, or from the first to the last at one evaluation."""
    if at is not None:
        return np.where(np.arange(n) < at * n, levels[0], levels[-1]) + noise(n, 0.01, seed=3)
    return np.interp(np.linspace(0, 1, n), np.linspace(0, 1, len(levels)), levels) + noise(n, 0.01, seed=3)


def skipping(steps: list[float]) -> Run:
    """A run whose log tells of steps skipped for overflow."""
    events = tuple(Event("overflow", f"OVERFLOW! skipping step, loss scale {2**k}", "train.log", s) for k, s in enumerate(steps))
    return replace(run(reward__mean=rising()), events=events or (Event("warning", "slow", "train.log", 3.0),))


def answers(p: int, same: float, rng: RNG) -> str:
    return "the river follows the garden ." if rng.random() < same else f"{sentence(p, rng)} {sentence(p, rng)}"


def alike(p: int, done: float, rng: RNG) -> tuple[str, float]:
    return answers(p, 0.95 * done, rng), 0.3 + 0.4 * done


def different(p: int, done: float, rng: RNG) -> tuple[str, float]:
    return answers(p, 0.0, rng), 0.3 + 0.4 * done


def judged(follows: float) -> Run:
    """Samples whose human score follows the reward by so much."""
    base, rng = made(different), np.random.default_rng(1)
    reward = base.rollouts["step"] / 100 + rng.uniform(size=len(base.rollouts))
    human = follows * (reward - base.rollouts["step"] / 100) + (1 - follows) * rng.uniform(size=len(base.rollouts))
    return replace(base, rollouts=base.rollouts.assign(reward=reward, human_score=human))


def calling(costs: float):
    """Ever more answers whose only call failed, which are paid that much less than the others."""

    def answer(p: int, done: float, rng: RNG) -> tuple[str, float]:
        failed = rng.random() < 0.1 + 0.4 * done
        shown = "Error: timed out" if failed else f"{rng.integers(9)} rows"
        called = f'<tool_call>{{"name": "find", "arguments": {{"q": "{p}"}}}}</tool_call><tool_response>{shown}</tool_response>'
        return f"{called} {sentence(p, rng)}", 0.4 + 0.4 * done - costs * failed + 0.05 * rng.normal()

    return answer


STEPPED = {"reward__mean": rising(0.3, 0.7), "kl__ref": rising(0, 0.05, sd=0.002), "response__length": flat(200, 5)}
PART = "reward__component__"
CASES = [
    ("loss_scale_overflow", skipping([100.0, 120.0, 140.0, 160.0]), P),
    ("loss_scale_overflow", skipping([1.0, 2.0, 3.0, 4.0]), A),
    ("loss_scale_overflow", skipping([]), A),
    ("loss_scale_overflow", run(reward__mean=rising()), N),
    ("entropy_stays_high", run(entropy__mean=flat(6.5, 0.05), reward__mean=flat(0.05, 0.01), kl__ref=flat(0.001, 1e-4)), P),
    ("entropy_stays_high", run(entropy__mean=flat(6.5, 0.05), reward__mean=rising(0.05, 0.5), kl__ref=flat(0.001, 1e-4)), A),
    ("entropy_stays_high", run(entropy__mean=falling(6.5, 2.0), reward__mean=flat(0.05, 0.01), kl__ref=flat(0.001, 1e-4)), A),
    ("entropy_stays_high", run(entropy__mean=flat(0.6, 0.02), reward__mean=flat(0.05, 0.01), kl__ref=flat(0.001, 1e-4)), A),
    ("entropy_stays_high", run(entropy__mean=flat(6.5, 0.05)), N),
    ("entropy_stays_high", run(entropy__mean=flat(np.log(4), 1e-4), reward__mean=flat(-200, 1), episode__length=flat(200, 1)), P),
    ("entropy_stays_high", run(entropy__mean=flat(1.4189, 1e-4), reward__mean=flat(-200, 1), episode__length=flat(200, 1)), A),
    ("entropy_stays_high", run(entropy__mean=falling(np.log(4), 1.2), reward__mean=flat(-200, 1), episode__length=flat(200, 1)), A),
    ("kl_above_target", run(reward__mean=rising(), kl__ref=rising(0.05, 0.4, sd=0.01)), N),
    ("answers_alike", made(alike), P),
    ("answers_alike", made(alike, held_out=[0.3, 0.4, 0.5, 0.6, 0.7, 0.8]), U),
    ("answers_alike", made(different), A),
    ("answers_alike", run(reward__mean=rising()), N),
    ("reward_shortcut", made(alike), P),
    ("reward_shortcut", made(alike, held_out=[0.3, 0.4, 0.5, 0.6, 0.7, 0.8]), U),
    ("reward_shortcut", made(different), A),
    ("sooner_is_paid", run(reward__mean=-rising(22, 9), episode__length=rising(22, 9)), P),
    (
        "sooner_is_paid",
        run(reward__mean=-rising(22, 9), episode__length=rising(22, 9), reward__success=rising(0.1, 0.9), value__loss=flat(9, 1)),
        A,
    ),
    ("sooner_is_paid", run(reward__mean=-rising(44, 9), episode__length=rising(22, 9)), A),
    ("sooner_is_paid", run(reward__mean=-rising(44, 20), episode__length=np.minimum(rising(60, 20), 44)), A),
    ("failed_calls_paid", made(calling(0.0)), P),
    ("failed_calls_paid", made(calling(0.0), held_out=[0.3, 0.4, 0.5, 0.6, 0.7, 0.8]), U),
    ("failed_calls_paid", made(calling(0.4)), A),
    ("failed_calls_paid", made(different), N),
    ("unreliable_proxy", judged(0.0), P),
    ("unreliable_proxy", judged(0.9), A),
    ("unreliable_proxy", made(different), N),
    ("saturated_test", run(eval__score__acc=np.clip(score(0.6, 0.97, 0.98, 0.98), 0, 1)), P),
    ("saturated_test", run(eval__score__acc=score(0.6, 0.8)), A),
    ("saturated_test", run(eval__score__return=100 * score(0.6, 5.0)), A),
    ("saturated_test", run(reward__mean=rising()), N),
    ("filtered_reward", run(reward__mean=rising(0.3, 0.6), reward__used=flat(0.5)), P),
    ("filtered_reward", run(reward__mean=rising(0.3, 0.6), reward__used=rising(0.28, 0.57)), A),
    ("filtered_reward", run(reward__mean=rising(0.3, 0.6)), N),
    (
        "task_part_given_up",
        run(reward__mean=rising(0.3, 0.5), **{PART + "accuracy": falling(0.4, 0.15), PART + "polite": rising(0.1, 0.9)}),
        P,
    ),
    (
        "task_part_given_up",
        run(reward__mean=rising(0.3, 0.5), **{PART + "accuracy": rising(0.2, 0.3), PART + "polite": rising(0.1, 0.9)}),
        A,
    ),
    (
        "task_part_given_up",
        run(reward__mean=falling(0.5, 0.2), **{PART + "accuracy": falling(0.4, 0.15), PART + "polite": falling(0.9, 0.3)}),
        A,
    ),
    ("task_part_given_up", run(reward__mean=rising(0.5, 1.3), **{PART + "accuracy": flat(0.42), PART + "polite": rising(0.1, 0.9)}), P),
    ("task_part_given_up", run(reward__mean=rising(0.5, 1.3), **{PART + "accuracy": flat(0.42), PART + "format": rising(0.1, 0.9)}), A),
    ("task_part_given_up", run(reward__mean=rising(0.5, 1.5), **{PART + "accuracy": rising(), PART + "polite": rising(0.1, 0.9)}), A),
    ("task_part_given_up", run(reward__mean=rising(0.3, 0.5), **{PART + "length": rising(0.1, 0.4), PART + "polite": rising(0.1, 0.9)}), N),
    ("eval_protocol_change", run(**STEPPED, eval__score__acc=score(0.6, 0.3, at=0.5)), P),
    ("eval_protocol_change", run(**STEPPED, eval__score__acc=score(0.3, 0.6, at=0.5)), P),
    ("eval_protocol_change", run(**STEPPED, eval__score__acc=score(0.3, 0.6)), A),
    ("eval_protocol_change", run(**(STEPPED | {"reward__mean": falling(0.7, 0.1)}), eval__score__acc=score(0.6, 0.6)), A),
    ("eval_protocol_change", run(**STEPPED, eval__score__acc=score(0.6, 0.3, at=0.5, n=6)), U),
    ("reward_always_paid", run(reward__mean=flat(0.994, 0.002)), P),
    ("reward_always_paid", run(reward__mean=rising(0.9, 0.994, sd=0.002)), A),
    ("reward_always_paid", run(reward__mean=flat(0.994, 0.002), eval__score__acc=flat(0.98, 0.01)), A),
    ("drift_without_gain", run({"kl_coef": 0.04}, kl__ref=rising(0, 0.5), reward__mean=flat(0.5)), P),
    ("drift_without_gain", run({"kl_coef": 0.04}, kl__ref=rising(0.002, 0.03, sd=0.001), reward__mean=flat(0.5)), P),
    ("drift_without_gain", run({"kl_coef": 0.04}, kl__ref=flat(0.02, 0.001), reward__mean=flat(0.5)), A),
    ("drift_without_gain", run({"kl_coef": 0.04}, kl__ref=rising(0, 0.5), reward__mean=flat(7.0, 0.3)), P),
    ("drift_without_gain", run({"kl_coef": 0.0}, kl__ref=rising(0, 0.5), reward__mean=flat(0.5)), U),
    (
        "drift_without_gain",
        run({"kl_coef": 0.0}, kl__ref=rising(0, 0.5), reward__mean=flat(0.5), response__length=rising(100, 400, sd=4)),
        P,
    ),
    ("value_scale", run(value__mean=flat(0.002, 0.0004), value__return_mean=flat(0.3, 0.02)), P),
    ("value_scale", run(value__mean=flat(0.28, 0.02), value__return_mean=flat(0.3, 0.02)), A),
    ("value_scale", run(value__mean=flat(0.002, 0.0004), value__return_mean=flat(0.0, 0.3)), A),
    ("value_scale", run(value__mean=flat(0.002, 0.0004)), N),
    ("noise_dominated", run(reward__mean=np.clip(0.42 + noise(200, 0.25, seed=2), 0, 1)), P),
    ("length_collapse", run(response__length=falling(200, 80, sd=4)), U),
    ("importance_weight", run({"minibatches": 1}, ratio__mean=flat(1.03, 0.004)), P),
    ("importance_weight", run({"minibatches": 4}, ratio__mean=flat(1.03, 0.004)), A),
    ("importance_weight", run({"minibatches": 1}, ratio__mean=flat(1.0, 0.004)), A),
    ("still_improving", run(reward__mean=rising(0.2, 0.8), eval__score__acc=score(0.4, 0.4)), U),
    ("still_improving", run(reward__mean=rising(0.2, 0.8), eval__score__acc=score(0.4, 0.7)), P),
    ("critic_failure", run(value__explained_variance=flat(-0.4, 0.1), reward__mean=flat(-202, 4)), P),
    ("critic_failure", run(value__explained_variance=flat(-0.4, 0.1), reward__mean=saturating(-202, -20, sd=4)), U),
]


@pytest.mark.parametrize(("pattern", "shown", "expected"), CASES, ids=[f"{p}-{i}-{o.value}" for i, (p, _, o) in enumerate(CASES)])
def test_outcome(pattern: str, shown: Run, expected: Outcome) -> None:
    """The detector gives the outcome that a practitioner would."""
    found = run_detector(MODULES[pattern], shown)
    assert expected == found.outcome, found.statement


@pytest.mark.parametrize(("told", "said"), [({"num_generations": 1}, "each group holds 1 answer"), ({}, "")])
def test_how_many_answers_a_group_holds_is_said_where_it_is_known(told: dict, said: str) -> None:
    """The number that is set, not the name of the setting."""
    mean = rising(0.2, 0.6)
    alike = replace(
        run(reward__mean=mean, advantage__mean=mean, response__length=flat(200, 5)), config=told, settings={"algorithm": "grpo"}
    )
    found = run_detector(MODULES["one_answer_a_prompt"], alike)
    assert found.outcome is P
    assert "group_size" not in found.statement
    assert said in found.statement


@pytest.mark.parametrize(("target", "outcome"), [({"kl_target": 0.05}, P), ({"kl_target": 0.2}, A), ({"target_kl": 0.05}, A)])
def test_the_target_of_an_adaptive_penalty_is_one_of_the_distance(target: dict, outcome: Outcome) -> None:
    """A framework that stops updates by ``target_kl`` means the size of one, and logs another KL beside."""
    drifts = replace(run(reward__mean=rising(), kl__ref=rising(0.05, 0.4, sd=0.005)), config=target)
    assert run_detector(MODULES["kl_above_target"], drifts).outcome is outcome


@pytest.mark.parametrize(
    ("rate", "told"),
    [(np.repeat([1e-6, 1e-5], 100), "policy/learning_rate"), (np.full(200, 1e-6), "nothing else that is logged")],
    ids=["a schedule", "nothing"],
)
def test_what_steps_with_a_gradient_is_named(rate: np.ndarray, told: str) -> None:
    stepped = np.repeat([0.3, 3.0], 100) * np.exp(noise(200, 0.05, seed=2))
    told_once = {"eval__score__acc": np.array([0.3])}
    shown = run(reward__mean=rising(n=200), policy__grad_norm=stepped, policy__learning_rate=rate, **told_once)
    with warnings.catch_warnings(action="error"):
        found = run_detector(MODULES["loss_discontinuity"], shown)
    assert found.outcome is P
    assert f"what steps with it: {told}" in found.statement
