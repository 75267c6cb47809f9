"""Detectors that read curves: each shown a run that has its pattern, a near-miss, and one that cannot tell."""

import numpy as np
import pytest
from evals.drawn import falling, flat, make_run, noise, rising, saturating, stepping
from rl_advisor.detectors import patterns, rows
from rl_advisor.finding import Outcome
from rl_advisor.judgement.diagnosis import run_detector
from rl_advisor.run import Event, Run

MODULES = patterns()
EVALS = 21


def run(settings: dict | None = None, events: tuple[Event, ...] = (), **curves: np.ndarray) -> Run:
    """A synthetic run; ``__`` in a keyword stands for the slash of a metric's name."""
    made = make_run({name.replace("__", "/"): value for name, value in curves.items()})
    return Run(name=made.name, curves=made.curves, checkpoints=made.checkpoints, planned_steps=200, settings=settings or {}, events=events)


def score(*shape: float) -> np.ndarray:
    """Twenty-one held-out scores that pass through these levels at equal distances."""
    return np.clip(np.interp(np.linspace(0, 1, EVALS), np.linspace(0, 1, len(shape)), shape) + noise(EVALS, 0.01, seed=5), 0, 1)


def decaying(high: float, low: float) -> np.ndarray:
    """Exponential decay from one level to another, with a little noise."""
    return low + (high - low) * np.exp(-np.arange(200) / 25) + np.abs(noise(200, 0.01 * high, seed=3))


def with_nan(value: np.ndarray, first: int) -> np.ndarray:
    """The curve with NaN from one point to its end."""
    return np.where(np.arange(value.size) < first, value, np.nan)


def spiked(value: np.ndarray, at: range, size: float) -> np.ndarray:
    """The curve with single points raised."""
    out = value.copy()
    out[list(at)] = size
    return out


SINKS, RESUMED = np.r_[rising(0.2, 0.9, n=100), falling(0.9, 0.2, n=100)], (Event("resume", "steps go back", "log", 101.0),)
BROKEN_AT_HALF = score(0.6, 0.9, 0.9, 0.0, 0.0)
HEALTHY = {"reward__mean": saturating(), "eval__score__accuracy": score(0.2, 0.8, 0.9, 0.9)}
DYING = {"reward__mean": stepping(0.8, 0.02, sd=0.01), "eval__score__accuracy": score(0.8, 0.85, 0.85, 0.02, 0.02, 0.02)}

