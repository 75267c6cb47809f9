"""The solver that undoes a power sensor's averaging, against LAPACK's."""

import numpy as np
import pytest
from rl_advisor.features.power import _box_gram, solve_banded
from scipy.linalg import solveh_banded


@pytest.mark.parametrize(("rows", "cells"), [(1, 2), (15, 3), (300, 10), (500, 25)])
def test_the_banded_solver_is_lapacks(rows: int, cells: int) -> None:
    """With bands narrower and wider than a block, and lengths that no block divides."""
    bands = _box_gram(rows, cells)
    pull = np.random.default_rng(rows).uniform(0.01, 100, bands.shape[1] - 1)
    bands[0, :-1] += pull
    bands[0, 1:] += pull
    bands[1, :-1] -= pull
    right = np.arange(bands.shape[1], dtype=float)
    np.testing.assert_allclose(solve_banded(bands, right), solveh_banded(bands, right, lower=True), rtol=1e-8)
