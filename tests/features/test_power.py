"""The averaging of a power sensor, undone."""

import numpy as np
import pytest
from rl_advisor.features.power import deconvolved


@pytest.mark.parametrize(("rows", "cells"), [(300, 2), (600, 10), (500, 20)])
def test_steps_of_power_come_back_from_their_running_average(rows: int, cells: int) -> None:
    """Levels that last longer than the window are found again, to a few watts of hundreds."""
    draw = np.random.default_rng(rows)
    drawn = np.repeat(draw.choice([80.0, 300.0, 650.0], rows // 25 + 2), 25)[: rows + cells - 1]
    read = np.convolve(drawn, np.full(cells, 1 / cells), "valid").round(1)
    assert np.abs(deconvolved(read, cells) - drawn[cells - 1 :]).mean() < 5
    assert (deconvolved(read, 1) == read).all()