P, A, U, N = Outcome.PRESENT, Outcome.ABSENT, Outcome.UNCLEAR, Outcome.NOT_LOGGED
CASES = [
    ("collapse", run(reward__mean=stepping(0.8, 0.02)), P),
    ("collapse", run(reward__mean=stepping(0.8, 0.7)), A),
    ("collapse", run(reward__mean=saturating()), A),
    ("collapse", run(reward__mean=flat()[:3]), U),
    ("collapse", run(kl__ref=flat()), N),
    ("decline", run(reward__mean=np.concatenate([rising(0.2, 0.9, n=100), falling(0.9, 0.5, n=100)])), P),
    ("decline", run(reward__mean=rising()), A),
    ("decline", run(eval__score__accuracy=np.r_[score(0.3, 0.8, 0.8), 0.74]), U),
    ("no_gain", run(reward__mean=flat(0.3, 0.01)), P),
    ("no_gain", run(reward__mean=flat(0.995, 0.001)), A),
    # At the cap of an episode's length from the start; a level that is merely steady is none.
    ("no_gain", run(reward__mean=np.minimum(flat(540, 30), 500)), A),
    ("no_gain", run(reward__mean=np.round(flat(3, 0.4))), P),
    ("no_gain", run(reward__mean=rising()), A),
    ("plateau", run(reward__mean=saturating()), P),
    ("plateau", run(reward__mean=rising()), A),
    ("plateau", run(reward__mean=saturating(sd=0.3)), U),
    ("still_improving", run(reward__mean=rising()), P),
    ("still_improving", run(reward__mean=saturating()), A),
    ("instability", run(reward__mean=0.5 + 0.4 * np.sin(np.arange(200) / 10)), P),
    ("instability", run(reward__mean=saturating()), A),
    # Waves on the way up, as deep as a third of the gain, are no see-saw.
    ("instability", run(reward__mean=100 * (rising(0.1, 0.7, sd=0.02) + 0.13 * np.sin(np.arange(200) / 8))), A),
    ("train_eval_gap", run(reward__mean=rising(), eval__score__accuracy=score(0.6, 0.7, 0.1, 0.0)), P),
    ("train_eval_gap", run(reward__mean=rising(), eval__score__accuracy=score(0.1, 0.3, 0.5, 0.6)), A),
    ("train_eval_gap", run(**DYING), A),
    ("train_eval_gap", run(reward__mean=rising()), N),
    (
        "memorised_data",
        run(reward__mean=rising(), eval__score__accuracy=score(0.5, 0.4, 0.1, 0.1), progress__epoch=np.linspace(0, 20, 200)),
        P,
    ),
    (
        "memorised_data",
        run(reward__mean=rising(), eval__score__accuracy=score(0.5, 0.4, 0.1, 0.1), progress__epoch=np.linspace(0, 1, 200)),
        A,
    ),
    (
        "memorised_data",
        run(reward__mean=rising(), eval__score__accuracy=score(0.2, 0.5, 0.8, 0.9), progress__epoch=np.linspace(0, 20, 200)),
        A,
    ),
    ("reward_never_paid", run(reward__mean=np.zeros(200), reward__std=np.zeros(200)), P),
    ("reward_never_paid", run(reward__mean=np.ones(200)), A),
    ("reward_never_paid", run(reward__mean=flat(0.02, 0.01)), A),
    ("reward_always_paid", run(reward__mean=np.ones(200), reward__std=np.zeros(200)), P),
    ("reward_always_paid", run(reward__mean=saturating(0.3, 1.0, sd=0.0)), A),
    ("reward_always_paid", run(reward__mean=np.ones(3)), U),
    # A score that steps by itself was measured otherwise: it says nothing of the reward.
    ("reward_sign", run(reward__mean=saturating(-0.6, -0.01, sd=0.005), eval__score__accuracy=score(0.6, 0.02, 0.01, 0.0)), P),
    ("reward_sign", run(reward__mean=saturating(-0.6, -0.01, sd=0.005), eval__score__accuracy=score(0.1, 0.8, 0.9, 0.9)), A),
    (
        "reward_sign",
        run(reward__mean=20 * decaying(1, 0.4), kl__old=flat(0.005, 0.001), entropy__mean=rising(0.69, 0.2, sd=0.01)),
        P,
    ),
    ("reward_sign", run(reward__mean=rising(20, 200, sd=2), kl__old=flat(0.005, 0.001), entropy__mean=rising(0.69, 0.2, sd=0.01)), A),
    (
        "reward_outliers",
        run(
            reward__mean=flat(1.0, 0.2),
            reward__std=spiked(flat(2.0, 0.1), range(10, 200, 15), 40.0) * np.r_[np.full(40, 0.2), np.ones(160)],
        ),
        P,
    ),
    ("reward_outliers", run(reward__mean=flat(0.5, 0.03), reward__std=flat(0.5, 0.01)), A),
    ("reward_jump", run(reward__mean=stepping(0.9, 0.2), eval__score__accuracy=score(0.9, 0.9)), P),
    ("reward_jump", run(**DYING), A),
    ("reward_jump", run(reward__mean=stepping(0.9, 0.2)), N),
    ("prompt_shift", run(prompt__length=stepping(20, 60, sd=1)), P),
    ("prompt_shift", run(prompt__length=flat(40, 8)), A),
    ("prompt_shift", run(reward__mean=flat()), N),
    ("truncation", run(response__truncated=flat(0.95, 0.01)), P),
    ("truncation", run(response__truncated=np.clip(rising(0, 0.5), 0, 1)), P),
    ("truncation", run(response__truncated=np.clip(rising(0.375, 1.0, sd=0.05), 0, 1)), P),
    ("truncation", run(response__truncated=np.clip(flat(0.45, 0.2), 0, 1)), A),
    ("truncation", run(response__truncated=np.abs(flat(0.01, 0.005))), A),
    ("truncation", run(response__truncated=np.zeros(2)), U),
    ("drift_without_gain", run(reward__mean=saturating(), kl__ref=rising(0, 0.4, sd=0.005)), P),
    ("drift_without_gain", run(reward__mean=rising(), kl__ref=rising(0, 0.4, sd=0.005)), A),
    ("drift_without_gain", run(reward__mean=saturating()), N),
    ("destructive_drift", run(reward__mean=stepping(0.8, 0.1), kl__ref=stepping(0.02, 0.9, sd=0.005)), P),
    ("destructive_drift", run(reward__mean=stepping(0.8, 0.1), kl__ref=flat(0.05, 0.002)), A),
    ("kl_and_outcome", run(reward__mean=rising(), kl__ref=rising(0, 0.4, sd=0.005)), P),
    ("kl_and_outcome", run(reward__mean=falling(0.8, 0.3), kl__ref=rising(0, 0.4, sd=0.005)), A),
    ("kl_and_outcome", run(reward__mean=rising(), kl__ref=decaying(0.1, 0.02)), P),
    ("kl_and_outcome", run(reward__mean=saturating(), kl__ref=saturating(0, 0.1, sd=0.0005)), P),
    ("zero_variance_groups", run(reward__flat_groups=np.clip(saturating(0.1, 0.95), 0, 1)), P),
    ("zero_variance_groups", run(reward__flat_groups=np.clip(saturating(0.1, 0.5), 0, 1)), A),
    ("critic_failure", run(value__explained_variance=flat(-0.1, 0.02), reward__mean=flat()), P),
    ("critic_failure", run(value__explained_variance=flat(-0.1, 0.02), reward__mean=rising()), U),
    ("critic_failure", run(value__explained_variance=np.r_[np.full(10, -0.5), np.full(190, 0.8)]), A),
    ("value_divergence", run(value__loss=10 ** rising(0, 5), reward__mean=flat(20, 1)), P),
    ("value_divergence", run(value__loss=10 ** rising(0, 5), reward__mean=rising(20, 500)), A),
    # Returns thirty times as large, lately lower: errors grow with their square.
    (
        "value_divergence",
        run(value__loss=10 ** rising(0, 2.6), reward__mean=np.r_[rising(20, 800, n=160), falling(800, 600, n=40)]),
        A,
    ),
    ("value_divergence", run(value__loss=flat(1, 0.1), reward__mean=flat(20, 1)), A),
    ("noise_dominated", run(eval__score__accuracy=0.5 + noise(EVALS, 0.2, seed=1)), P),
    ("noise_dominated", run(reward__mean=rising()), A),
    ("update_too_large", run(reward__mean=stepping(0.8, 0.02), kl__ref=stepping(0.02, 2.0, sd=0.005)), P),
    ("update_too_large", run(reward__mean=rising(), kl__ref=stepping(0.02, 2.0, sd=0.005)), A),
    ("update_too_large", run(reward__mean=stepping(0.8, 0.02), kl__ref=flat(0.02, 0.002)), A),
    ("learning_rate_jump", run(policy__learning_rate=stepping(1e-5, 4e-4, sd=0)), P),
    ("learning_rate_jump", run(policy__learning_rate=np.minimum(np.arange(200) / 10, 1) * 1e-5), A),
    # A warm-up logged four times, and a jump that comes as late.
    ("learning_rate_jump", run(policy__learning_rate=1e-5 * np.array([0.2, 1, 2, 4, 8, 8, 7.8, 7.5, 7, 6, 5, 4, 3, 2, 1])), A),
    ("learning_rate_jump", run(policy__learning_rate=1e-5 * np.array([1, 1, 1, 1, 8, 8, 7.8, 7.5, 7, 6, 5, 4, 3, 2, 1])), P),
    ("learning_rate_jump", run(policy__learning_rate=rising(1e-5, 1e-7, sd=0)), A),
    (
        "frozen_policy",
        run(
            reward__mean=flat(0.5, 0.03), reward__std=flat(0.5, 0.01), kl__ref=np.full(200, 1e-4), policy__learning_rate=np.full(200, 1e-9)
        ),
        P,
    ),
    ("frozen_policy", run(reward__mean=flat(0.5, 0.03), reward__std=flat(0.5, 0.01), kl__ref=rising(0, 0.3, sd=0.002)), A),
    (
        "frozen_policy",
        run(reward__mean=np.zeros(200), reward__std=np.zeros(200), reward__flat_groups=np.ones(200), kl__ref=np.zeros(200)),
        A,
    ),
    ("loss_discontinuity", run(policy__grad_norm=stepping(0.5, 2.5, sd=0.03)), P),
    ("loss_discontinuity", run(policy__grad_norm=rising(0.5, 1.5, sd=0.03)), A),
    (
        "schedule_plateau",
        run(policy__learning_rate=np.maximum(1e-5 * (1 - np.arange(200) / 150), 1e-9), reward__mean=saturating(0.2, 0.7)),
        P,
    ),
    ("schedule_plateau", run(policy__learning_rate=np.full(200, 1e-5), reward__mean=saturating(0.2, 0.7)), A),
    (
        "entropy_collapse",
        run(
            entropy__mean=decaying(1.0, 0.005), reward__flat_groups=np.clip(saturating(0.1, 0.97), 0, 1), reward__mean=saturating(0.2, 0.6)
        ),
        P,
    ),
    ("entropy_collapse", run(entropy__mean=decaying(1.0, 0.05), reward__mean=rising(), reward__flat_groups=flat(0.3, 0.02)), A),
    # No groups are logged, and the policy learned and levelled off: convergence looks the same.
    ("entropy_collapse", run(entropy__mean=decaying(1.0, 0.05), reward__mean=saturating(0.1, 0.6)), U),
    ("entropy_collapse", run(entropy__mean=decaying(1.0, 0.05), reward__mean=flat(0.3)), P),
    # Certain of what it never learned, however noisy the reward.
    (
        "entropy_collapse",
        run(entropy__mean=np.geomspace(1, 1e-4, 40), reward__mean=9 + 4 * np.sin(np.arange(40.0) ** 2) - np.linspace(0, 3, 40)),
        P,
    ),
    (
        "entropy_collapse",
        run(entropy__mean=np.geomspace(1, 0.2, 40), reward__mean=9 + 4 * np.sin(np.arange(40.0) ** 2) - np.linspace(0, 3, 40)),
        A,
    ),
    ("entropy_collapse", run(entropy__mean=decaying(1.0, 0.03), reward__mean=stepping(0.5, 0.1)), P),
    ("entropy_collapse", run(entropy__mean=decaying(1.0, 0.02), eval__score__accuracy=score(0.5, 0.99, 0.99, 0.99)), A),
    ("entropy_explosion", run(entropy__mean=rising(0.5, 3), reward__mean=stepping(0.8, 0.1)), P),
    ("entropy_explosion", run(entropy__mean=rising(0.5, 3), reward__mean=rising()), A),
    ("length_collapse", run(response__length=rising(200, 10, sd=2), eval__score__accuracy=score(0.5, 0.4, 0.3)), P),
    ("length_collapse", run(response__length=rising(200, 10, sd=2), eval__score__accuracy=score(0.3, 0.6, 0.9)), A),
    ("length_collapse", run(response__length=rising(200, 10, sd=2)), P),
    ("temperature_runaway", run(entropy__coef=10 ** rising(0, 6), reward__mean=flat(-1000, 20)), P),
    ("temperature_runaway", run(entropy__coef=decaying(1, 0.05), reward__mean=rising(-1000, -100, sd=10)), A),
    ("stale_data", run(rollout__staleness=np.abs(rising(0, 8)), reward__mean=flat()), P),
    ("stale_data", run(rollout__staleness=np.abs(rising(0, 8)), reward__mean=rising(-36, -4, sd=1)), A),
    ("stale_data", run(rollout__staleness=flat(0.9, 0.1), reward__mean=flat()), A),
    # Old from the first step on: a fault where nothing was learned, no onset of anything where the run learned all the same.
    ("stale_data", run(rollout__staleness=flat(6, 0.1), reward__mean=falling(0.8, 0.1)), P),
    ("stale_data", run(rollout__staleness=flat(6, 0.1), reward__mean=np.r_[rising(n=150), falling(n=50)]), A),
    # Several passes over each batch are a setting, not samples that are too old.
    ("stale_data", run(settings={"updates_per_batch": 8}, ratio__clip_fraction=flat(0.1, 0.02), reward__mean=stepping(0.8, 0.02)), N),
    ("importance_weight", run(ratio__mean=rising(1.0, 1.4, sd=0.01)), P),
    ("importance_weight", run(ratio__mean=flat(1.0, 0.005)), A),
    ("engine_mismatch", run(kl__mismatch=np.abs(rising(0.001, 0.2, sd=0.002))), P),
    ("engine_mismatch", run(kl__mismatch=np.abs(flat(0.001, 0.0002))), A),
    ("non_finite", run(policy__grad_norm=with_nan(flat(0.5, 0.05), 150)), P),
    ("non_finite", run(policy__grad_norm=np.where(np.arange(200) % 5 == 0, 0.5, np.nan)), A),
    ("non_finite", run(events=(Event("error", "device-side assert triggered", "train.log", 150.0),), reward__mean=flat()), P),
    ("gradient_spikes", run(policy__grad_norm=spiked(flat(0.5, 0.02), range(50, 200, 20), 9.0)), P),
    ("gradient_spikes", run(policy__grad_norm=spiked(flat(0.5, 0.02), range(100, 101), 9.0)), A),
    ("resume_discontinuity", run(events=(Event("resume", "steps go back", "log", 101.0),), policy__grad_norm=stepping(0.5, 3.0)), P),
    ("resume_discontinuity", run(events=(Event("resume", "steps go back", "log", 101.0),), policy__grad_norm=flat(0.5)), A),
    ("decline_at_resume", run(events=RESUMED, reward__mean=SINKS), P),
    ("decline_at_resume", run(events=(Event("resume", "steps go back", "log", 41.0),), reward__mean=SINKS), A),
    ("decline_at_resume", run(events=tuple(Event("resume", "", "log", float(at)) for at in range(6, 200, 5)), reward__mean=SINKS), A),
    ("decline_at_resume", run(events=RESUMED, reward__mean=rising(0.1, 0.8)), A),
    ("decline_at_resume", run(reward__mean=SINKS), N),
    ("decline_at_resume", run(events=(Event("pause", "", "log", 101.0),), reward__mean=SINKS), P),
    ("decline_at_resume", run(events=(Event("jump", "", "log", 41.0),), reward__mean=SINKS), A),
    ("decline_at_resume", run(reward__mean=SINKS, clip_range=np.repeat([0.1, 0.3], 100)), P),
    ("decline_at_resume", run(reward__mean=SINKS, best_reward=np.repeat([0.1, 0.3], 100)), N),
    ("decline_at_resume", run(reward__mean=SINKS, clip_range=np.repeat([0.1, 0.2, 0.3, 0.4], 50)), N),
    (
        "eval_protocol_change",
        run(reward__mean=flat(0.8, 0.01), eval__score__accuracy=np.r_[np.full(10, 0.8), np.full(11, 0.5)] + noise(EVALS, 0.01)),
        P,
    ),
    ("eval_protocol_change", run(**DYING), A),
    ("episode_errors", run(episode__errors=np.clip(rising(0.0, 0.4), 0, 1)), P),
    ("episode_errors", run(episode__errors=np.abs(flat(0.01, 0.005))), A),
]


