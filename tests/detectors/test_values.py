"""What holds from the first step and shows no change: detectors of values, and near-misses of faults that reviews found in older ones."""

from dataclasses import replace

import numpy as np
import pytest
from evals.drawn import falling, flat, make_run, noise, rising, saturating, stepping
from rl_advisor.detectors import patterns
from rl_advisor.finding import Outcome
from rl_advisor.judgement.diagnosis import run_detector
from rl_advisor.run import Event, Run

from rollout_runs import made, solves

MODULES = patterns()
EVALS = 21
P, A, U, N = Outcome.PRESENT, Outcome.ABSENT, Outcome.UNCLEAR, Outcome.NOT_LOGGED


def run(settings: dict | None = None, config: dict | None = None, planned: int = 200, **curves: np.ndarray) -> Run:
    """A synthetic run; ``__`` in a keyword stands for the slash of a metric's name."""
    shown = make_run({name.replace("__", "/"): value for name, value in curves.items()})
    return replace(shown, planned_steps=planned, settings=settings or {}, config=config or {})


def score(*shape: float, sd: float = 0.01) -> np.ndarray:
    """Held-out scores that pass through these levels at equal distances."""
    return np.interp(np.linspace(0, 1, EVALS), np.linspace(0, 1, len(shape)), shape) + noise(EVALS, sd, seed=5)


