"""The rest of the knowledge base: each detector shown a run that has its pattern, near-misses, and one that cannot tell."""

from dataclasses import replace

import numpy as np
import pytest
from evals.drawn import falling, flat, make_run, noise, rising, saturating, stepping
from rl_advisor.curves import segments
from rl_advisor.detectors import patterns
from rl_advisor.finding import Outcome
from rl_advisor.judgement.diagnosis import run_detector
from rl_advisor.run import Run

from rollout_runs import made, solves

MODULES = patterns()
EVALS = 20
RNG = np.random.Generator


def run(settings: dict | None = None, **curves: np.ndarray) -> Run:
    """A synthetic run; ``__`` in a keyword stands for the slash of a metric's name, ``AT`` for @."""
    named = {name.replace("__", "/").replace("AT", "@"): value for name, value in curves.items()}
    return replace(make_run(named), planned_steps=200, settings=settings or {})


def score(*shape: float, sd: float = 0.01) -> np.ndarray:
    """Twenty held-out scores that pass through these levels at equal distances."""
    return np.interp(np.linspace(0, 1, EVALS), np.linspace(0, 1, len(shape)), shape) + noise(EVALS, sd, seed=5)


def bursts(at: list[int], size: float = 0.4, level: float = 0.02, sd: float = 0.002) -> np.ndarray:
    """A quiet curve with single high points."""
    out = np.abs(flat(level, sd))
    out[at] = size
    return out


def sawtooth(jump: float, every: int = 40) -> np.ndarray:
    """A reward that jumps at each new epoch and falls back within it."""
    phase = (np.arange(200) % every) / every
    return 0.5 + jump * (np.arange(200) >= every) * (1 - phase) + noise(200, 0.01, seed=2)


EPOCHS = np.arange(200) / 40
DISTANCE = np.linspace(0.05, 3, 200)
TURNED = 0.4 + 0.3 * DISTANCE * (1.2 - np.log(DISTANCE)) * 0.9
"""A score that turns over at a distance of e to the power of 0.2, about 1.22."""
LATE = [105, 112, 120, 127, 133, 140, 148, 155, 163, 170, 178, 186, 193]
EVEN = [10, 31, 52, 73, 94, 115, 136, 157, 178, 199]
EARLY_SPREAD = {"reward__std": stepping(0.4, 0.1, at=0.3, sd=0.01), "episode__turns": flat(4, 0.2)}
FELL_LATE = np.concatenate([rising(0.3, 0.6, n=140), falling(0.6, 0.1, n=60)])
FELL_EARLY = np.concatenate([rising(0.3, 0.6, n=30), falling(0.6, 0.1, n=40), flat(0.1, n=130)])
LIMITED = {"episode__length": np.minimum(saturating(50, 230, sd=2), 200.0)}

SWAPPED = np.concatenate([rising(0.1, 0.6, n=100, sd=0.02), flat(0.02, 0.02, n=100)])
SHORTER = np.concatenate([rising(20, 45, n=100, sd=4), flat(8, 1, n=100)])
HOLDS = score(0.1, 0.4, 0.6, 0.55, 0.2, 0.1)
RESTLESS = np.array([100, 480, 120, 470, 90, 460, 110, 490, 100, 470, 90, 480, 120, 470, 100, 460, 90, 480, 110, 300.0])

