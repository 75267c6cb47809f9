"""What was made quick says what the slow way said, and what is set for a while is set back."""

import numpy as np
import pytest
from rl_advisor.detectors.update_too_large import first_above
from rl_advisor.judgement.one_thread import OneThread, _control
from rl_advisor.run import Curve


@pytest.mark.parametrize("size", range(7))
def test_the_running_median_is_that_of_its_neighbours(size):
    """Of three values, at both ends of two, for any level between them."""
    value = np.random.default_rng(size).normal(size=size)
    middle = [np.median(np.abs(value[max(0, i - 1) : i + 2])) for i in range(size)]
    curve = Curve("kl/old", "kl", "x", np.arange(float(size)), value)
    for level in (0.0, 0.5, 1.0, 2.0):
        first = next((i for i, m in enumerate(middle) if m > level), None)
        found = first_above(curve, level)
        assert (found and found.step) == first


def test_threads_are_given_back_by_the_last_who_judges():
    """Two at a time, then none: numpy has the threads that it had."""
    if (control := _control()) is None:
        pytest.skip("numpy brought another library")
    told, set_ = control
    before = told()
    try:
        set_(2)
        with OneThread():
            with OneThread():
                assert told() == 1
            assert told() == 1
        assert told() == 2
    finally:
        set_(before)
