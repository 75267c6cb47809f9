"""The numbers of the scorer against values worked out by hand."""

import numpy as np
import pytest
from evals.lab.agreement import kappa
from hypothesis import given
from hypothesis import strategies as st
from rl_advisor.evals import scoring

A = frozenset


def floats(*values: float) -> scoring.Floats:
    return np.array(values, dtype=np.float64)


def bools(*values: bool | int) -> scoring.Bools:
    return np.array(values, dtype=np.bool_)


def test_macro_f1_shares_a_miss_over_the_admitted_classes():
    """One hit of a (F1 2/3 after half a miss), one of b (F1 1 or less by the false positive), worked out by hand."""
    said = ["a", "b", "b"]
    sets = [A({"a"}), A({"b"}), A({"a", "c"})]
    # a: tp 1, fp 0, fn 1/2 -> 2/2.5; b: tp 1, fp 1, fn 0 -> 2/3; c: tp 0, fn 1/2 -> 0
    assert scoring.macro_f1(said, sets) == pytest.approx((2 / 2.5 + 2 / 3 + 0) / 3)


def test_macro_f1_of_single_classes_is_the_usual_one():
    """With one admitted class each it is the F1 of the textbook, over the classes that occur as truth."""
    said, sets = ["x", "x", "y", "z"], [A({"x"}), A({"y"}), A({"y"}), A({"y"})]
    assert scoring.macro_f1(said, sets) == pytest.approx((2 / 3 + 2 / 4) / 2)


@pytest.mark.parametrize(
    ("truth", "p", "value"),
    [
        (bools(1, 1, 0, 0), floats(0.9, 0.8, 0.2, 0.1), 1.0),
        (bools(1, 1, 0, 0), floats(0.1, 0.2, 0.8, 0.9), 0.0),
        (bools(1, 0), floats(0.5, 0.5), 0.5),
        (bools(1, 1, 0, 0), floats(0.9, 0.5, 0.5, 0.1), 3.5 / 4),
    ],
)
def test_auroc(truth, p, value):
    """Pairs in the right order count one, ties half."""
    assert scoring.auroc(truth, p) == pytest.approx(value)


def test_undefined_is_nan():
    """A metric that the data do not define is NaN, so that it cannot pass for a score."""
    only = bools(1, 1)
    assert np.isnan([scoring.auroc(only, floats(0.1, 0.2)), scoring.balanced_accuracy(only, only), scoring.macro_f1([], [])]).all()
    assert np.isnan([scoring.brier(bools(), floats()), scoring.checkpoint_regret(floats(), floats(), 3.0)]).all()


def test_balanced_accuracy_weighs_both_kinds_alike():
    """Three of four true cases and one of two false ones: (3/4 + 1/2) / 2."""
    assert scoring.balanced_accuracy(bools(1, 1, 1, 1, 0, 0), bools(1, 1, 1, 0, 1, 0)) == pytest.approx(0.625)


def test_brier_and_calibration_error():
    """Worked out by hand: squared distances, and one bin at 0.8 that is right three times of four."""
    assert scoring.brier(bools(1, 0), floats(0.8, 0.4)) == pytest.approx((0.04 + 0.16) / 2)
    assert scoring.calibration_error(bools(1, 1, 1, 0), floats(0.8, 0.8, 0.8, 0.8)) == pytest.approx(0.05)
    assert scoring.calibration_error(bools(1, 0), floats(1.0, 0.0)) == 0.0


@pytest.mark.parametrize(
    ("gain", "goes_on", "price", "lost"),
    [
        (0.3, True, 0.4, 0.0),  # worth 0.3 - 0.4/2 = 0.1: right to go on
        (0.3, False, 0.4, 0.1),
        (0.3, True, 0.8, 0.1),  # worth -0.1: should have stopped
        (0.3, False, 0.8, 0.0),
        (-0.5, True, 0.2, 0.1),  # a fall costs only the compute: the earlier checkpoint is still there
    ],
)
def test_price_regret(gain, goes_on, price, lost):
    """Regret is what the better call would have brought, with half of the budget still to come."""
    assert scoring.price_regret(gain, 0.5, goes_on, price) == pytest.approx(lost)


def test_regret_area_of_a_constant_is_the_constant():
    """The mean over the logarithm of the price."""
    assert scoring.regret_area([0.3] * len(scoring.PRICES)) == pytest.approx(0.3)