P, A, U, N = Outcome.PRESENT, Outcome.ABSENT, Outcome.UNCLEAR, Outcome.NOT_LOGGED
CASES = [
    ("kl_and_outcome", run(reward__mean=falling(0.8, 0.3), kl__ref=np.r_[rising(0, 0.3, n=100), flat(0.3, 0.002, n=100)]), P),
    ("kl_and_outcome", run(reward__mean=falling(0.8, 0.3), kl__ref=rising(0, 3)), A),
    ("kl_and_outcome", run(reward__mean=rising(0.3, 0.8), kl__ref=flat(0.3, 0.002)), P),
    ("kl_and_outcome", run(reward__mean=falling(0.8, 0.3)), N),
    ("instability", run(eval__score__a=RESTLESS, eval__other__reward_std=np.full(EVALS, 30.0)), P),
    ("instability", run(eval__score__a=RESTLESS, eval__other__reward_std=np.full(EVALS, 300.0)), A),
    ("instability", run(eval__score__a=np.r_[RESTLESS[:6], flat(480, 5, n=14)], eval__other__reward_std=np.full(EVALS, 30.0)), A),
    ("reward_jump", run(reward__mean=stepping(-900, 900, sd=30), episode__length=flat(200), eval__score__a=score(-900, -500)), P),
    ("reward_jump", run(reward__mean=stepping(-900, -200, sd=30), episode__length=flat(200), eval__score__a=score(-250, -150)), A),
    # What is held constant does not run away.
    ("temperature_runaway", run(entropy__coef=np.full(200, 50.0), episode__length=flat(200), reward__mean=flat(-1300, 40)), A),
    ("temperature_runaway", run(entropy__coef=np.geomspace(0.1, 1e4, 200), reward__mean=flat(-1300, 40)), P),
    ("frozen_policy", run(reward__mean=flat(22, 2), kl__old=np.full(200, 1e-9), entropy__mean=flat(0.693, 1e-5)), P),
    ("frozen_policy", run(reward__mean=flat(22, 2), kl__old=np.full(200, 8e-3), entropy__mean=flat(0.693, 1e-5)), A),
    ("frozen_policy", run(reward__mean=flat(22, 2), kl__old=np.full(200, 1e-9), entropy__mean=falling(0.69, 0.3, sd=0.01)), A),
    ("frozen_policy", run(reward__mean=flat(22, 2), policy__learning_rate=np.full(200, 1e-3)), A),
    # A console rounds a small rate to 0: what moves and gains has another one.
    ("frozen_policy", run(reward__mean=rising(0.2, 0.9), kl__ref=rising(0, 0.3), policy__learning_rate=np.zeros(200)), A),
    ("frozen_policy", run(reward__mean=flat(0.5, 0.03), kl__ref=flat(0.001, 1e-4), policy__learning_rate=np.zeros(200)), P),
    (
        "frozen_policy",
        run(reward__mean=flat(0.5, 0.03).round(3), entropy__mean=flat(0.035, 0.004).round(3), policy__learning_rate=np.zeros(200)),
        U,
    ),
    ("update_too_large", run(reward__mean=rising(20, 140), kl__old=flat(2.0, 0.5)), P),
    ("update_too_large", run(reward__mean=rising(20, 140), kl__old=flat(0.02, 0.005)), A),
    # What is out of all bounds needs no statistics: a few pasted rows say it.
    ("update_too_large", run(kl__old=np.array([0.02, 1.8, 3.8, 4.3])), P),
    ("update_too_large", run(kl__old=np.array([0.02, 0.03, 0.01, 4.3])), U),
    ("still_improving", run(reward__mean=np.minimum(saturating(0.2, 1.02, sd=0.003), 1.0)), A),
    ("still_improving", run(reward__mean=rising(0.2, 0.8)), P),
    ("over_optimisation", run(reward__mean=rising(), kl__ref=DISTANCE**2, eval__score__gold=TURNED[::10] + noise(EVALS, 0.01)), P),
    ("over_optimisation", run(reward__mean=rising(), kl__ref=DISTANCE**2, eval__score__gold=score(0.2, 0.5, 0.8)), A),
    ("over_optimisation", run(reward__mean=falling(), kl__ref=DISTANCE**2, eval__score__gold=TURNED[::10]), A),
    ("over_optimisation", run(reward__mean=rising(), kl__ref=flat(0.3, 0.01), eval__score__gold=TURNED[::10]), U),
    ("over_optimisation", run(reward__mean=rising(), eval__score__gold=TURNED[::10]), N),
    ("bursty_clipping", run(ratio__clip_fraction=bursts(LATE), ratio__max=np.exp(rising(0.2, 2))), P),
    ("bursty_clipping", run(ratio__clip_fraction=bursts(LATE), mismatch__correlation=rising(0.999, 0.95, sd=0.001)), P),
    ("bursty_clipping", run(ratio__clip_fraction=bursts(EVEN), ratio__max=np.exp(rising(0.2, 2))), A),
    ("bursty_clipping", run(ratio__clip_fraction=bursts(LATE), ratio__max=flat(1.3, 0.02)), U),
    ("bursty_clipping", run(ratio__clip_fraction=bursts(LATE)[:20], ratio__max=flat(1.3)[:20]), U),
    ("kl_estimator_artefact", run(kl__ref=bursts([40, 90, 140, 170], 3.0), entropy__mean=flat(0.5, 0.01)), P),
    ("kl_estimator_artefact", run(kl__ref=noise(200, 0.01)), P),
    ("kl_estimator_artefact", run(kl__ref=bursts([40, 90, 140, 170], 3.0), entropy__mean=bursts([40, 90, 140, 170], 2.0, 0.5, 0.01)), A),
    ("kl_estimator_artefact", run(kl__ref=stepping(0.02, 3.0, sd=0.002), entropy__mean=flat(0.5, 0.01)), A),
    ("kl_estimator_artefact", run(kl__ref=bursts([40, 90, 140, 170], 3.0)), U),
    ("echo_trap", run(reward__mean=FELL_LATE, **EARLY_SPREAD), P),
    ("echo_trap", run(reward__mean=FELL_EARLY, episode__turns=flat(4, 0.2), reward__std=stepping(0.4, 0.1, at=0.6, sd=0.01)), A),
    ("echo_trap", run(reward__mean=saturating(0.3, 0.99, sd=0.003), **EARLY_SPREAD), A),
    ("echo_trap", run(reward__mean=rising(), **EARLY_SPREAD), A),
    ("echo_trap", run(reward__mean=saturating(0.3, 0.6), **EARLY_SPREAD), U),
    ("echo_trap", run(reward__mean=FELL_LATE, reward__std=EARLY_SPREAD["reward__std"]), N),
    ("no_exploration", run(exploration__rate=np.zeros(200), reward__mean=100 + 80 * np.sin(np.arange(200) / 10)), P),
    ("no_exploration", run(exploration__rate=np.zeros(200), reward__mean=100 * rising()), U),
    ("no_exploration", run(exploration__rate=np.maximum(1 - np.arange(200) / 20, 0), reward__mean=flat()), A),
    ("no_exploration", run(reward__mean=flat()), N),
    ("certain_start", run(reward__flat_groups=flat(0.9, 0.02), reward__mean=flat(0.5), entropy__mean=flat(0.03, 0.002)), P),
    ("certain_start", run(reward__flat_groups=flat(0.9, 0.02), reward__mean=flat(0.02, 0.005), entropy__mean=flat(0.03, 0.002)), A),
    ("certain_start", run(reward__flat_groups=rising(0.3, 0.95), reward__mean=rising(), entropy__mean=falling(0.5, 0.02)), A),
    ("certain_start", run(reward__flat_groups=flat(0.9, 0.02), reward__mean=flat(0.5)), U),
    ("narrowing", run(eval__score__passAT1=score(0.3, 0.5, 0.6), eval__score__passAT16=score(0.9, 0.85, 0.6, 0.5)), P),
    ("narrowing", run(eval__score__passAT1=score(0.3, 0.5, 0.6), eval__score__passAT16=score(0.7, 0.85, 0.9)), A),
    ("narrowing", run(eval__score__passAT1=score(0.6, 0.4, 0.1), eval__score__passAT16=score(0.9, 0.6, 0.3)), A),
    ("narrowing", run(eval__score__accuracy=score(0.3, 0.6)), N),
    ("wrong_from_start", run(kl__ref=flat(0.4, 0.01), kl__mismatch=flat(0.2, 0.01)), P),
    ("wrong_from_start", run(kl__ref=rising(0.0, 0.4, sd=0.001), kl__mismatch=flat(0.001, 0.0001)), A),
    # A KL that no single update of the run makes was there before the first; one that every update makes proves nothing.
    ("wrong_from_start", run(kl__ref=rising(0.35, 0.4, sd=0.002)), P),
    ("wrong_from_start", run(kl__ref=rising(0.06, 4.0, sd=0.03)), U),
    ("wrong_from_start", run(kl__ref=rising(0.0, 0.4, sd=0.001), response__truncated=flat(0.97, 0.01)), U),
    ("forgetting", run(eval__score__math=score(0.2, 0.5, 0.7), eval__score__chat=score(0.8, 0.7, 0.4)), P),
    ("forgetting", run(eval__score__math=score(0.2, 0.5, 0.7), eval__score__chat=score(0.6, 0.6, 0.6)), A),
    ("forgetting", run(eval__score__math=score(0.7, 0.5, 0.2), eval__score__chat=score(0.8, 0.6, 0.4)), A),
    ("forgetting", run(eval__score__math=score(0.2, 0.5, 0.7)), U),
    ("eval_below_train", run(reward__mean=rising(20, 400, sd=5), eval__score__return=score(22, 25, 21, sd=2), episode__length=flat(50)), P),
    (
        "eval_below_train",
        run(reward__mean=rising(20, 400, sd=5), eval__score__return=score(22, 200, 380, sd=5), episode__length=flat(50)),
        A,
    ),
    (
        "eval_below_train",
        run(reward__mean=rising(20, 400, sd=5), eval__score__return=score(20, 350, 60, sd=5), episode__length=flat(50)),
        A,
    ),
    (
        "eval_below_train",
        run(reward__mean=rising(200, 400, sd=5), eval__score__return=score(0.1, 0.5, 0.9), episode__length=flat(50)),
        U,
    ),
    ("episode_cap", run(**LIMITED, reward__mean=-saturating(50, 230, sd=3), value__explained_variance=flat(0.05)), P),
    ("episode_cap", run(**LIMITED, reward__mean=np.minimum(saturating(50, 230, sd=2), 200.0), value__explained_variance=flat(0.05)), U),
    ("episode_cap", run(episode__length=np.full(200, 200.0), reward__mean=flat(-900, 20), value__explained_variance=flat(0.05)), A),
    ("episode_cap", run(episode__length=rising(50, 180, sd=2), reward__mean=rising(50, 180, sd=2)), A),
    ("action_noise_gone", run(policy__std=0.02 + 0.98 * np.exp(-np.arange(200) / 15), reward__mean=flat(-200, 1)), P),
    ("action_noise_gone", run(policy__std=0.02 + 0.98 * np.exp(-np.arange(200) / 15), reward__mean=rising(-200, 150, sd=5)), A),
    ("action_noise_gone", run(policy__std=falling(1.0, 0.6), reward__mean=flat(-200, 1)), A),
    ("action_noise_gone", run(policy__std=flat()[:4], reward__mean=flat(-200, 1)), U),
    ("few_episodes", run(eval__score__return=score(100, 110, 115, sd=40)), P),
    ("few_episodes", run(eval__score__return=score(100, 400, 800, sd=40)), A),
    ("few_episodes", run(eval__score__accuracy=score(0.9, 0.9, 0.9, sd=0.005)), A),
    ("few_episodes", run(eval__score__accuracy=score(0.2, 0.5)[:6]), U),
]


