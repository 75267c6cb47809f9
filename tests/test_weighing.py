"""The weighing: order does not count, every kind of evidence decides something, and what means nothing changes nothing."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from evals.drawn import make_run
from evals.remembering import colour
from hypothesis import given, settings
from hypothesis import strategies as st
from rl_advisor.curves.amounts import AMOUNTS
from rl_advisor.curves.course import course
from rl_advisor.curves.level import level
from rl_advisor.curves.performance import REWARD_LOST
from rl_advisor.finding import VERDICTS
from rl_advisor.judgement.case import Case, open_case
from rl_advisor.judgement.evidence import gather
from rl_advisor.judgement.meaning import MEANS
from rl_advisor.judgement.verdict import judge
from rl_advisor.judgement.weights import probabilities, weights
from rl_advisor.reading import read_run
from rl_advisor.run import Curve, Run
from rl_advisor.tools.advisors.builtin import assess

CORPUS = Path(__file__).parents[1] / "evals" / "corpus"
RUNS = ("grpo/runs/grpo-03", "grpo/runs/grpo-09", "classic/runs/classic-05", "classic/runs/classic-16", "second/runs/second-01")


@cache
def run_of(name: str) -> Run:
    """A run of the committed corpora."""
    return read_run(CORPUS / name)


@cache
def case_of(name: str) -> Case:
    """Its case."""
    return open_case(run_of(name))


def said(run: Run) -> str:
    """The verdict of a run."""
    return judge(open_case(run)).verdict


@pytest.mark.parametrize("name", RUNS)
def test_order_does_not_count(name: str) -> None:
    """However the evidence is shuffled, the probabilities are the same, and they are probabilities."""
    pieces = [p.speaks for p in gather(case_of(name))]
    there = probabilities(weights(), pieces)
    pieces = [pieces[i] for i in np.random.default_rng(1).permutation(len(pieces))]
    assert probabilities(weights(), pieces) == pytest.approx(there)
    assert sum(there.values()) == pytest.approx(1)
    assert set(there) == set(VERDICTS)


def test_every_amount_is_weighed_once() -> None:
    """What is weighed is measured, by few numbers."""
    assert set(weights().amounts) <= {*AMOUNTS, REWARD_LOST}
    assert sum(len(w) for *_, w in weights().amounts.values()) + len(weights().prior) <= 120


CHANGES: dict[str, Callable[[Curve], Curve]] = {
    "steps times 2048": lambda c: replace(c, step=c.step * 2048),
    "every other row": lambda c: replace(c, step=c.step[::2], value=c.value[::2], time=None) if c.value.size > 60 else c,
}


@pytest.mark.parametrize("change", sorted(CHANGES))
@pytest.mark.parametrize("name", RUNS)
def test_what_means_nothing_changes_nothing(name: str, change: str) -> None:
    """Another unit of the axis, half of the rows: the same verdict."""
    run = run_of(name)
    factor = 2048 if "2048" in change else 1
    changed = replace(
        run,
        curves={n: CHANGES[change](c) for n, c in run.curves.items()},
        planned_steps=run.planned_steps and run.planned_steps * factor,
        rollouts=run.rollouts.assign(step=run.rollouts["step"] * factor) if len(run.rollouts) else run.rollouts,
        checkpoints=tuple(replace(c, step=c.step * factor) for c in run.checkpoints),
    )
    assert said(changed) == judge(case_of(name)).verdict


@settings(max_examples=20)
@given(st.floats(0.01, 1000), st.floats(-500, 500), st.integers(0, 5))
def test_amounts_know_no_unit(scale: float, shift: float, seed: int) -> None:
    """Heights, slopes and chances of a curve are those of the same curve in another unit."""
    value = np.cumsum(np.random.default_rng(seed).normal(size=40))
    one = course(Curve("reward/mean", "r", "f", np.arange(40.0), value))
    other = course(Curve("reward/mean", "r", "f", np.arange(40.0), value * scale + shift))
    assert one is not None
    assert other is not None
    free = [n for n in AMOUNTS if n not in {"kept", "share at the end"}]
    assert [other.amounts[n] for n in free] == pytest.approx([one.amounts[n] for n in free], abs=0.02)


def test_quarters_are_told_in_errors_of_their_means() -> None:
    """A late quarter half a unit higher or lower under noise of two units a step; what stands far off counts no more than three errors."""
    noise = np.tile([-1.0, 1.0], 20)
    error = 1.4826 * 2 / 2**0.5 / 10**0.5

    def told(late: float, name: str) -> float:
        found = course(Curve("reward/mean", "r", "f", np.arange(40.0), noise + late * (np.arange(40) >= 30)))
        assert found is not None
        return found.amounts[name]

    assert told(0.5, "record") == pytest.approx(0.5 / error, rel=1e-3)
    assert told(-0.5, "fall") == pytest.approx(0.5 / error, rel=1e-3)
    assert (told(-0.5, "record"), told(0.5, "fall")) == pytest.approx((-0.5 / error, 0.0), rel=1e-3, abs=1e-9)
    assert (told(9.0, "record"), told(-9.0, "record"), told(-9.0, "fall")) == (3.0, -3.0, 3.0)


@settings(max_examples=30)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60))
def test_any_curve_has_a_course(values: list[float]) -> None:
    """Whatever the numbers, the courses are finite and every amount too."""
    found = course(Curve("reward/mean", "r", "f", np.arange(float(len(values))), np.array(values)))
    assert found is not None
    assert np.isfinite(found.level.draws).all()
    assert np.isfinite(list(found.amounts.values())).all()


def test_a_cliff_is_not_smoothed_over_and_an_outlier_is_no_cliff() -> None:
    """The course stays up to the last point before a fall, and passes by a single point far off."""
    rng = np.random.default_rng(0)
    cliff = np.r_[np.full(30, 0.9), np.full(20, 0.1)] + rng.normal(0, 0.02, 50)
    found = level(np.arange(50.0), cliff).mean
    assert found[29] > 0.8
    assert found[30] < 0.2
    lone = np.full(50, 0.5) + rng.normal(0, 0.02, 50)
    lone[25] = 0.0
    assert level(np.arange(50.0), lone).mean[25] > 0.35


@pytest.mark.parametrize("memory", [0.0, 0.6])
def test_points_far_off_widen_themselves_and_nothing_else(memory: float) -> None:
    """A return at its cap with a few deep dips lies at its cap, remembering noise or not, between the dips and at them."""
    noise = colour(np.random.default_rng(2).standard_normal((40, 1)), memory, np.ones(39))[:, 0]
    value = 200 + noise
    value[[3, 9, 15, 22, 30, 36]] = [133, 150, 170, 140, 160, 155]
    assert np.abs(level(np.arange(40.0), value).mean - 200).max() < 4


SHAPES: dict[str, tuple[float, float]] = {"stays": (0.0, 0.15), "rises by six deviations": (6.0, 0.9)}
"""How far the level goes, in deviations of the noise, and the share of curves of which a rise or a fall is sure (at most, or at least)."""


@pytest.mark.parametrize("memory", [0.3, 0.6])
@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_noise_that_remembers_is_no_movement(shape: str, memory: float) -> None:
    """Neighbours that wander together do not make a flat curve rise or fall, and what truly rises is seen to."""
    far, share = SHAPES[shape]
    sure = []
    for seed in range(12):
        noise = colour(np.random.default_rng(seed).standard_normal((80, 1)), memory, np.ones(79))[:, 0]
        found = level(np.arange(80.0), far * np.linspace(0, 1, 80) + noise).draws
        rises = float(np.mean(found[:, -8:].mean(axis=1) > found[:, :8].mean(axis=1)))
        sure.append(rises > 0.975 or rises < 0.025)
    assert np.mean(sure) <= share if far == 0 else np.mean(sure) >= share


@pytest.mark.parametrize(("far", "n", "memory", "low", "high"), [(3.0, 30, 0.0, 0.7, 1.0), (0.0, 100, 0.7, 0.0, 0.2)])
def test_how_long_noise_may_remember_is_weighed(far: float, n: int, memory: float, low: float, high: float) -> None:
    """A step of three deviations in a short curve is seen, and long flat noise that remembers is none: neither at the other's cost."""
    sure = []
    for seed in range(20):
        noise = colour(np.random.default_rng(seed).standard_normal((n, 1)), memory, np.ones(n - 1))[:, 0]
        draws = level(np.arange(float(n)), np.where(np.arange(n) < n / 2, 0.0, far) + noise).draws
        above = float(np.mean(draws[:, -n // 10 :].mean(axis=1) > draws[:, 0]))
        sure.append(above > 0.95 or above < 0.05)
    assert low <= np.mean(sure) <= high


def test_what_leaves_the_first_point_at_once_is_a_break() -> None:
    """A score of .94 before training that is nothing ten steps on was lost, and was no accident of the first evaluation."""
    value = np.r_[0.94, np.abs(np.random.default_rng(3).normal(0, 0.01, 25))]
    found = course(Curve("eval/score/accuracy", "eval", "log", np.arange(26.0), value))
    assert found is not None
    assert (found.start > 0.8, found.fell) == (True, True)


@pytest.mark.parametrize(
    ("rows", "verdict"), [([13.4, 6.9, 6.2, 6.4], "undecidable"), ([0.1, 0.12, 0.5, 0.52, 0.7, 0.72, 0.9, 0.92], "improving")]
)
def test_four_rows_are_no_course(rows, verdict):
    """A fall from the first of four noisy rows is no collapse; eight rows that climb are progress."""
    run = make_run({"reward/mean": np.array(rows), "response/length": np.full(len(rows), 50.0)})
    assert assess(run).verdict == verdict


def test_the_words_mean_what_their_page_says() -> None:
    """A fifth lost is a decline, two fifths a collapse, a dip of three tenths is unstable; a rise to a late best is no plateau."""
    still = {"gone": 0.0, "rose": 1.0, "gained": 1.0, "still rises": 0.0, "best at": 0.5, "lost": 0.0, "deepest dip": 0.0}
    assert MEANS["degrading"](still | {"lost": 0.1}) == pytest.approx(0.5)
    assert MEANS["collapsed"](still | {"lost": 0.2}) == pytest.approx(0.5)
    assert MEANS["unstable"](still | {"deepest dip": 0.15}) == pytest.approx(0.5)
    assert MEANS["plateaued"](still | {"still rises": 1.0, "best at": 1.0}) == pytest.approx(0.1)
    assert [MEANS["improving"](still | {"best at": 1.0, "gone": gone}) for gone in (0.1, 0.3)] == pytest.approx([1.0, 0.1])
    assert (MEANS["improving"](still), MEANS["not_learning"](still), MEANS["plateaued"](still)) == (0.5, 0.0, 1.0)


@pytest.mark.parametrize("trailing", [0, 100])
@pytest.mark.parametrize("peak", [0.7, 0.8, 0.9])
def test_what_fell_by_two_fifths_to_its_end_is_not_improving(trailing: int, peak: float) -> None:
    """A mean over a hundred episodes that rose, came to its best late and then fell to the end."""
    u = np.linspace(0, 1, 60)
    value = 400 * np.where(u < peak, (u / peak) ** 2, 1 - 0.4 * (u - peak) / (1 - peak)) + 3 * np.sin(9 * np.arange(60))
    run = make_run({"reward/mean": value})
    told = assess(replace(run, curves={n: replace(c, trailing=trailing) for n, c in run.curves.items()}))
    assert told.verdict != "improving"
    assert "still rises" not in told.why
