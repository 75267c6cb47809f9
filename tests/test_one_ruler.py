"""What ``curves`` says of the outcome and what the judgement goes by come from one measurement."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rl_advisor.answers.curves import summaries, summary
from rl_advisor.answers.story.quantities import outcome_quantities
from rl_advisor.curves import outcomes
from rl_advisor.curves.logged import best_level
from rl_advisor.judgement.case import case_of
from rl_advisor.judgement.checkpoint import best_checkpoint
from rl_advisor.reading import read_run
from rl_advisor.run import Curve, Run
from rl_advisor.tools.triage.judging import outcome

CORPUS = Path(__file__).parents[1] / "evals" / "corpus"
RUNS = [run for name in ("grpo", "classic", "unseen", "second") for run in sorted((CORPUS / name / "runs").iterdir())[::6]]


@pytest.mark.parametrize("place", RUNS, ids=lambda p: f"{p.parts[-3]}-{p.name}")
def test_every_door_gives_one_start_end_best_and_direction(place: Path) -> None:
    """What curves, story, triage and checkpoint say of the outcome is what its course says."""
    run = replace(read_run(place), checkpoints=())
    for curve in (outcomes.held_out(run), outcomes.training(run)):
        measured = outcomes.course_or_none(curve)
        if curve is None or measured is None:
            continue
        (told,) = summaries(run, [measured.name])["metrics"]
        assert (told["overall"]["direction"], told["recent"]["direction"]) == (measured.direction_overall(), measured.direction())
        quantity = next(q for q in outcome_quantities(run) if q.metric == measured.name)
        _, logged = run.curves[measured.name].finite()
        best = float(np.clip(measured.best, logged.min(), logged.max()))
        assert {told["smoothed_highest"]["step"], quantity.best_step} == {measured.best_step}
        assert quantity.best == best
        assert (quantity.first, quantity.last) == (logged[0], logged[-1])
        if outcomes.outcome(run) is curve:
            row = outcome(run)
            assert row is not None
            assert (row["start"], row["best"], row["last"]) == (measured.start, best, measured.last)
    case = case_of(run, {})
    judged = case.performance.held or case.performance.train
    if judged is not None:
        assert best_checkpoint(case, reward_trusted=True).step == round(judged.best_step)


def test_a_lucky_point_is_no_best() -> None:
    """One episode far above its neighbours, early in a rise, is not where the run was best."""
    step = np.arange(300.0)
    value = step + np.random.default_rng(1).normal(0, 10, 300)
    value[40] = 900
    best, at = best_level(None, Curve("reward/mean", "reward", "log", step, value))
    assert (best < 330, at > 280) == (True, True)


def test_a_small_divergence_that_rises_in_a_straight_line_rises() -> None:
    """0.003 to 0.081 is no share of one: its own range is what it is measured by."""
    step = np.arange(100.0)
    value = np.linspace(0.003, 0.081, 100) + np.random.default_rng(0).normal(0, 0.002, 100)
    assert summary(Run(), Curve("kl/ref", "kl", "log", step, value))["overall"]["direction"] == "rising"
    assert summary(Run(), Curve("response/truncated", "clipped", "log", step, value / 8))["overall"]["direction"] == "flat"
