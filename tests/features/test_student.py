"""Student's t and the normal against scipy, from heavy tails to nearly normal ones, and near both ends."""

import numpy as np
import pytest
from rl_advisor.features.student import below, normal_quantile, quantile
from scipy.special import ndtri, stdtr, stdtrit

FREEDOMS = [1, 1.3, 2, 3.5, 5, 10, 19.9, 20, 30, 100, 1000, 1e5]


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_the_share_below_is_scipys(freedom: float) -> None:
    """Over eleven decades of values on both sides."""
    far = np.geomspace(1e-6, 1e5, 120)
    value = np.concatenate([-far, [0.0], far])
    np.testing.assert_allclose(below(freedom, value), stdtr(freedom, value), atol=1e-9)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_the_quantile_is_scipys(freedom: float) -> None:
    """Also on the lower side, which mirrors the upper one."""
    for share in (0.001, 0.1, 0.6, 0.8, 0.975, 0.995, 0.9995):
        assert quantile(freedom, share) == pytest.approx(stdtrit(freedom, share), rel=1e-6)


def test_the_ends_are_infinite_and_no_error() -> None:
    """A share of nothing or of all."""
    assert quantile(5, 0) == normal_quantile(0) == -np.inf
    assert quantile(5, 1) == normal_quantile(1) == np.inf
    assert np.isnan(below(5, np.nan))
    assert normal_quantile(0.975) == pytest.approx(ndtri(0.975))
