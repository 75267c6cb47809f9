"""Each number of a course's words, against what it is meant to be: change one and a test fails (``benchmarks/witnesses.py``)."""

import numpy as np
import pytest
from rl_advisor.curves.course import Course, course, course_of
from rl_advisor.features import TooFewPoints
from rl_advisor.run import Curve

WAVES = np.random.default_rng(3).standard_normal(1000)


def shape(value: np.ndarray) -> Course:
    """The course of values, a step apart."""
    found = course(Curve("reward/mean", "r", "f", np.arange(float(value.size)), value, mapped=True))
    assert found is not None
    return found


def of(n: int, low: float, high: float, noise: float) -> Course:
    """A curve that rises evenly, with noise."""
    return shape(np.linspace(low, high, n) + noise * WAVES[:n])


def test_where_it_starts_and_ends_is_a_twentieth_and_three_points_where_there_are_fifteen() -> None:
    for n, last in ((100, 5), (40, 3), (10, 2)):
        found = of(n, 3.0, 30.0, 0.5)
        assert found.start == pytest.approx(found.level.draws[:, : max(1, n // 20)].mean(), rel=1e-6)
        assert found.ends == pytest.approx(found.level.draws[:, -last:].mean(axis=1))


def test_what_matters_is_three_hundredths_of_the_scale() -> None:
    assert of(60, 0.2, 0.8, 0.01).margin == pytest.approx(0.03)
    found = of(60, 5.0, 25.0, 0.1)
    assert found.margin == pytest.approx(0.03 * found.scale)
    assert found.scale == pytest.approx(20, rel=0.1)


def test_a_rise_counts_from_two_points_of_a_share_and_a_twentieth_of_any_other_level() -> None:
    share, other = of(100, 0.4, 0.425, 0.01), of(100, 100.0, 105.0, 2.0)
    for found, least in ((share, 0.02), (other, 0.05 * other.start)):
        ends = found.level.draws[:, -10:].mean(axis=1)
        assert 0 < found.rise() < 1
        assert found.rise() == float(np.mean(ends - found.level.draws[:, 0] > least))


def test_one_point_scatters_as_it_was_drawn() -> None:
    assert of(400, 0.0, 10.0, 0.5).scatter == pytest.approx(0.5, rel=0.12)


def test_levels_are_equal_within_a_tenth_of_a_mean_of_five() -> None:
    found = of(80, 0.0, 50.0, 2.0)
    assert found.tie == pytest.approx(0.1 * found.level.noise / np.sqrt(5))


def test_long_curves_are_averaged_to_a_hundred_points_and_shown_by_512() -> None:
    found = of(1000, 0.0, 1.0, 0.1)
    assert found.level.step.size == 100
    assert of(500, 0.0, 1.0, 0.1).step.size == 500
    assert of(600, 0.0, 1.0, 0.1).step.size <= 512


def test_five_points_are_a_course() -> None:
    curve = Curve("reward/mean", "r", "f", np.arange(5.0), np.linspace(0.1, 0.5, 5), mapped=True)
    assert course_of(curve).best_step == 4
    with pytest.raises(TooFewPoints):
        course_of(curve.until(3))


def test_what_was_lost_is_of_a_quarter_of_the_level_at_least() -> None:
    """A curve at 100 that sinks by 4 has lost 4 of 25, not all that it ever rose."""
    found = shape(100 + 0.01 * WAVES[:60] - np.maximum(0, np.arange(60.0) - 40) / 5)
    assert found.lost == pytest.approx((found.best - found.last) / 25, rel=0.01)
    assert 0.1 < found.lost < 0.2


def test_the_gain_is_of_fifths_and_the_last_third_has_three_points() -> None:
    found = of(100, 0.0, 10.0, 1.0)
    assert found.gain.low == pytest.approx(
        np.quantile(found.level.draws[:, -20:].mean(axis=1) - found.level.draws[:, :20].mean(axis=1), 0.025)
    )
    assert found.recent_first == 67
    assert of(6, 0.0, 10.0, 1.0).recent_first == 3


@pytest.mark.parametrize(
    ("n", "hits", "touches"),
    [(100, (-20, -19), True), (100, (-20,), False), (100, (-22, -21), False), (10, (-5,), True), (10, (-6,), False)],
)
def test_the_ceiling_is_touched_by_a_tenth_of_the_last_fifth(n: int, hits: tuple[int, ...], touches: bool) -> None:
    value = 0.9 + 0.05 * np.where(np.arange(n) % 2, 1, -1)
    value[: n // 2] -= 0.3
    value[list(hits)] = 1.0
    assert shape(value).touches_ceiling == touches


@pytest.mark.parametrize(("last", "fell"), [(0.63, False), (0.5, True)])
def test_a_fall_is_deeper_than_a_dip_that_it_came_back_from(last: float, fell: bool) -> None:
    """A dip of .4 came back: a fall of about as much is one more, one of .55 is none."""
    marks = [(0, 0.1), (30, 1.0), (45, 0.6), (60, 1.05), (80, last), (100, last)]
    value = np.interp(np.arange(100.0), *zip(*marks, strict=True)) + 0.005 * WAVES[:100]
    assert shape(value).fell == fell


@pytest.mark.parametrize(("low", "noise"), [(0.48, 0.002), (0.4, 0.1)], ids=["half of the range", "six times the noise"])
def test_a_drop_in_one_step_is_a_break(low: float, noise: float) -> None:
    """Levels on one side of it know nothing of the other."""
    found = shape(np.r_[np.linspace(0.0, 1.0, 50), np.full(50, low)] + noise * WAVES[:100])
    assert found.levels[48] > 0.93
    assert found.levels[50] < low + 0.05
