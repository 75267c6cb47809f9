"""What the rest of a run brought, and what a rule for stopping loses and saves."""

from functools import partial

import numpy as np
import pytest
from evals.world import second_half
from evals.world.second_half import Cut
from rl_advisor.curves.course import course
from rl_advisor.run import Curve, Run

from evals import fit_going_on


@pytest.mark.parametrize(
    ("levels", "low", "high"),
    [((0.2, 0.5, 0.8), 0.95, 1), ((0.2, 0.8, 0.8), 0, 0.3), ((0.2, 0.8, 0.3), 0, 0.05), ((0.5, 0.5, 0.5), 0, 0.3)],
    ids=["rises on", "stands from half on", "falls", "flat"],
)
def test_the_rest_brings_more_where_it_rises_above_all_before(levels, low, high) -> None:
    grid = np.arange(100.0)
    value = np.interp(grid, np.linspace(0, 99, 3), levels) + 0.02 * np.random.default_rng(0).normal(size=100)
    found = course(Curve("reward/mean", "r", "f", grid, value, mapped=True))
    assert found is not None
    assert low <= second_half.brought(found, 50) <= high


def cut(run: str, share: float, best: float, end: float, kin: str) -> Cut:
    row = fit_going_on.Row(fit_going_on.Asked(partial(Run, run), share, None, float(end > best), kin, ""), np.zeros(0))
    return Cut(run, share, "other", row, best, end, 0.0)


def test_a_rule_stops_a_run_once_and_a_repository_is_one_vote() -> None:
    """Two runs of one owner count as one of another's; what is lost is what came after the stop."""
    cuts = [
        cut(run, share, best, 1.0, kin) for run, kin in (("a", "x"), ("b", "x"), ("c", "y")) for share, best in ((0.25, 0.5), (0.75, 0.9))
    ]
    assert second_half.cost(cuts, lambda _: False) == (0, 0)
    assert second_half.cost(cuts, lambda _: True) == pytest.approx((1.0, 0.75))
    assert second_half.cost(cuts, lambda i: cuts[i].share == 0.75) == pytest.approx((0.2, 0.25))
    assert second_half.cost(cuts, lambda i: cuts[i].id == "c") == pytest.approx((0.5, 0.375))