def at_once(before: float, after: float) -> np.ndarray:
    """Held-out scores with one step in the middle."""
    return np.where(np.arange(EVALS) < EVALS // 2, before, after) + noise(EVALS, 0.01, seed=5)


NONE = np.zeros(200)
LANGUAGE = {"response__length": flat(300, 10)}
DRIFT = {"kl__ref": rising(0.001, 0.06, sd=0.002), "entropy__mean": falling(0.6, 0.35, sd=0.01), **LANGUAGE}
ALL_FLAT = {"reward__flat_groups": np.ones(200), "reward__mean": flat(0.0, 0.0)}
LATE_DEATH = np.where(np.arange(200) < 60, np.abs(flat(0.5, 0.05)), 0.0)
BLOWN = np.concatenate([np.abs(flat(0.9, 0.1, n=190)), np.geomspace(5, 2e10, 10)])
MENDED = np.concatenate([np.abs(flat(0.9, 0.1, n=190)), [2e3], np.abs(flat(0.9, 0.1, n=9))])
ADVANTAGE = flat(0.3, 0.05)
SHORT = {n: v[:3] for n, v in ALL_FLAT.items()}
GRPO = {"reward__group_std": flat(0.3, 0.01), "kl__ref": rising(0, 0.05), **LANGUAGE}

CASES = [
    ("no_gradient", run(policy__grad_norm=NONE, **ALL_FLAT), P),
    ("no_gradient", run(policy__grad_norm=NONE[:2]), P),
    ("no_gradient", run(policy__grad_norm=LATE_DEATH, reward__mean=flat(0.2, 0.01)), P),
    # A few silent batches, and a norm that is merely small.
    ("no_gradient", run(policy__grad_norm=np.where(np.arange(200) % 3 == 0, 0.0, 0.4)), A),
    ("no_gradient", run(policy__grad_norm=np.full(200, 1e-6)), A),
    # Rounded to zero while the policy moves; learned to the end, with nothing left to compare.
    ("no_gradient", run(policy__grad_norm=NONE, kl__ref=rising(0, 3)), U),
    ("no_gradient", run(policy__grad_norm=LATE_DEATH, reward__mean=saturating(0.1, 1.0, sd=0.005)), U),
    ("setting_out_of_range", run({"learning_rate": 0.3, "algorithm": "PPO"}, reward__mean=flat(9, 0.3), episode__length=flat(9, 0.3)), P),
    ("setting_out_of_range", run({"clip_range": 5.0, "algorithm": "PPO"}, reward__mean=flat(9, 0.3), episode__length=flat(9, 0.3)), P),
    ("setting_out_of_range", run({"learning_rate": 3e-4, "algorithm": "PPO"}, reward__mean=flat(9, 0.3), episode__length=flat(9, 0.3)), A),
    # Unusual, and the run's own past defends it.
    (
        "setting_out_of_range",
        run({"learning_rate": 0.3, "algorithm": "PPO"}, reward__mean=rising(9, 200), episode__length=rising(9, 200)),
        U,
    ),
    # A temperature that is learned is no setting.
    ("setting_out_of_range", run(entropy__coef=falling(90, 1, sd=0.1), reward__mean=flat(9, 0.3), episode__length=flat(9, 0.3)), N),
    ("setting_out_of_range", run(entropy__coef=np.full(200, 90.0), reward__mean=flat(9, 0.3), entropy__coef_loss=flat()), P),
    # A penalty or a limit of zero is switched off, not out of range.
    ("setting_out_of_range", run({"max_grad_norm": 0, "kl_coef": 0.0, "algorithm": "grpo"}, reward__mean=flat(0.2, 0.01), **LANGUAGE), A),
    ("setting_out_of_range", run(reward__mean=flat(0.2, 0.01)), N),
    ("kl_above_target", run(config={"target_kl": 0.015}, kl__old=np.abs(flat(0.06, 0.01))), P),
    ("kl_above_target", run(config={"target_kl": 0.015}, kl__old=np.abs(flat(0.018, 0.004))), A),
    ("kl_above_target", run(kl__old=np.abs(flat(0.06, 0.01))), N),
    ("kl_above_target", run(config={"target_kl": 0.015}, kl__old=np.full(3, 0.06)), U),
    ("one_answer_a_prompt", run(advantage__mean=ADVANTAGE, reward__mean=ADVANTAGE + noise(200, 0.003), **GRPO), P),
    ("one_answer_a_prompt", run({"group_size": 1}, reward__mean=flat(0.3, 0.05), **GRPO), P),
    ("one_answer_a_prompt", run(advantage__mean=flat(0.0, 0.01), reward__mean=ADVANTAGE, **GRPO), A),
    # One answer with a baseline taken off all the same; a critic; classic control.
    ("one_answer_a_prompt", run({"group_size": 1}, advantage__mean=flat(0.0, 0.01), reward__mean=ADVANTAGE, **GRPO), A),
    ("one_answer_a_prompt", run(advantage__mean=ADVANTAGE, reward__mean=ADVANTAGE, value__loss=flat(0.3, 0.1), **GRPO), A),
    ("one_answer_a_prompt", run(advantage__mean=ADVANTAGE, reward__mean=ADVANTAGE, episode__length=flat(200, 9)), A),
    ("dead_reward_part", run(reward__component__format=NONE, reward__component__accuracy=rising(0.1, 0.4), **LANGUAGE), P),
    ("dead_reward_part", run(reward__component__overlong_penalty=NONE, reward__component__accuracy=rising(0.1, 0.4), **LANGUAGE), A),
    ("dead_reward_part", run(reward__component__format=rising(0, 1), reward__component__accuracy=rising(0.1, 0.4), **LANGUAGE), A),
    ("dead_reward_part", run(reward__component__stand_still=NONE, reward__component__walk=rising(0.1, 0.4), episode__length=flat(90)), U),
    ("dead_reward_part", run(reward__component__accuracy=NONE + 0.008, reward__component__format=rising(0.3, 0.9), **LANGUAGE), P),
    ("dead_reward_part", run(reward__component__accuracy=rising(0, 0.019, sd=0), reward__component__format=flat(0.9), **LANGUAGE), A),
    ("dead_reward_part", run(reward__component__trace=NONE - 0.5, reward__component__format=rising(0, 0.2), **LANGUAGE), P),
    ("dead_reward_part", run(reward__component__trace=flat(-0.5), reward__component__format=rising(0, 0.2), **LANGUAGE), A),
    ("dead_reward_part", run(reward__component__trace=NONE + 0.5, reward__component__format=rising(0, 0.2), **LANGUAGE), A),
    ("dead_reward_part", run(reward__component__format=NONE, **LANGUAGE), N),
    # Form is learned to the full in most runs.
    ("blow_up_at_end", run(value__loss=BLOWN, reward__mean=rising()), P),
    ("blow_up_at_end", run(value__loss=MENDED, reward__mean=rising()), A),
    ("blow_up_at_end", run(value__loss=np.geomspace(0.1, 1e6, 200), reward__mean=flat()), A),
    ("blow_up_at_end", run(value__loss=BLOWN[-10:]), U),
    ("certain_start", run(entropy__mean=np.abs(flat(0.01, 0.002)), reward__mean=flat(0.4, 0.02), **LANGUAGE), P),
    ("certain_start", run(entropy__mean=np.abs(flat(0.01, 0.002)), reward__mean=rising(0.2, 0.8), **LANGUAGE), U),
    ("certain_start", run(entropy__mean=np.abs(flat(0.01, 0.002)), reward__mean=flat(0.97, 0.01), **LANGUAGE), A),
    ("certain_start", run(entropy__mean=np.abs(flat(0.3, 0.02)), reward__mean=flat(0.4, 0.02), **LANGUAGE), A),
    # One update a batch leaves the ratio no room; several do.
    ("importance_weight", run({"updates_per_batch": 1, "minibatches": 1}, ratio__clip_fraction=np.abs(flat(0.16, 0.01))), P),
    ("importance_weight", run({"updates_per_batch": 1, "minibatches": 1}, ratio__mean=flat(1.03, 0.004)), P),
    ("importance_weight", run({"updates_per_batch": 1, "minibatches": 1}, ratio__mean=flat(1.0, 0.0005)), A),
    ("importance_weight", run({"updates_per_batch": 4}, ratio__clip_fraction=np.abs(flat(0.16, 0.01))), U),
    # Groups that became alike as the prompts were solved are success; alike from the first step, they never taught anything.
    ("zero_variance_groups", run(reward__flat_groups=saturating(0.1, 0.9), reward__mean=saturating(0.3, 0.97, sd=0.01)), U),
    ("zero_variance_groups", run(reward__flat_groups=saturating(0.1, 0.9), reward__mean=flat(0.3, 0.01)), P),
    ("zero_variance_groups", run(reward__flat_groups=np.ones(2)), P),
    ("zero_variance_groups", run(reward__flat_groups=np.array([0.9, 0.9])), U),
    # Half of all answers cut is no matter of how it began, nor of many rows; a cut share that went away is none.
    ("truncation", run(response__truncated=rising(0.38, 1.0)), P),
    ("truncation", run(response__truncated=np.array([0.75, 0.88])), P),
    ("truncation", run(response__truncated=np.array([0.02, 0.01])), U),
    ("truncation", run(response__truncated=falling(0.9, 0.0, sd=0.002)), A),
    ("truncation", run(response__length=np.minimum(rising(100, 600), 256.0), response__length_max=np.full(200, 256.0)), P),
    ("truncation", run(response__length=flat(120, 9), response__length_max=flat(250, 5)), N),
    ("truncation", run(response__padded_max=np.abs(flat(0.02, 0.005))), A),
    ("truncation", run(response__padded_max=rising(0.02, 0.7)), P),
    # Reward and score that fall together are no gaming; a score that stands while reward and length leave it is.
    ("train_eval_gap", run(reward__mean=falling(0.45, 0.34), eval__score__accuracy=score(0.44, 0.37), **LANGUAGE), A),
    (
        "train_eval_gap",
        run(
            reward__mean=np.r_[rising(0.2, 0.6, n=100), falling(0.6, 0.45, n=100)],
            eval__score__accuracy=score(0.2, 0.4, 0.6, 0.45, 0.3),
            **LANGUAGE,
        ),
        A,
    ),
    ("train_eval_gap", run(reward__mean=rising(0.2, 0.7), eval__score__accuracy=score(0.4, 0.4), response__length=rising(100, 400)), P),
    ("train_eval_gap", run(reward__mean=rising(0.2, 0.7), eval__score__accuracy=score(0.4, 0.4), response__length=flat(100)), U),
    ("train_eval_gap", run(reward__mean=rising(0.2, 0.7), eval__score__accuracy=score(0.2, 0.7), response__length=rising(100, 400)), A),
    # A gap that was there from the start does not widen.
    ("train_eval_gap", run(reward__mean=rising(0.6, 0.9), eval__score__accuracy=score(0.3, 0.6), response__length=rising(100, 400)), A),
    # Any jump of the evaluation alone, whichever way, with the drift that every run has; steep learning is none.
    ("eval_protocol_change", run(reward__mean=rising(0.3, 0.7), eval__score__accuracy=at_once(0.61, 0.32), **DRIFT), P),
    ("eval_protocol_change", run(reward__mean=rising(0.3, 0.7), eval__score__accuracy=at_once(0.3, 0.8), **DRIFT), P),
    ("eval_protocol_change", run(reward__mean=stepping(0.3, 0.8), eval__score__accuracy=at_once(0.3, 0.8), **DRIFT), A),
    ("eval_protocol_change", run(reward__mean=rising(0.3, 0.7), eval__score__accuracy=score(0.2, 0.2, 0.7, 0.75), **DRIFT), A),
    ("eval_protocol_change", run(reward__mean=flat(100, 9), eval__score__return=100 * at_once(0.5, 3), episode__length=flat(90)), U),
    # NaN in the last row is what a crash leaves; in the only row, too; a reference model that is not loaded is none.
    ("non_finite", run(policy__grad_norm=np.r_[flat(0.5, n=50), np.nan]), P),
    ("non_finite", run(policy__grad_norm=np.array([np.nan])), P),
    ("non_finite", run(kl__ref=np.full(50, np.nan), policy__loss=flat(0.0, n=50)), A),
    ("non_finite", run(policy__grad_norm=np.r_[flat(0.5, n=20), np.nan, flat(0.5, n=20), np.nan]), A),
    # A rate that climbs all along; a warm-up, a schedule that follows the KL.
    ("learning_rate_jump", run(policy__learning_rate=np.linspace(8e-5, 1e-3, 200)), P),
    ("learning_rate_jump", run(policy__learning_rate=np.r_[np.full(80, 1e-5), np.geomspace(1e-5, 8e-5, 120)]), P),
    ("learning_rate_jump", run(policy__learning_rate=np.r_[np.linspace(1e-8, 1e-5, 40), np.full(160, 1e-5)]), A),
    ("learning_rate_jump", run(policy__learning_rate=np.linspace(1e-8, 4e-7, 80), planned=2000), A),
    ("learning_rate_jump", run(policy__learning_rate=np.tile([1e-4, 3e-4, 1e-4, 6e-5], 50)), A),
    ("learning_rate_jump", run(policy__learning_rate=1e-5 * np.array([1, 2, 3, 7, 11, 11, 7, 17, 11, 17, 17, 25])), A),
    # Noise is no break, and a break is no noise.
    ("noise_dominated", run(eval__score__accuracy=np.r_[flat(0.94, 0.03, n=20), flat(0.0, 0.001, n=11)]), A),
    # A reward that is nothing at nearly every step, and now and then something, has no scale: nothing is said of it, and nothing breaks.
    ("noise_dominated", run(reward__mean=np.bincount([5, 10, 15], [-2.0, 2.0, 5.0], 40)), A),
    ("entropy_explosion", run(entropy__mean=rising(0.84, 2.31), reward__mean=flat(0.3, 0.01)), U),
    ("entropy_explosion", run(entropy__mean=rising(0.35, 2.19), reward__mean=flat(0.3, 0.01), response__truncated=rising(0, 1)), P),
    ("entropy_explosion", run(entropy__mean=rising(0.5, 1.2), reward__mean=rising(0.2, 0.8)), A),
    ("frozen_policy", run(reward__mean=flat(0.3, 0.01), reward__std=flat(0.3, 0.01), kl__ref=np.full(200, 1e-5)), P),
    # Three percent of the plan; no KL and no spread that would tell.
    ("frozen_policy", run(reward__mean=flat(0.3, 0.01), reward__std=flat(0.3, 0.01), kl__ref=np.full(200, 1e-5), planned=9000), U),
    ("frozen_policy", run(reward__mean=flat(0.3, 0.01), entropy__mean=flat(1.6, 0.005)), U),
    (
        "reward_component_dominance",
        run(reward__component__accuracy=falling(0.16, 0.0, sd=0.005), reward__component__format=rising(0.48, 0.99), reward__mean=rising()),
        P,
    ),
    # The part that dies with the run did not take over.
    (
        "reward_component_dominance",
        run(reward__component__cosine=rising(-0.04, 0.0, sd=0.001), reward__component__accuracy=falling(0.3, 0.0), reward__mean=falling()),
        A,
    ),
    (
        "memorised_data",
        run(
            reward__mean=rising(),
            eval__score__accuracy=score(0.5, 0.4, 0.1),
            progress__epoch=np.linspace(0, 200, 200),
            response__length=rising(100, 300),
        ),
        P,
    ),
]


@pytest.mark.parametrize(("pattern", "shown", "expected"), CASES, ids=[f"{p}-{i}-{o.value}" for i, (p, _, o) in enumerate(CASES)])
def test_outcome(pattern: str, shown: Run, expected: Outcome) -> None:
    """The detector gives the outcome that a practitioner would."""
    found = run_detector(MODULES[pattern], shown)
    assert expected == found.outcome, found.statement


TEXTS = [
    ("Assertion `probability tensor contains either `inf`, `nan` or element < 0` failed.", P),
    ("RuntimeError: CUDA error: device-side assert triggered", P),
    ("loss is nan, skipping update", P),
    ("AssertionError: failed to get register_center_actor", A),
    ("Warning: Metric attention/early/balance is NaN/Inf: nan", A),
    ("iteration 10 | lm loss: 5.1 | grad norm: 1.2 | number of nan iterations: 0", A),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_what_a_log_line_says_of_numbers(text: str, expected: Outcome) -> None:
    """A line counts when it speaks of something that every update computes, not because it holds the word assert or nan."""
    event = Event("non_finite" if "nan" in text.lower() else "error", text, "train.log", 120.0)
    shown = replace(run(policy__grad_norm=flat(0.5, 0.05)), events=(event,))
    assert run_detector(MODULES["non_finite"], shown).outcome is expected


@pytest.mark.parametrize("pace", [1, 2048])
@pytest.mark.parametrize(("after", "expected"), [(0.2, P), (0.82, A)])
def test_restart_on_any_axis(pace: int, after: float, expected: Outcome) -> None:
    """A reward that falls across a restart is seen however many steps a row stands for."""
    shown = run(reward__mean=np.r_[flat(0.82, 0.01, n=100), flat(after, 0.01, n=100)])
    curves = {n: replace(c, step=c.step * pace) for n, c in shown.curves.items()}
    at = curves["reward/mean"].step[100]
    found = run_detector(MODULES["resume_discontinuity"], replace(shown, curves=curves, events=(Event("resume", "", "log", float(at)),)))
    assert found.outcome is expected, found.statement
    if expected is P:
        assert found.onset is not None
        assert found.onset.low <= at <= found.onset.high


def test_restart_with_too_little_beside_it() -> None:
    """Two rows on a side are no all-clear."""
    shown = replace(run(reward__mean=np.array([0.8, 0.8, 0.2, 0.2])), events=(Event("resume", "", "log", 2.0),))
    assert run_detector(MODULES["resume_discontinuity"], shown).outcome is U


def test_exponential_growth_begins_where_it_begins() -> None:
    """The onset of a loss that doubles again and again lies where doubling began, not where it became large."""
    loss = np.r_[np.abs(flat(0.5, 0.05, n=80)), 0.5 * np.geomspace(1, 1e10, 120)]
    found = run_detector(MODULES["value_divergence"], run(value__loss=loss, reward__mean=falling(0.6, 0.1)))
    assert found.outcome is P
    assert found.onset is not None
    assert 70 <= found.onset.step <= 100


def refusing(p: int, t: float, rng: np.random.Generator) -> tuple[str, float]:
    """Refusals become common and are the safe answer."""
    no = bool(rng.random() < 0.02 + 0.7 * t)
    return ("I cannot help with that." if no else solves(p, False, 2, rng)), 0.6 if no else float(rng.random() < 0.3)


def asked_for(p: int, t: float, rng: np.random.Generator) -> tuple[str, float]:
    """A third of the prompts should be refused, from the first step on."""
    no = p % 3 == 0
    return ("I cannot help with that." if no else solves(p, True, 2, rng)), 1.0 if no else float(rng.random() < 0.3 + 0.4 * t)


def broken(p: int, t: float, rng: np.random.Generator) -> tuple[str, float]:
    """Refusals become common and cost the reward."""
    no = bool(rng.random() < 0.02 + 0.7 * t)
    return ("I cannot help with that." if no else solves(p, True, 2, rng)), 0.0 if no else 1.0


@pytest.mark.parametrize(("write", "expected"), [(refusing, P), (asked_for, A), (broken, U)])
def test_refusals(write, expected: Outcome) -> None:
    """Refusals that are paid are found, those that prompts ask for are none, and those that cost are left open."""
    found = run_detector(MODULES["refusals_paid"], made(write))
    assert found.outcome is expected, found.statement


def by_length(p: int, _: float, rng: np.random.Generator) -> tuple[str, float]:
    """Every answer is right and earns by its words."""
    text = solves(p, True, int(rng.integers(1, 7)), rng)
    return text, 1 + 0.02 * len(text.split())


def by_right(p: int, _: float, rng: np.random.Generator) -> tuple[str, float]:
    """Right answers are longer and all of them earn one."""
    right = bool(rng.random() < 0.5)
    return solves(p, right, int(rng.integers(3, 7)) if right else 1, rng), float(right)


@pytest.mark.parametrize(("write", "expected"), [(by_length, P), (by_right, A)])
def test_length_at_equal_correctness(write, expected: Outcome) -> None:
    """A straight line of length is found without any growth; right answers that are longer are no such thing."""
    found = run_detector(MODULES["paid_beside_the_task"], made(write, prompts=16, group=8))
    assert found.outcome is expected, found.statement


LEARNT, BROKEN = np.r_[np.linspace(0.2, 0.6, 50), np.linspace(0.6, 0.9, 50)], np.r_[np.linspace(0.2, 0.6, 50), flat(0.02, 0.01, n=50)]
NOT_A_NUMBER = np.r_[np.ones(50), np.full(50, np.nan)]


@pytest.mark.parametrize(("reward", "expected", "tells"), [(BROKEN, P, "finite beside it"), (LEARNT, U, "skipped those updates")])
@pytest.mark.parametrize(
    ("names", "first"),
    [
        (("policy/grad_norm", "value/loss", "policy/loss"), "value/loss"),
        (("policy/grad_norm", "policy/loss", "kl/ref"), "kl/ref"),
        (("policy/grad_norm",), "policy/grad_norm"),
    ],
)
def test_nan_is_told_along_the_loop(reward, expected: Outcome, tells: str, names: tuple[str, ...], first: str) -> None:
    """The first name along the loop, what is finite beside it, and no collapse where the outcome goes on."""
    curves = dict.fromkeys(names, NOT_A_NUMBER) | {"reward/mean": reward, "episode/length": flat(100, 1, n=100)}
    found = run_detector(MODULES["non_finite"], make_run(curves))
    assert (found.outcome, found.statement.split(" is not finite")[0], tells in found.statement) == (expected, first, True)
    assert ("first along the loop" in found.statement) is (len(names) > 1)
