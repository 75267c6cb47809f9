"""What must not change an answer: the unit of the steps, and the unit of a return."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from rl_advisor.curves.task import task
from rl_advisor.detectors import patterns
from rl_advisor.judgement.diagnosis import run_detector
from rl_advisor.reading import read_run
from rl_advisor.run import Curve, Run

CORPUS = Path(__file__).parents[2] / "evals" / "corpus"
SAMPLE = (
    "grpo/runs/grpo-01",
    "grpo/runs/grpo-04",
    "grpo/runs/grpo-08",
    "grpo/runs/grpo-22",
    "classic/runs/classic-01",
    "classic/runs/classic-10",
    "second/runs/second-11",
    "unseen/runs/unseen-12",
)
"""A learning rate that jumps, a game, a NaN, a change of data; sound and broken control."""
RETURNS = ("reward/mean", "reward/used", "reward/min", "reward/max", "eval/score/")


@cache
def read(name: str) -> Run:
    """A run of the committed corpora."""
    return read_run(CORPUS / name)


def answers(run: Run) -> dict[str, str]:
    """Every detector's outcome."""
    return {name: run_detector(d, run).outcome.value for name, d in patterns().items()}


@cache
def before_of(name: str) -> dict[str, str]:
    """The outcomes of a run as it is."""
    return answers(read(name))


def paced(run: Run, times: int) -> Run:
    """The same run with every step so many times as large."""
    rollouts = run.rollouts.assign(step=run.rollouts["step"] * times) if len(run.rollouts) else run.rollouts
    return replace(
        run,
        curves={n: replace(c, step=c.step * times) for n, c in run.curves.items()},
        rollouts=rollouts,
        events=tuple(replace(e, step=None if e.step is None else e.step * times) for e in run.events),
        checkpoints=tuple(replace(c, step=c.step * times) for c in run.checkpoints),
        planned_steps=None if run.planned_steps is None else run.planned_steps * times,
    )


def scaled(curve: Curve, times: float) -> Curve:
    """The same curve in another unit."""
    return replace(curve, value=curve.value * times)


@pytest.mark.parametrize("name", SAMPLE)
def test_the_unit_of_the_steps_changes_no_answer(name: str) -> None:
    """Steps times 2048, as on an axis of environment steps: the same outcome of every detector."""
    run = read(name)
    before, after = before_of(name), answers(paced(run, 2048))
    assert {p: (before[p], after[p]) for p in before if before[p] != after[p]} == {}


@pytest.mark.parametrize("name", [n for n in SAMPLE if not n.startswith("grpo")])
def test_the_unit_of_a_return_changes_no_answer(name: str) -> None:
    """Returns and scores times ten, where they are no shares: the same outcome of every detector."""
    run = read(name)
    assert "control" in task(run).traits
    curves = {n: scaled(c, 10) if n.startswith(RETURNS) else c for n, c in run.curves.items()}
    before, after = before_of(name), answers(replace(run, curves=curves))
    assert {p: (before[p], after[p]) for p in before if before[p] != after[p]} == {}