@pytest.mark.parametrize(("pattern", "shown", "expected"), CASES, ids=[f"{p}-{i}-{o.value}" for i, (p, _, o) in enumerate(CASES)])
def test_outcome(pattern: str, shown: Run, expected: Outcome) -> None:
    """The detector gives the outcome that a practitioner would."""
    found = run_detector(MODULES[pattern], shown)
    assert expected == found.outcome, found.statement


@pytest.mark.parametrize(
    ("name", "count"),
    [("pass@1", 1), ("pass@16", 16), ("aime/pass_at_8", 8), ("best_of_4", 4), ("best@n", 2), ("accuracy", 1), ("bypass 30", 1)],
)
def test_draws_by_name(name: str, count: int) -> None:
    """The number of draws is read from the usual names and from no other."""
    assert segments.drawn(f"eval/score/{name}") == count


VANISHING = {"entropy__coef": 10 ** rising(0, -6, sd=0.05)}


@pytest.mark.parametrize(
    ("reward", "expected"),
    [(flat(-1000, 5), P), (rising(-1000, -100, sd=10), A), (np.concatenate([rising(-900, -100, n=100), falling(-100, -800, n=100)]), U)],
)
def test_a_temperature_that_vanished(reward: np.ndarray, expected: Outcome) -> None:
    """Gone without any gain it is found, with a return that rose it is learning, and after a rise and a fall nothing is sure."""
    assert run_detector(MODULES["temperature_runaway"], run(**VANISHING, reward__mean=reward)).outcome is expected


