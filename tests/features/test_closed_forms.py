"""Features of curves, against values that can be worked out by hand."""

import numpy as np
import pytest
from evals.remembering import colour
from rl_advisor.curves.ahead import ahead
from rl_advisor.curves.course import Course, course_of
from rl_advisor.curves.pace import pace
from rl_advisor.features import TooFewPoints
from rl_advisor.features.autoregression import spacing, whiten
from rl_advisor.features.bins import means, reduce
from rl_advisor.features.change import change_points, discontinuity, onset, spikes
from rl_advisor.features.series import ranks
from rl_advisor.features.trend import Trend, direction, trend
from rl_advisor.run import Curve

STEP = np.arange(120.0) * 5
NOISE = np.random.default_rng(0).standard_normal(120)


def test_bins_hold_every_point_once() -> None:
    """Counts add up, edges are the first and last steps, and the mean of means weighed by count is the mean."""
    value = np.arange(1000.0)
    bins = reduce(np.arange(1000.0), value, most=7)
    assert bins.step.size == 7
    assert (bins.low <= bins.median).all() and (bins.median <= bins.high).all()
    assert bins.median[0] == pytest.approx(np.median(value[:142]))


def test_missing_values_are_dropped_and_short_curves_refused() -> None:
    """NaN counts as no point; a feature says so when too few are left."""
    value = np.array([1.0, np.nan, 2.0, np.nan, 3.0])
    assert trend(np.arange(5), value).n == 3
    for feature in (trend, onset, change_points, discontinuity, spikes):
        with pytest.raises(TooFewPoints, match="2 finite points"):
            feature(np.arange(4), np.array([1.0, np.nan, np.nan, 2.0]))
    with pytest.raises(ValueError, match="strictly increasing"):
        trend([0, 2, 1], [1, 2, 3])
    with pytest.raises(ValueError, match="one length"):
        trend([0, 1], [1, 2, 3])


def test_means_follow_a_line_and_stay_on_their_side_of_a_break() -> None:
    """A straight line stays as it is away from the ends; no mean reaches across a break."""
    line = STEP * 0.1
    assert means(line, np.empty(0, np.intp))[12:-12] == pytest.approx(line[12:-12])
    step = np.where(STEP < 300, 1.0, 5.0)
    assert means(step, np.array([60])) == pytest.approx(step)


def test_slope_of_a_noiseless_line_is_exact() -> None:
    """A perfect line has its slope, a p-value of next to nothing and no width."""
    found = trend(STEP, 3 + 0.25 * STEP)
    assert (found.slope, found.low, found.high) == pytest.approx((0.25, 0.25, 0.25), abs=1e-6)
    assert found.p < 1e-6
    assert found.span == STEP[-1]


def test_constant_curves_have_zero_slope_of_zero_width() -> None:
    """No feature answers NaN on a curve without variance, and none sees anything."""
    value = np.full(120, 0.3)
    found = trend(STEP, value)
    assert (found.slope, found.low, found.high, found.p, found.detectable) == (0, 0, 0, 1, 0)
    assert direction(found, 0) == "flat"
    assert onset(STEP, value) is None
    assert change_points(STEP, value) == ()
    assert discontinuity(STEP, value).ratio == 1
    assert spikes(STEP, value).steps.size == 0
    assert ahead(measured(value), 1000).pays == 0


@pytest.mark.parametrize(
    ("low", "high", "margin", "expected"),
    [
        (-1, 1, 2, "flat"),
        (0.1, 1, 2, "flat"),
        (0.1, 3, 2, "rising"),
        (-3, -0.1, 2, "falling"),
        (-3, 1, 2, "undecidable"),
        (-3, 3, 2, "undecidable"),
        (0, 0, 0, "flat"),
        (-1, 1, 0, "undecidable"),
    ],
)
def test_direction_asks_for_equivalence_first(low: float, high: float, margin: float, expected: str) -> None:
    """Flat is measured: the whole interval lies inside the margin; insignificance alone is no answer."""
    assert direction(Trend(0, low, high, 0.01, 10, 0, 1, 1), margin) == expected


def test_a_direction_must_hold_against_long_memory() -> None:
    """An interval without zero is no direction while noise of long memory may have made it."""
    assert direction(Trend(0, 0.1, 3, 0.2, 10, 0, 1, 1), 2) == "undecidable"


def test_direction_refuses_a_negative_margin() -> None:
    """A margin below zero is the caller's mistake."""
    with pytest.raises(ValueError, match="margin"):
        direction(trend(STEP, NOISE), -1)


def test_whitening_and_colouring_are_inverse() -> None:
    """Colour undoes whiten on unequal steps."""
    step = np.cumsum(1 + np.random.default_rng(1).integers(0, 4, 50)).astype(float)
    series = np.random.default_rng(2).standard_normal((50, 3))
    assert colour(whiten(series, 0.7, spacing(step)), 0.7, spacing(step)) == pytest.approx(series)


def test_coloured_noise_has_the_memory_asked_for() -> None:
    """Lag-one correlation and variance are those of the definition."""
    series = colour(np.random.default_rng(3).standard_normal((50, 20000)), 0.8, np.ones(49))
    assert series.var() == pytest.approx(1, abs=0.03)
    assert (series[1:] * series[:-1]).mean() == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(
    ("kind", "mean"),
    [("step", 4.0 * (STEP >= 300)), ("hinge", np.maximum(STEP - 300, 0) / 30)],
)
def test_onset_names_kind_and_place(kind: str, mean: np.ndarray) -> None:
    """Each kind of break is told from the others and found within a twentieth of the run; noise alone is none."""
    found = onset(STEP, mean + NOISE)
    assert found is not None and found.kind == kind
    assert found.low <= found.at <= found.high
    assert found.at == pytest.approx(300, abs=30) and found.size > 0
    assert onset(STEP, NOISE) is None


