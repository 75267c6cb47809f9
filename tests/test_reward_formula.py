"""What the reward pays for: made formulas are named, honest rewards get none, and right and wrong that are paid alike are shown."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from benchmarks.reward_formulas import HONEST, MADE, invented, named, samples
from rl_advisor.answers.episodes import formula_lines
from rl_advisor.detectors import paid_beside_the_task
from rl_advisor.features.sparse import formula
from rl_advisor.finding import Outcome
from rl_advisor.run import Run
from rl_advisor.samples.reward_formula import paid_for


@pytest.mark.parametrize("name", [n for i, n in enumerate(MADE) if i in (1, 2, 8, 9)])
def test_a_made_formula_is_named(name: str) -> None:
    """Every true term is found, at most one other (all ten: ``python benchmarks/reward_formulas.py``)."""
    right, found = named(name)
    assert right, found


@pytest.mark.parametrize("name", ["being right, unknown", "a judge that likes length a little"])
def test_none_is_invented(name: str) -> None:
    """Rewards that no short formula gives are given none."""
    assert name in HONEST
    assert not invented(name)


def test_right_and_wrong_paid_alike() -> None:
    """A reward of length alone pays right and wrong without regard, and the finding says that being right earns nothing."""
    run = Run(rollouts=samples(lambda f, _: 0.01 * f["words"], 3, known=True))
    found = paid_for(run)
    pairs = found["right_and_wrong"]
    assert pairs["upside_down"] > 0.5 * pairs["prompts"]
    assert pairs["pair"]["wrong"]["reward"] > pairs["pair"]["right"]["reward"]
    assert any("being right earns nothing" in line for line in formula_lines(found))
    answer = paid_beside_the_task.detect(run)
    assert answer.outcome is Outcome.PRESENT
    assert "words" in answer.statement


@pytest.mark.parametrize("reward", [lambda f, _: f["right"] - 0.002 * f["words"], lambda f, _: f["right"] + 0.5 * f["marked"]])
def test_a_cost_for_length_and_a_form_are_no_findings(reward: Callable[[Any, Any], float]) -> None:
    """Being right with a small cost, or with a part for the form, is the task, whose formula is told and not blamed."""
    run = Run(rollouts=samples(reward, 4, known=True))
    assert {t["what"] for t in paid_for(run)["terms"]} & {"being right"}
    assert paid_beside_the_task.detect(run).outcome is Outcome.ABSENT


def test_a_limit_is_found_where_it_is() -> None:
    """The limit of a step and of a cap comes out, with the weight."""
    rng = np.random.default_rng(0)
    x, z = rng.uniform(0, 10, 400), rng.uniform(0, 10, 400)
    half = rng.random(400) < 0.5
    found = formula({"x": x, "z": z}, 2.0 * (x > 6) + rng.normal(0, 0.1, 400), half, list(range(400)))
    (term,) = found.terms
    assert (term.measure, term.kind, round(term.limit)) == ("x", "above", 6)
    assert abs(term.weight - 2) < 0.1
    (term,) = formula({"x": x, "z": z}, np.minimum(z, 4), half, list(range(400))).terms
    assert (term.measure, term.kind, round(term.limit)) == ("z", "up to", 4)


def test_a_part_of_the_reward_has_a_formula_of_its_own() -> None:
    """Where the sum follows no formula, a logged part that does is told; the part for luck gets none."""
    rows = samples(lambda f, rng: 0.01 * f["words"] + 5 * rng.random(), 5, known=False)
    rows["reward/length"] = [0.01 * len(text.split()) for text in rows["response"]]
    rows["reward/luck"] = rows["reward"] - rows["reward/length"]
    found = paid_for(Run(rollouts=rows))
    assert list(found["parts"]) == ["length"]
    assert formula_lines(found) == ["its part length = 0.01 * words; explains 100 %"]


def test_responses_that_do_not_differ() -> None:
    """Where every response is the same there is nothing to choose from, and nothing is said."""
    rows = samples(lambda _, rng: rng.random(), 6, known=False).assign(response="the same words")
    assert paid_for(Run(rollouts=rows)) == {}