STEPS = np.arange(0.0, 110.0, 10.0)
PEAK = 1.0 - np.abs(STEPS - 50) / 50
"""A triangle with its peak at step 50; smoothed, its top is 0.76 and its first value 0, its last 0.2."""


@pytest.mark.parametrize(
    ("chosen", "until", "regret"),
    [
        (50, np.inf, 0.0),
        (0, np.inf, 1.0),
        (None, np.inf, 0.56 / 0.76),  # no choice: the last checkpoint is kept
        (100, np.inf, 0.56 / 0.76),
        (30, 30, 0.0),  # the best so far
        (90, 30, 0.0),  # a step after the cut stands for the last one
    ],
)
def test_checkpoint_regret(chosen, until, regret):
    """Distance from the best smoothed score so far over the range of the whole run."""
    assert scoring.checkpoint_regret(STEPS, PEAK, chosen, until) == pytest.approx(regret)


def test_checkpoint_regret_of_a_still_run_is_nothing():
    """Where the score never moves, no choice is worse than another, and a loss within a standard error is a tie."""
    assert scoring.checkpoint_regret(STEPS, np.zeros(11), 40) == 0.0
    noisy = np.tile([0.5, 0.52], 6)[:11]
    assert scoring.checkpoint_regret(STEPS, noisy, 40) == 0.0


def test_bootstrap_draws_whole_families():
    """No sample holds a part of a family, and the same seed gives the same samples."""
    samples = scoring.resamples(["a", "a", "b", "c", "c"], 50)
    for rows in samples:
        counts = np.bincount(rows, minlength=5)
        assert counts[0] == counts[1]
        assert counts[3] == counts[4]
        assert counts[[0, 2, 3]].sum() == 3
    assert all((x == y).all() for x, y in zip(samples, scoring.resamples(["a", "a", "b", "c", "c"], 50), strict=True))


def test_interval():
    """The interval of a mean lies about it."""
    ours = floats(0.9, 0.3, 0.6)
    low, high = scoring.interval(lambda i: float(ours[i].mean()), scoring.resamples(["a", "b", "c"], 200))
    assert 0.3 <= low < 0.6 < high <= 0.9


pairs = st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=2, max_size=30)


@given(pairs)
def test_auroc_turns_round(cases):
    """Turning the probabilities round turns the score round, and it stays between 0 and 1."""
    truth, p = bools(*[t for t, _ in cases]), floats(*[np.round(x, 3) for _, x in cases])
    value = scoring.auroc(truth, p)
    if not np.isnan(value):
        assert 0 <= value <= 1
        assert scoring.auroc(truth, 1 - p) == pytest.approx(1 - value)


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0.01, 1))
def test_one_of_two_calls_has_no_regret(gain, remaining, price):
    """Of going on and stopping, one is right at every price, and regret is never negative."""
    lost = [scoring.price_regret(gain, remaining, call, price) for call in (True, False)]
    assert min(lost) == 0
    assert max(lost) >= 0


@given(st.lists(st.floats(0, 1), min_size=3, max_size=40), st.integers(0, 50))
def test_regret_lies_between_nothing_and_everything(scores, chosen):
    """Whatever the scores and the choice are."""
    steps = np.arange(len(scores), dtype=np.float64)
    assert 0 <= scoring.checkpoint_regret(steps, floats(*scores), chosen) <= 1 + 1e-9


def test_order_of_onsets():
    """Runs whose true intervals overlap are not asked; a swap costs its pair, a tie half of it."""
    low, high = np.array([0.1, 0.15, 0.5]), np.array([0.2, 0.25, 0.6])
    said = [[0.1, 0.2, 0.5], [0.9, 0.2, 0.5], [0.5, 0.2, 0.5]]
    assert [scoring.order_accuracy(np.array(s), low, high) for s in said] == [1.0, 0.5, 0.75]
    assert np.isnan(scoring.order_accuracy(np.array([0.1]), low[:1], high[:1]))


def test_kappa():
    """Full agreement is 1, agreement by chance 0, and where there is nothing to disagree about it is not defined."""
    assert kappa(list("aabb"), list("aabb")) == 1
    assert kappa(list("aabb"), list("abab")) == 0
    assert kappa(list("aabb"), list("bbaa")) == -1
    assert np.isnan(kappa(list("aa"), list("aa")))
    assert np.isnan(kappa([], []))
