"""Each number of what single rows prove and of what an experiment turns, against what it is meant to be (``benchmarks/witnesses.py``)."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rl_advisor.judgement import settings_to_change
from rl_advisor.judgement.proofs.rows import Rows
from rl_advisor.judgement.proven import few
from rl_advisor.judgement.settings_to_change import concrete, lasting, slower
from rl_advisor.run import Curve, Run


def run(n: int, planned: int | None = None) -> Run:
    """A run of so many rows, whose values are their own numbers."""
    step = np.arange(1.0, n + 1)
    return Run(curves={"kl/ref": Curve("kl/ref", "kl", "f", step, step, mapped=True)}, planned_steps=planned)


def outcome(noise: float, phi: float = 0.0, best: float = 1.0) -> Any:
    """An outcome logged every tenth step, as far as the length of an experiment asks of it."""
    overall = SimpleNamespace(phi=phi)
    return SimpleNamespace(
        name="reward/mean", margin=0.1, best=best, last=0.0, noise=noise, overall=overall, step=np.arange(0.0, 100.0, 10.0)
    )


@pytest.mark.parametrize(("n", "read_alone"), [(7, True), (8, False)])
def test_each_row_is_read_for_itself_below_eight(n: int, read_alone: bool) -> None:
    assert few(run(n)) == read_alone


def test_a_level_is_the_median_of_the_last_five_rows() -> None:
    assert Rows(run(20)).level("kl/ref") == 18


@pytest.mark.parametrize(("planned", "told"), [(500, "start"), (450, "early"), (100, "early"), (99, "late")])
def test_a_run_is_at_its_start_up_to_a_fiftieth_and_early_up_to_a_tenth(monkeypatch: pytest.MonkeyPatch, planned: int, told: str) -> None:
    monkeypatch.setattr("rl_advisor.judgement.proofs.rows.circumstances", lambda _, phase: phase)
    around: Any = Rows(run(10, planned)).around
    assert around == told


@pytest.mark.parametrize(("noise", "best", "points"), [(0.01, 1.0, 5), (1.0, 1.0, 16), (1.0, 0.0, 63)])
def test_an_experiment_lasts_until_five_margins_show_or_what_was_lost(noise: float, best: float, points: int) -> None:
    assert f"({points} points)" in lasting(outcome(noise, best=best))


@pytest.mark.parametrize(("noise", "told"), [(5.6, "(492 points)"), (5.7, "several seeds"), (7.0, "several seeds")])
def test_an_experiment_of_more_than_five_hundred_points_is_none(noise: float, told: str) -> None:
    assert told in lasting(outcome(noise))


def test_noise_that_never_forgets_counts_as_if_it_forgot_a_hundredth() -> None:
    assert "(63 points)" in lasting(outcome(0.1414, phi=1.0))


def test_what_is_not_set_becomes_a_fifth_of_the_highest_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_to_change, "prior", lambda *_: SimpleNamespace(usual=(0.0, 1.0), middle=0.5))
    assert concrete(Run(), "entropy_coef", None, 2.0) == pytest.approx(0.2)


def test_slower_is_a_third() -> None:
    assert slower(Run(settings={"learning_rate": 3e-6})).startswith("the learning rate at 1e-6 ")
