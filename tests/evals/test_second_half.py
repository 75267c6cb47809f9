"""What the rest of a run brought, and what a rule for stopping loses and saves."""

import io
import tomllib
from functools import partial

import numpy as np
import pytest
from evals.world import episodes, second_half, table
from evals.world.halves import Half, brought, with_twins
from evals.world.second_half import Cut
from evals.world.table import World
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
    assert low <= brought(found, 50) <= high


def cut(run: str, share: float, best: float, end: float, kin: str) -> Cut:
    row = fit_going_on.Row(fit_going_on.Asked(partial(Run, run), share, None, float(end > best), kin, ""), np.zeros(0))
    return Cut(Half(run, share, float(end > best), end - best, 0.0), "other", row)


def test_a_rule_stops_a_run_once_and_a_repository_is_one_vote() -> None:
    """Two runs of one owner count as one of another's; what is lost is what came after the stop."""
    cuts = [
        cut(run, share, best, 1.0, kin) for run, kin in (("a", "x"), ("b", "x"), ("c", "y")) for share, best in ((0.25, 0.5), (0.75, 0.9))
    ]
    assert second_half.cost(cuts, lambda _: False) == (0, 0)
    assert second_half.cost(cuts, lambda _: True) == pytest.approx((1.0, 0.75))
    assert second_half.cost(cuts, lambda i: cuts[i].half.share == 0.75) == pytest.approx((0.2, 0.25))
    assert second_half.cost(cuts, lambda i: cuts[i].half.id == "c") == pytest.approx((0.5, 0.375))


@pytest.mark.parametrize(("power", "end"), [(0.5, 1.0), (2.0, 1.0), (0.5, -1.0)], ids=["slow", "quick", "falls"])
def test_a_learning_curve_of_its_own_form_is_foreseen(power: float, end: float) -> None:
    """A curve that is one is continued to its true end from the first half."""
    grid = np.arange(1.0, 201.0)
    value = -end * (grid / 100 + 0.04) ** -power
    run = Run("a", curves={"reward/mean": Curve("reward/mean", "r", "f", grid, value, mapped=True)}).until(100)
    rise = (value[-1] - value[99]) / np.ptp(value[:100])
    assert second_half.fitted_gain(run, 0.5) == pytest.approx(rise, rel=0.1)


def test_twins_are_other_seeds_of_the_same_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alike but for numbers in the name and of about one length; what a run was brought itself is not among what its twins were."""
    told = {
        f"me/mine/{name}": {"id": f"me/mine/{name}", "repository": "me/mine", "method": "ppo", "last_step": last}
        for name, last in (("seed1", 100.0), ("seed2", 90.0), ("seed3", 300.0), ("other1", 100.0))
    }
    monkeypatch.setattr("evals.world.table.world", lambda id_: World(told[id_], [{"raw": "r"}]))
    found = {h.id[8:]: h.twins for h in with_twins([Half(id_, 0.5, i / 4, 0.0, 0.0) for i, id_ in enumerate(told)])}
    assert (found["seed1"], found["seed2"]) == (0.25, 0.0)
    assert np.isnan([found["seed3"], found["other1"]]).all()


def test_a_choice_is_scored_on_other_episodes_than_it_was_made_on() -> None:
    """A best that only the choosing half saw is none on the other; a rise that both saw is one; too few evaluations say nothing."""
    step = np.arange(1.0, 61.0)
    rise, lucky = np.minimum(step, 30) / 30, np.where((step > 50) & (step < 54), 1.5, np.minimum(step, 30) / 30)
    seen, hidden = episodes.Kept("a", step, lucky, rise, 4).later(40)
    assert seen > 0.3
    assert abs(hidden) < 0.01
    seen, hidden = episodes.Kept("a", step, rise, rise, 4).later(15)
    assert seen == hidden > 0.4
    assert np.isnan(episodes.Kept("a", step[:10], rise[:10], rise[:10], 4).later(5)).all()


def test_the_halves_of_a_log_are_its_even_and_its_odd_episodes() -> None:
    file = io.BytesIO()
    np.savez(file, timesteps=np.arange(3) * 100, results=np.array([[1, 2, 3, 4, 11]] * 3), ep_lengths=np.ones((3, 5)))
    found = episodes.halves("a", file.getvalue())
    assert found is not None
    assert (found.even.tolist(), found.odd.tolist(), found.mean.tolist()) == ([5.0] * 3, [3.0] * 3, [4.2] * 3)
    assert found.step.tolist() == [0, 100, 200]


def test_what_authors_write_is_of_runs_of_the_table_and_halves_are_those_of_its_curves() -> None:
    written = tomllib.loads((table.FOLDER / "written.toml").read_text(encoding="utf-8"))["runs"]
    assert {w["id"] for w in written} <= {w.told["id"] for w in table.worlds()}
    for kept in list(episodes.kept().values())[::20]:
        assert any(episodes.same(kept.mean, np.array(c["value"], float)) for c in table.world(kept.id).curves)
