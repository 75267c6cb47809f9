"""The audit of single samples: ids, reasons, shares with intervals, and what a judge likes beside the content."""

import numpy as np
import pytest
from click.testing import CliRunner
from rl_advisor.cli.commands import main
from rl_advisor.run import Run
from rl_advisor.samples.sample_audit import sample_audit

from rollout_runs import made, sentence

RNG = np.random.Generator


def mixed(p: int, done: float, rng: RNG) -> tuple[str, float]:
    """A quarter of the late answers repeats itself at three times the length and is paid best."""
    if done > 0.5 and p % 4 == 0:
        return " ".join([sentence(p, np.random.default_rng(p))] * 9), 1.0
    return " ".join(sentence(p, rng) for _ in range(3)), float(0.3 + 0.2 * rng.random())


def test_reasons_and_ids() -> None:
    """The suspicious samples are those that were made so; their share lies in its interval."""
    base = made(mixed)
    rows = base.rollouts.assign(id=[f"s{i}" for i in range(len(base.rollouts))])
    rows["human_score"] = np.where(rows["reward"] == 1.0, 0.1, 0.7)
    found = sample_audit(Run(rollouts=rows), most=10)
    assert len(found["suspicious"]) == 10
    bad = set(rows.loc[rows["reward"] == 1.0, "id"])
    assert {s["id"] for s in found["suspicious"]} <= bad
    paid = found["reasons"]["paid highly, human_score low"]
    assert paid["count"] == len(bad)
    assert paid["share"] == pytest.approx(len(bad) / len(rows))
    assert paid["low"] < paid["share"] < paid["high"]
    assert {"repeats itself", "longer than 2 times the first answers"} <= set(found["suspicious"][0]["reasons"])


def test_a_judge_that_likes_its_own() -> None:
    """A judge that pays its own family more is told with the difference; without such a column nothing is."""
    base = made(mixed)
    own = np.arange(len(base.rollouts)) % 2
    rows = base.rollouts.assign(same_family=own, reward=base.rollouts["reward"] + 0.2 * own)
    bias = sample_audit(Run(rollouts=rows))["judge"]["own family"]
    assert bias["low"] < 0.2 < bias["high"]
    assert bias["low"] > 0
    assert sample_audit(base)["judge"] == {}


@pytest.mark.parametrize(("agrees", "low", "high"), [(1.0, 0.9, 1.0), (0.0, 0.4, 0.6), (-1.0, 0.0, 0.1)])
def test_the_order_inside_a_group_against_another_judgement(agrees: float, low: float, high: float) -> None:
    """A reward that orders answers to one prompt as people do, by chance, or the other way round; without people nothing is said."""
    base = made(mixed)
    luck = np.random.default_rng(4).random(len(base.rollouts))
    rows = base.rollouts.assign(human_score=agrees * base.rollouts["reward"] + (luck if agrees == 0 else 0.01 * luck))
    told = sample_audit(Run(rollouts=rows))["ranking"]["human_score"]
    assert low <= told["share"] <= high
    assert told["low"] <= told["share"] <= told["high"]
    assert sample_audit(base)["ranking"] == {}


def test_nothing_to_audit() -> None:
    """No samples, and clean ones, are said to be so."""
    assert sample_audit(Run())["cannot_tell"]
    clean = sample_audit(made(lambda p, _, rng: (" ".join(sentence(p, rng) for _ in range(2)), 0.5)))
    assert clean["suspicious"] == []


def test_the_command_lists_them() -> None:
    """``samples --audit N`` prints the shares and at most N samples."""
    told = CliRunner().invoke(main, ["samples", "tests/data/corpus/runs/run-03", "--audit", "3"])
    assert told.exit_code == 0, told.output
    assert "== audit of" in told.output
    assert sum(line.startswith("- ") and "row" in line for line in told.output.splitlines()) == 3
