"""What is set for a while to be quick is set back."""

import pytest
from rl_advisor.judgement.one_thread import OneThread, _control


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
