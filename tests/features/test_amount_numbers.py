"""Each number of the amounts, of what lies ahead and of the level's priors: change one and a test fails (``benchmarks/witnesses.py``)."""

from typing import Any

import numpy as np
import pytest
from rl_advisor.curves import ahead, goal
from rl_advisor.curves.amounts import amounts
from rl_advisor.curves.course import course
from rl_advisor.curves.level import Level, level
from rl_advisor.features.series import scatter
from rl_advisor.run import Curve, Run

WAVES = np.random.default_rng(4).standard_normal(1000)


def of(course_: Any, value: Any = None, noise: float = 0.0, top: int | None = None) -> dict[str, float]:
    """The amounts of one course without luck, of points that cover what it covers unless others are given."""
    line = np.asarray(course_, float)
    points = line if value is None else np.asarray(value, float)
    return amounts(Level(np.arange(float(line.size)), points, np.tile(line, (3, 1)), noise), int(line.argmax()) if top is None else top)


def level_then(n: int, tail: list[float]) -> list[float]:
    """Ones, and a tail behind them."""
    return [0.0, *[1.0] * (n - 1 - len(tail)), *tail]


def test_a_course_that_hardly_moves_among_its_points_has_half_of_their_range() -> None:
    line = np.full(40, 0.2)
    line[-10:] = 0.0
    assert of(line, np.linspace(0, 1, 40))["lost"] == pytest.approx(0.2 / 0.5)


@pytest.mark.parametrize(("moves", "share"), [(0.05, 1.0), (0.03, 0.0)])
def test_the_last_third_moves_from_four_hundredths_on(moves: float, share: float) -> None:
    line = np.concatenate([[0.0, 1.0], np.full(59, 0.5), 0.5 + moves * np.linspace(0, 1, 31)])
    assert of(line)["still rises"] == share
    assert of(1 - line)["falls lately"] == share


@pytest.mark.parametrize(("rise", "noise", "share"), [(0.06, 0.0, 1.0), (0.04, 0.0, 0.0), (0.06, 0.1, 1.0), (0.06, 0.13, 0.0)])
def test_a_gain_is_a_twentieth_of_the_range_and_half_the_scatter(rise: float, noise: float, share: float) -> None:
    line = np.array([*[1 - rise] * 10, *[0.0] * 20, *[1.0] * 20])
    assert [of(line, noise=noise, top=40)[name] for name in ("rose", "gained")] == [share, share]


def test_points_are_cut_in_quarters_and_three_errors_are_far() -> None:
    quarters = np.repeat([0.0, 0.3, 0.1, 0.0], 25) + 0.5 * WAVES[:100]
    error = np.sqrt(4 / 100) * scatter(quarters)
    mean = quarters.reshape(4, 25).mean(axis=1)
    told = of(quarters)
    assert told["fall"] == pytest.approx((mean[1] - mean[3]) / error)
    assert told["record"] == pytest.approx((mean[3] - mean[1]) / error)
    assert of(np.repeat([0.0, 9.0, 9.0, 0.0], 25) + 0.5 * WAVES[:100])["fall"] == 3.0


def test_three_tenths_lost_are_all_given_back() -> None:
    assert of(level_then(40, [0.85] * 8))["given back"] == pytest.approx(0.15 / 0.3)


def test_what_is_no_share_has_no_level_of_its_own() -> None:
    assert of([0.0, 3.0, 3.0])["share at the end"] == 0.5
    assert of([0.0, 0.9, 0.9])["share at the end"] == pytest.approx(0.9)


def test_the_end_that_lost_is_a_tenth_and_what_is_gone_three_points_or_a_twentieth() -> None:
    assert of(level_then(40, [0.6, 0.4, 0.2, 0.0]))["lost"] == pytest.approx(1 - np.mean([0.6, 0.4, 0.2, 0.0]))
    for n, last in ((10, 2), (40, 3), (100, 5)):
        tail = [0.9, 0.7, 0.5, 0.3, 0.1]
        assert of(level_then(n, tail))["gone"] == pytest.approx(1 - np.mean(tail[-last:]))


