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
    assert building.bank(many)["kl/ref"]["grpo"][4] == 1.0
    thin = building.bank([of(f"c/{i}", 5.0, "y") for i in range(4)] + [of(f"d/{i}", 1.0, "x") for i in range(40)])["kl/ref"]
    assert thin["grpo/y"][4] == 1.0


@pytest.mark.parametrize(
    ("name", "last", "planned", "says"),
    [
        ("policy/grad_norm", 500.0, None, "above nearly all"),
        ("policy/grad_norm", 0.5, None, "within nine of ten"),
        ("policy/grad_norm", 0.5, 1000, "in their first tenth"),
        ("policy/loss", 0.5, None, ""),
    ],
)
def test_a_curve_says_where_its_last_value_lies_among_others(name: str, last: float, planned: int | None, says: str) -> None:
    curve = Curve(name, name, "f", np.arange(20.0), np.full(20, last), mapped=True)
    run = Run(curves={name: curve}, frameworks=("trl",), planned_steps=planned)
    (told,) = summaries(run)["metrics"]
    assert says in told.get("usual", "")
    assert bool(says) == ("usual" in told)
