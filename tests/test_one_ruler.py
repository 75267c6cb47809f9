"""What ``curves`` says of the outcome and what the judgement goes by come from one measurement."""

from pathlib import Path

import numpy as np
import pytest
from rl_advisor.answers.curves import summaries, summary
from rl_advisor.curves import outcome_shape
from rl_advisor.reading import read_run
from rl_advisor.run import Curve

CORPUS = Path(__file__).parents[1] / "evals" / "corpus"
RUNS = [run for name in ("grpo", "classic", "unseen", "second") for run in sorted((CORPUS / name / "runs").iterdir())[::6]]


@pytest.mark.parametrize("place", RUNS, ids=lambda p: f"{p.parts[-3]}-{p.name}")
def test_curves_and_judgement_agree_on_the_way_the_outcome_goes(place: Path) -> None:
    """Overall and of late, for the held-out score and the training reward."""
    run = read_run(place)
    for curve in (outcome_shape.held_out(run), outcome_shape.training(run)):
        measured = outcome_shape.shape_or_none(curve)
        if measured is None:
            continue
        (told,) = summaries(run, [measured.name])["metrics"]
        assert (told["overall"]["direction"], told["recent"]["direction"]) == (measured.direction_overall(), measured.direction())


def test_a_small_divergence_that_rises_in_a_straight_line_rises() -> None:
    """0.003 to 0.081 is no share of one: its own range is what it is measured by."""
    step = np.arange(100.0)
    value = np.linspace(0.003, 0.081, 100) + np.random.default_rng(0).normal(0, 0.002, 100)
    assert summary(Curve("kl/ref", "kl", "log", step, value))["overall"]["direction"] == "rising"
    assert summary(Curve("response/truncated", "clipped", "log", step, value / 8))["overall"]["direction"] == "flat"