@pytest.mark.parametrize(("pattern", "shown", "expected"), CASES, ids=[f"{p}-{i}-{o.value}" for i, (p, _, o) in enumerate(CASES)])
def test_outcome(pattern: str, shown: Run, expected: Outcome) -> None:
    """The detector gives the outcome that a practitioner would."""
    found = run_detector(MODULES[pattern], shown)
    assert expected == found.outcome, found.statement


def test_every_curve_detector_has_cases() -> None:
    """Each detector that needs no samples and no telemetry is shown at least two runs with different answers."""
    seen = {p: {o for q, _, o in CASES if q == p} for p in MODULES}
    alone = {p for p, m in MODULES.items() if not any("telemetry" in n or n == "rollouts" for n in m.needs)}
    missing = {p for p in alone if len(seen[p]) < 2} - OTHERS
    assert missing <= set(rows())


OTHERS = {
    "tools_given_up",
    "loss_scale_overflow",
    "unlike_sound_runs",
    "value_scale",
    "saturated_test",
    "entropy_stays_high",
    "filtered_reward",
    "task_part_given_up",
    "no_gradient",
    "setting_out_of_range",
    "kl_above_target",
    "one_answer_a_prompt",
    "dead_reward_part",
    "blow_up_at_end",
    "time_creep",
    "throughput_drop",
    "generation_bound",
    "waiting_on_reward",
    "checkpoint_stall",
    "reward_component_dominance",
    "length_inflation",
    "action_noise_gone",
    "bursty_clipping",
    "certain_start",
    "no_exploration",
    "hardware_error",
    "out_of_memory",
    "echo_trap",
    "episode_cap",
    "eval_below_train",
    "few_episodes",
    "forgetting",
    "kl_estimator_artefact",
    "narrowing",
    "over_optimisation",
    "wrong_from_start",
}
"""Tested beside the samples or the telemetry, in ``test_more_curves`` or in ``test_values``."""
