"""What cannot be seen is said, for the kind of run it belongs to and for no other."""

from dataclasses import replace

import numpy as np
import pytest
from evals.drawn import flat, make_run, saturating
from rl_advisor.curves.task import TRAITS, task
from rl_advisor.judgement.case import open_case
from rl_advisor.judgement.narrative import LINES, could_not_see, fitting
from rl_advisor.run import Run
from rl_advisor.vocabulary import METRICS

KINDS = [
    (("response/length",), {"language"}),
    (("response/length", "episode/turns"), {"language", "tools"}),
    (("response/length", "episode/length"), {"language"}),
    (("episode/length", "exploration/rate"), {"control", "replay"}),
    (("kl/ref", "mismatch/prob"), {"language", "experts"}),
    (("response/length", "time/step"), {"language", "systems"}),
    ((), set()),
]


@pytest.mark.parametrize(("names", "expected"), KINDS)
def test_kind_of_training(names: tuple[str, ...], expected: set[str]) -> None:
    """The kind is read off what is logged; episodes of a language model make no control run."""
    run = make_run({"reward/mean": saturating(), **dict.fromkeys(names, flat())})
    assert task(run).traits == expected


@pytest.mark.parametrize(
    ("raw", "source", "unit", "expected"),
    [
        ("evaluations/results", "evaluations.npz", "env steps", {"control"}),
        ("Train_AverageReturn", "events", "steps", {"control"}),
        ("reward", "TD3_Walker2d-v1_4.npy", "steps", {"control"}),
        ("reward", "DDPG Training", "episodes", {"control"}),
        ("num_tokens", "log.jsonl", "steps", {"language"}),
        ("episode/answers_right", "log.jsonl", "episodes", {"language"}),
        ("reward", "gsm8k_8B-v2.log", "steps", set()),
        ("reward", "run.log", "steps", set()),
    ],
)
def test_words_tell_the_kind_where_no_metric_does(raw: str, source: str, unit: str, expected: set[str]) -> None:
    """Names of metrics and files, and what the steps count; where nothing tells, no kind is claimed."""
    curve = replace(make_run({"reward/mean": saturating()}).curves["reward/mean"], raw=raw, source=source)
    assert task(Run(curves={"reward/mean": curve}, step_unit=unit)).traits == expected


@pytest.mark.parametrize(("names", "expected"), KINDS)
def test_lines_fit_the_run(names: tuple[str, ...], expected: set[str]) -> None:
    """At most eight lines, each of a kind that the run is of or of every run, and each kind has its turn."""
    run = make_run({"reward/mean": saturating(), **dict.fromkeys(names, flat())})
    said = fitting(run)
    kinds = [family for line in said for family, lines in LINES.items() if line in lines]
    assert len(said) == len(kinds) == min(8, sum(len(lines) for family, lines in LINES.items() if family in expected | {"any"}))
    assert set(kinds) == expected | {"any"}
    assert set(said) <= set(could_not_see(open_case(run)))


def test_every_line_is_said_to_somebody() -> None:
    """No line of the table is only kept: a run of its kind is told it, a run of that kind alone at the latest."""
    alone = [make_run({"reward/mean": saturating(), name: flat()}) for names in TRAITS.values() for name in names]
    assert {line for run in alone for line in fitting(run)} == {line for lines in LINES.values() for line in lines}


def test_the_table_is_whole() -> None:
    """Kinds and metrics exist, failures are told apart, and no line holds a number that nothing measured."""
    assert set(LINES) == set(TRAITS) | {"any"}
    assert {name for names in TRAITS.values() for name in names} <= set(METRICS)
    every = [line for lines in LINES.values() for line in lines]
    assert len({line.partition(":")[0] for line in every}) == len(every)
    assert not any(np.char.isdigit(list(line)).any() for line in every)