def test_it_starts_over_a_twentieth_and_ends_over_a_tenth() -> None:
    """Of forty points two and four, of which a mean decides."""
    assert of([0.0, 0.2, *[1.0] * 18, *[0.0] * 16, 0.0, 0.2, 0.4, 0.2])["gained"] == 1.0
    assert of([0.0, 0.4, *[1.0] * 18, *[0.0] * 16, 0.5, 0.3, 0.1, 0.0])["gained"] == 0.0
    assert of([0.0, 0.2, *[1.0] * 18, *[0.0] * 16, 0.5, 0.5, 0.0, 0.0])["gained"] == 1.0
    assert of([0.0, *[1.0] * 19, *[0.0] * 17, 0.02, 0.02, 0.02])["gained"] == 0.0


def test_of_few_points_the_last_three_are_late() -> None:
    assert of([0.0, 1.0, 0.0, 0.5, 0.0])["still rises"] == 0.0
    assert of([1.0, 0.0, 0.0, 0.1, 0.2])["still rises"] == 1.0


def test_the_second_half_is_beside_the_first() -> None:
    assert of([0.0, 0.5, 0.6, 0.7, 0.8, 1.0, 0.9])["second half"] == pytest.approx(0.3)
    assert of([0.0, 0.9, 0.6, 0.7, 1.0, 0.8, 0.9])["second half"] == pytest.approx(0.1)


def shape(value: Any) -> Any:
    """The course of values, a step apart."""
    return course(Curve("reward/mean", "r", "f", np.arange(float(len(value))), np.asarray(value, float), mapped=True))


def test_going_on_pays_from_four_of_the_smallest_changes_on() -> None:
    found = shape(np.linspace(0, 10, 60) + 0.3 * WAVES[:60])
    paths, top = ahead.continued(found, 80.0), found.level.draws.max(axis=1)
    assert paths.shape[1] == 16
    above = paths.max(axis=1) - top
    told = ahead.ahead(found, 80.0)
    assert 0.02 < told.pays < 0.98
    assert told.pays == (above > 4 * found.margin).mean()
    assert (told.pays, told.expected) != (0.0, 0.0)


def test_the_pace_is_that_of_the_last_third_of_at_least_three_points() -> None:
    line = np.concatenate([np.zeros(40), np.linspace(0, 2, 20) ** 2])
    found = shape(line)
    draws, x = found.level.draws[:, -20:], found.level.step[-20:] - found.level.step[-20:].mean()
    pace, fades = float((draws @ x / (x @ x)).mean()), 59 / 2
    assert ahead.continued(found, 79.0)[:, -1].mean() == pytest.approx(
        found.ends.mean() + pace * fades * (1 - np.exp(-20 / fades)), rel=0.02
    )
    few = shape([0.0, 0.0, 0.0, 0.5, 2.0])
    slope = float((few.level.draws[:, -1] - few.level.draws[:, -3]).mean() / 2)
    gained = ahead.continued(few, 104.0)[:, 0].mean() - few.ends.mean()
    assert gained == pytest.approx(slope * 2 * (1 - np.exp(-100 / 16 / 2)), abs=0.12)


@pytest.mark.parametrize(("pays", "expected", "gain"), [(0.5, 0.01, 0.05), (0.5, 0.03, 0.06), (0.1, 0.1, 0.5)])
def test_a_gain_is_a_twentieth_at_least_and_its_chance_a_fifth(pays: float, expected: float, gain: float) -> None:
    assert ahead.Ahead(pays, expected).gain == pytest.approx(gain)


@pytest.mark.parametrize(("aim", "says"), [(11.0, "likely gets there"), (13.2, "may get there"), (30.0, "hardly gets there")])
def test_a_goal_is_likely_from_three_quarters_on(aim: float, says: str) -> None:
    """Looked for a third of the steps ahead where no plan is known."""
    value = np.linspace(0, 10, 61) + 0.8 * WAVES[:61]
    run = Run("r", curves={"reward/mean": Curve("reward/mean", "r", "f", np.arange(61.0), value, mapped=True)}, goal=aim)
    told = goal.said(run)
    assert says in told
    assert "by step 80" in told


