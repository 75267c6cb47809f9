"""What sound runs showed: ranges by method and framework, silence where nobody ran, and what is said of a value."""

import numpy as np
import pytest
from evals.world import bank as building
from rl_advisor.answers.curves import summaries
from rl_advisor.priors import Circumstances, bank, prior
from rl_advisor.run import Curve, Run


@pytest.mark.parametrize(
    ("metric", "value", "known", "side"),
    [
        ("policy/grad_norm", 0.5, {"method": "grpo"}, "usual"),
        ("policy/grad_norm", 300, {"method": "grpo"}, "above"),
        ("kl/ref", 0.04, {"method": "grpo", "framework": "trl"}, "usual"),
        ("entropy/mean", 1e-6, {"method": "grpo"}, "far_below"),
        ("response/length", 150, {"method": "grpo"}, "usual"),
    ],
)
def test_a_value_lies_where_sound_runs_lie(metric, value, known, side) -> None:
    row = prior(metric, Circumstances(**known))
    assert row is not None
    assert row.seen is not None
    assert row.side(value) == side


@pytest.mark.parametrize(
    ("metric", "known"),
    [
        ("entropy/mean", {}),
        ("entropy/mean", {"method": "a2c"}),
        ("policy/learning_rate", {"method": "grpo"}),
        ("kl/ref", {"method": "dqn"}),
        ("response/truncated", {"method": "grpo"}),
        ("reward/flat_groups", {"method": "grpo"}),
    ],
)
def test_where_nobody_of_the_kind_was_measured_nothing_is_said(metric, known) -> None:
    assert bank.usual(metric, Circumstances(**known)) is None


def test_what_is_said_names_the_runs_and_the_range() -> None:
    usual = bank.Usual(41, 20, "grpo/trl", "late", 0.05, 0.6, 0.01, 2.0)
    assert usual.says(0.004) == "0.004 is below nearly all of 41 sound GRPO runs of trl after their first tenth (usual 0.05 to 0.6)."
    assert "among the lowest" in usual.says(0.03)
    assert "within nine of ten" in usual.says(0.3)
    assert usual.bounds((0.02, 5)) == (0.02, 2.0)


def test_a_repository_is_one_vote_and_a_thin_group_leans_on_the_wider() -> None:
    """Ninety runs of one owner weigh as one run of another; four owners of a framework are pulled towards the method."""

    def of(owner: str, value: float, framework: str) -> building.Told:
        return building.Told("kl/ref", "", owner, (f"grpo/{framework}", "grpo"), np.full(25, value))

    many = [of("a/a", 9.0, "x")] * 90 + [of(f"b/{i}", 1.0, "x") for i in range(9)]
    assert building.measured(many)["kl/ref"]["grpo"][3][0.5] == 1.0
    thin = building.measured([of(f"c/{i}", 5.0, "y") for i in range(4)] + [of(f"d/{i}", 1.0, "x") for i in range(40)])["kl/ref"]
    assert thin["grpo/y"][3][0.5] == 1.0


def test_a_band_is_as_narrow_as_it_was_fitted_and_open_where_the_table_has_no_words() -> None:
    """A wider band reaches farther on both sides; a clip fraction is never too small; a metric without a band is not told."""
    rows = [building.Told("ratio/clip_fraction", "", f"a/{i}", ("ppo",), np.linspace(0.01, 0.3, 25) * (1 + i / 9)) for i in range(9)]
    kind, found = rows[0].kind, building.measured(rows)
    made = [building.bank(found, {kind: band})["ratio/clip_fraction"]["ppo"] for band in building.BANDS]
    assert [row[:2] for row in made] == [[9, 9]] * len(made)
    assert [row[2] for row in made] == [0.0] * len(made)
    assert sorted(row[6] for row in made) == [row[6] for row in made]
    assert made[0][6] < made[-1][6] / 1.5
    assert building.bank(found, {}) == {}
    assert building.meant("kl/ref", "grpo early", 0.1, 0.2) == (0.1, 0.2)


def test_a_run_that_the_table_calls_broken_says_nothing_of_what_is_usual() -> None:
    def of(value: float) -> list[building.Told]:
        curve = Curve("entropy/mean", "entropy", "f", np.arange(20.0), np.full(20, value), mapped=True)
        return list(building.told("a/b", Run(curves={"entropy/mean": curve}), Circumstances(method="grpo")))

    assert {row.phase for row in of(0.2)} == {"early", "late", ""}
    assert of(0.0) == []


@pytest.mark.parametrize(
    ("name", "last", "planned", "says"),
    [
        ("policy/grad_norm", 500.0, None, "above nearly all"),
        ("policy/grad_norm", 0.5, None, "within nine of ten"),
        ("policy/grad_norm", 0.5, 1000, "in their first tenth"),
        ("value/loss", 0.5, None, ""),
    ],
)
def test_a_curve_says_where_its_last_value_lies_among_others(name: str, last: float, planned: int | None, says: str) -> None:
    curve = Curve(name, name, "f", np.arange(20.0), np.full(20, last), mapped=True)
    run = Run(curves={name: curve}, frameworks=("trl",), planned_steps=planned)
    (told,) = summaries(run)["metrics"]
    assert says in told.get("usual", "")
    assert bool(says) == ("usual" in told)
