"""What must not matter to a feature: the zero of the scale, its unit, its sign, and the units of the steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rl_advisor.curves.ahead import ahead
from rl_advisor.curves.course import course_of
from rl_advisor.features import TooFewPoints
from rl_advisor.features.bins import means
from rl_advisor.features.change import change_points, discontinuity, onset, spikes
from rl_advisor.features.trend import trend
from rl_advisor.run import Curve

QUICK = settings(max_examples=12, deadline=None, derandomize=True)
CURVES = st.builds(
    lambda seed, n, slope, jump: np.random.default_rng(seed).standard_normal(n) + slope * np.arange(n) / n + jump * (np.arange(n) > n / 2),
    st.integers(0, 10**6),
    st.integers(12, 60),
    st.floats(-5, 5),
    st.floats(-5, 5),
)
SHIFTS = st.floats(-100, 100)
SCALES = st.floats(0.01, 100)


def steps(value: np.ndarray) -> np.ndarray:
    """Unequal steps for a curve."""
    return np.cumsum(1.0 + np.arange(value.size) % 3)


@QUICK
@given(CURVES, SHIFTS, SCALES)
def test_trend_moves_with_scale_and_sign(value: np.ndarray, shift: float, scale: float) -> None:
    """Shift changes nothing, scale scales the slope and its interval, minus mirrors them."""
    step = steps(value)
    plain, moved, mirrored = trend(step, value), trend(step * 7 + 3, shift + scale * value), trend(step, -value)
    assert moved.slope * 7 / scale == pytest.approx(plain.slope, rel=1e-4, abs=1e-6)
    assert moved.low * 7 / scale == pytest.approx(plain.low, rel=1e-4, abs=1e-6)
    assert moved.p == pytest.approx(plain.p, rel=1e-4, abs=1e-8)
    assert (mirrored.low, mirrored.high) == pytest.approx((-plain.high, -plain.low), rel=1e-4, abs=1e-6)


@QUICK
@given(CURVES, SHIFTS, SCALES)
def test_breaks_move_with_scale_and_sign(value: np.ndarray, shift: float, scale: float) -> None:
    """Places of breaks stay; sizes scale; signs turn."""
    step = steps(value)
    plain, moved, mirrored = onset(step, value), onset(step, shift + scale * value), onset(step, -value)
    if plain is not None:
        assert (moved.kind, mirrored.kind) == (plain.kind, plain.kind)
        assert (moved.at, mirrored.at) == (plain.at, plain.at)
        assert moved.size / scale == pytest.approx(plain.size, rel=1e-4, abs=1e-6)
        assert mirrored.size == pytest.approx(-plain.size)
    else:
        assert moved is None and mirrored is None
    assert [c.step for c in change_points(step, shift + scale * value)] == [c.step for c in change_points(step, value)]


@QUICK
@given(CURVES, SHIFTS, SCALES)
def test_peaks_and_gains_move_with_scale(value: np.ndarray, shift: float, scale: float) -> None:
    """Levels, changes and what is foreseen scale."""
    step = steps(value)
    plain, moved = (course_of(Curve("made", "made", "made", step, v)) for v in (value, shift + scale * value))
    assert (moved.best - shift) / scale == pytest.approx(plain.best, rel=1e-3, abs=1e-3)
    assert (moved.last - moved.best) / scale == pytest.approx(plain.last - plain.best, rel=1e-3, abs=1e-3)
    end = step[-1] * 1.5
    assert ahead(moved, end).expected / scale == pytest.approx(ahead(plain, end).expected, rel=0.05, abs=1e-3)


@QUICK
@given(arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e6, 1e6)))
def test_the_smoother_stays_inside(value: np.ndarray) -> None:
    """It does not leave the range of the data."""
    slack = 1e-6 * (1 + np.abs(value).max())
    line = means(value, np.empty(0, np.intp))
    assert line.min() >= value.min() - slack
    assert line.max() <= value.max() + slack


AWKWARD = arrays(
    np.float64, st.integers(0, 40), elements=st.sampled_from([0.0, 1.0, 0.5, 1.0, -1.0, 1e-300, 1e12, float("nan"), float("inf")])
)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(AWKWARD)
def test_no_feature_answers_nan_or_breaks(value: np.ndarray) -> None:
    """Bounded, constant, huge, tiny and missing values give numbers or TooFewPoints, never NaN, a warning or another error."""
    step = np.arange(value.size, dtype=float)
    features = (
        trend,
        lambda s, v: onset(s, v) or discontinuity(s, v),
        discontinuity,
    )
    for feature in features:
        try:
            found = feature(step, value)
        except TooFewPoints:
            continue
        assert not any(isinstance(v, float) and np.isnan(v) for v in vars(found).values()), found
    for other in (change_points, spikes):
        try:
            other(step, value)
        except TooFewPoints:
            continue