@pytest.mark.parametrize(
    ("aim", "says"),
    [(0.012, "0.012 is reached"), (0.008, "0 is reached"), (13.261, "13.3 is not reached"), (9.5, "9.5 was reached (9.98 at step")],
)
def test_a_goal_is_told_in_three_digits_and_a_thousandth_of_the_scale_is_nothing(aim: float, says: str) -> None:
    up = np.linspace(0, 10, 61)
    value = np.concatenate([up, up[::-1][:20]]) if aim == 9.5 else up
    steps = np.arange(float(value.size))
    run = Run("r", curves={"reward/mean": Curve("reward/mean", "r", "f", steps, value, mapped=True)}, goal=aim)
    assert goal.said(run).startswith(says), goal.said(run)


CURVES = {
    "stands": 2.0 + WAVES[:40],
    "rises": np.linspace(0, 4, 40) + 0.5 * WAVES[40:80],
    "remembers": np.convolve(WAVES[80:130], 0.7 ** np.arange(8))[:50],
    "breaks, and one point far off": np.array([*np.zeros(15), 9.0, *np.zeros(10), *np.full(15, 5.0)]) + 0.2 * WAVES[130:171],
    "moves with every point": np.cumsum(WAVES[300:340]),
    "nearly still": 5 + 1e-3 * np.arange(30.0) + 1e-2 * WAVES[340:370],
    "three points": np.array([1.0, 2.0, 1.5]),
    "four points": np.array([1.0, 2.0, 1.5, 3.0]),
}
FAR_APART = np.cumsum(np.r_[0, np.where(np.arange(29) == 14, 100.0, 1.0)])
"""Steps of thirty points with a hole in their middle."""
TOGETHER = np.cumsum(np.r_[0, np.where(np.arange(29) % 3 == 0, 0.01, 1.0)])
"""Steps of thirty points of which every third comes at once behind another."""
DRAWN = [
    ("stands", None, [1.8886, 1.8747, 1.8785, 0.2202, 0.1855, 1.0638]),
    ("rises", None, [0.3279, 2.308, 3.1858, 0.2662, 0.2354, 0.3137]),
    ("remembers", None, [-0.8162, 1.5408, 2.5364, 0.427, 0.4529, 0.2052]),
    ("breaks, and one point far off", None, [0.044, 0.3587, 4.8906, 0.6775, 0.5744, 0.297]),
    ("moves with every point", None, [-0.8313, -4.907, -4.7055, 0.3181, 0.3221, 0.2664]),
    ("nearly still", None, [5.0098, 5.0156, 5.0226, 0.0056, 0.0038, 0.0078]),
    ("nearly still", FAR_APART, [5.0104, 5.0158, 5.0217, 0.0052, 0.0037, 0.008]),
    ("nearly still", TOGETHER, [5.0097, 5.0154, 5.0234, 0.0048, 0.0036, 0.0081]),
    ("three points", None, [1.3907, 1.5413, 1.4903, 0.3539, 0.3346, 0.5793]),
    ("four points", None, [1.634, 1.7986, 2.0601, 0.6387, 0.664, 0.7347]),
]


@pytest.mark.parametrize(("name", "step", "told"), DRAWN)
def test_the_courses_are_those_of_the_stated_priors(name: str, step: Any, told: list[float]) -> None:
    """First, middle and last level, how far the courses differ at first and in the mean, and the noise.

    No formula gives these: whoever changes a prior on purpose writes them anew and says in docs/log.md what it brought on real curves.
    """
    value = CURVES[name]
    found = level(np.arange(float(value.size)) if step is None else step, value)
    draws, middle = found.draws, found.mean
    assert draws.shape == (160, value.size)
    now = [middle[0], middle[value.size // 2], middle[-1], draws.std(axis=0)[0], draws.std(axis=0).mean(), found.noise]
    assert now == pytest.approx(told, abs=1e-3 * float(np.std(value)) + 6e-5)