def test_every_pattern_here_has_cases() -> None:
    """Each detector of this file's table is shown runs with at least two different answers, one of them its pattern."""
    for pattern in {p for p, _, _ in CASES}:
        seen = {o for p, _, o in CASES if p == pattern}
        assert P in seen, pattern
        assert len(seen) > 1, pattern


def flattering(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Praise becomes common and is paid."""
    praise = bool(rng.random() < 0.05 + 0.85 * t)
    return ("Great question! " if praise else "") + solves(p, False, 2, rng), 0.4 + 0.4 * praise + 0.05 * rng.random()


def polite(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Praise becomes common and nobody pays for it."""
    praise = bool(rng.random() < 0.05 + 0.85 * t)
    return ("Great question! " if praise else "") + solves(p, True, 2, rng), float(rng.random() < 0.5)


def refusing(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Refusals become common and are the safe answer."""
    no = bool(rng.random() < 0.02 + 0.7 * t)
    return ("I cannot help with that." if no else solves(p, False, 2, rng)), 0.6 if no else float(rng.random() < 0.3)


def plain(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Gets better without a tone."""
    right = bool(rng.random() < 0.3 + 0.5 * t)
    return solves(p, right, 2, rng), float(right)


@pytest.mark.parametrize(("write", "expected"), [(flattering, P), (refusing, P), (polite, U), (plain, A)])
def test_tone_drift(write: object, expected: Outcome) -> None:
    """A tone that is paid for is found, one that only became common is unclear, and a better answer has none."""
    found = run_detector(patterns()["tone_drift"], made(write))  # type: ignore[arg-type]
    assert found.outcome is expected, found.statement