def test_change_points_find_both_levels_and_no_outlier() -> None:
    """Two shifts are found in order; a single wild point is none."""
    value = 5 + 5.0 * (STEP >= 200) - 8 * (STEP >= 400) + NOISE
    value[20] = 60
    found = change_points(STEP, value)
    assert [c.step for c in found] == pytest.approx([200, 400], abs=5)
    assert found[0].after / found[0].before == pytest.approx(2, abs=0.2)


@pytest.mark.parametrize("ratio", [2.0, 0.5])
def test_discontinuity_measures_the_ratio(ratio: float) -> None:
    """A loss that doubles or halves beside a steady decay gives that ratio at that place."""
    loss = np.exp(-STEP / 400 + 0.1 * NOISE) * np.where(STEP >= 300, ratio, 1)
    found = discontinuity(STEP, loss)
    assert found.at == pytest.approx(300, abs=5)
    assert found.low < ratio < found.high
    assert found.high / found.low < 1.4
    assert found.p < 1e-6


def test_spikes_need_size_as_well_as_deviations() -> None:
    """A tight series with a small bump has no spike; a tenfold point is one, and whether it recovered is told."""
    value = 1 + 1e-4 * NOISE
    value[50] = 1.5
    assert spikes(STEP, value).steps.size == 0
    value[50], value[-1] = 10, 20
    found = spikes(STEP, value)
    assert found.steps.tolist() == [250, 595]
    assert found.sizes == pytest.approx([10, 20], rel=0.01)
    assert found.recovered.tolist() == [True, False]


def measured(value: np.ndarray) -> Course:
    """The course of a curve at the usual steps."""
    return course_of(Curve("reward/mean", "reward", "made", STEP, value))


def test_peak_of_a_tent_and_of_a_rise() -> None:
    """A tent peaks at its top and falls; a rise does not; one bad last point is no decline."""
    tent = np.minimum(STEP, 600 - STEP) / 100 + 0.1 * NOISE
    found = measured(tent)
    assert abs(found.best_step - 300) < 15
    assert found.fell
    assert -3.3 < found.last - found.best < -2.4
    rise = STEP / 100 + 0.1 * NOISE
    assert not measured(rise).fell
    rise[-1] = 0
    assert not measured(rise).fell


@pytest.mark.parametrize(
    ("mean", "margin", "sign", "expected"),
    [
        (np.minimum(STEP, 300), 30, 1, "stopped"),
        (np.minimum(STEP, 300) + 0.3 * np.maximum(STEP - 300, 0), 10, 1, "slowing"),
        (np.maximum(STEP, 300), 10, 1, "accelerating"),
        (np.minimum(STEP, 600 - STEP), 10, 1, "reversed"),
        (STEP, 300, 1, "steady"),
        (-np.minimum(STEP, 300), 30, -1, "stopped"),
    ],
)
def test_pace_of_two_lines(mean: np.ndarray, margin: float, sign: int, expected: str) -> None:
    """Every pace is recognised, with the sign of what is better."""
    assert pace(measured(mean + 5 * NOISE), margin, sign) == expected


def test_a_collapse_is_no_memory() -> None:
    """A sudden and lasting fall is a decline and no slow noise; what lies flat after it has stopped, not accelerated."""
    fallen = np.where(STEP < 300, 0.9, 0.0) + 0.02 * NOISE
    assert measured(fallen).fell
    assert pace(measured(np.maximum(300 - STEP, 0) + 5 * NOISE), 30) == "stopped"


def test_a_smooth_rise_has_an_onset() -> None:
    """A sigmoid is neither a step nor a kink nor nothing."""
    found = onset(STEP, 1 / (1 + np.exp(-(STEP - 300) / 30)) + 0.02 * NOISE)
    assert found is not None
    assert 200 < found.at < 350


def test_pace_is_undecidable_in_noise() -> None:
    """Noise without a margin is neither steady nor changing."""
    assert pace(measured(NOISE), 0) == "undecidable"


def test_gain_of_a_line_and_of_a_plateau() -> None:
    """A line promises as much again and pays; a long plateau, the past and a fall do not."""
    line = ahead(measured(STEP / 100 + 0.1 * NOISE), 1190)
    assert 0.5 < line.expected < 6 and line.pays > 0.9
    assert ahead(measured(3 + 0.1 * NOISE), 1190).pays < 0.3
    assert ahead(measured(-STEP / 100 + 0.1 * NOISE), 1190).pays < 0.1
    assert ahead(measured(STEP), 300).expected == 0


def test_going_on_pays_from_an_eighth_of_the_scale_on() -> None:
    """A line gains on what its fading pace leaves; that pays where it is more than four of the smallest changes that matter."""
    line = measured(np.linspace(0, 10, STEP.size))
    foreseen = [ahead(line, float(STEP[-1]) * more) for more in (1.05, 1.1, 1.3)]
    assert [f.pays > 0.5 for f in foreseen] == [False, False, True]
    assert foreseen[2].expected == pytest.approx(5 * (1 - np.exp(-0.6)), abs=0.3)
    assert foreseen[2].gain == pytest.approx(foreseen[2].expected / foreseen[2].pays)
    share = ahead(measured(np.linspace(0, 0.97, STEP.size)), float(STEP[-1]) * 1.3)
    assert share.pays == 0
    assert share.expected < 0.04


def test_ranks_share_ties() -> None:
    """Equal values share the mean of their ranks."""
    assert ranks(np.array([10.0, 20.0, 10.0])).tolist() == [1.5, 3, 1.5]
