"""Hindsight labels of generated runs, on scores whose reading is plain."""

import sys
from itertools import combinations
from pathlib import Path
from random import Random
from typing import get_args

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2] / "evals" / "generate"))
from amend import AMENDED, amended
from faults import RECIPES
from grpo_faults import GRPO_RECIPES
from grpo_tasks import ALPHABET, REWARDS, TASKS, demonstrations, said
from labels import label
from rl_advisor.finding import VERDICTS, BrokenLink
from second import GRPO_RECIPES as SECOND_GRPO
from second import RECIPES as SECOND
from unseen import RECIPES as UNSEEN

BY_NAME = {r.family: r for r in RECIPES}
STEPS = np.arange(0.0, 31_000, 1000)
RISE = 22 + 478 * np.linspace(0, 1, 31)
SATURATING = np.minimum(22 + 478 * np.linspace(0, 5, 31), 500)
TENT = 22 + 400 * (1 - np.abs(np.linspace(-1, 1, 31)))
NOTHING = np.full(31, 24.0)


def made(family, hidden, seen=None):
    return label(BY_NAME[family], 1, STEPS, hidden if seen is None else seen, hidden)


@pytest.mark.parametrize(
    ("family", "score", "verdicts", "links"),
    [
        ("ppo-cartpole-healthy", RISE, ["improving"], []),
        ("ppo-cartpole-healthy", SATURATING, ["plateaued"], []),
        ("ppo-cartpole-healthy", TENT, ["collapsed", "degrading"], ["none", "policy_update", "training_signal"]),
        ("ppo-cartpole-lr-low", NOTHING, ["not_learning"], ["policy_update"]),
        ("ppo-cartpole-reversed", NOTHING, ["not_learning", "reward_hacking"], ["reward_signal"]),
        ("dqn-cartpole-greedy", TENT * 1.2, ["collapsed", "degrading"], ["exploration", "none", "policy_update", "training_signal"]),
        ("dqn-cartpole-stale", TENT * 1.2, ["collapsed", "degrading"], ["data_freshness"]),
        (
            "a2c-cartpole-scaled",
            0.3 * RISE,
            ["improving", "not_learning", "plateaued"],
            ["policy_update", "reward_signal", "training_signal"],
        ),
        ("ppo-cartpole-no-critic", SATURATING, ["plateaued"], ["none", "training_signal"]),
    ],
)
def test_verdicts_and_links_follow_the_true_score(family, score, verdicts, links):
    """A fault that did no harm admits ``none``; a run that broke without a fault is no longer called healthy."""
    got = made(family, score)
    assert (got["verdicts"], got["links"]) == (verdicts, links)


def test_going_on_pays_while_it_rises():
    """Always on a straight rise, only early on a saturating one, never where nothing moves."""
    pays = [[c["continue_pays"] for c in made("ppo-cartpole-healthy", s)["cuts"].values()] for s in (RISE, SATURATING, NOTHING)]
    assert pays == [[True, True, True], [False, False, False], [False, False, False]]


def test_the_checkpoint_is_chosen_on_the_seen_half():
    """Where the seen half peaks at a step whose hidden score is low, going on did not pay."""
    misled = SATURATING.copy()
    misled[20:24] += 200
    hidden = SATURATING.copy()
    hidden[18:26] = 100.0
    assert made("ppo-cartpole-healthy", hidden, misled)["cuts"]["0.5"]["gain_after"] < -0.5


def test_the_drop_is_where_a_third_is_lost_for_good():
    """The tent falls back below two thirds of its gain five sixths of the way down the run."""
    assert made("ppo-cartpole-healthy", TENT)["true_score_drop_at"] == pytest.approx(20_500, abs=1500)
    assert made("ppo-cartpole-healthy", RISE)["true_score_drop_at"] is None


def test_jumps_that_sampling_explains_are_no_unrest():
    """The same restless plateau is sound where an evaluation is that noisy, and unstable where it is exact."""
    jumping = SATURATING + np.where(np.arange(31) % 2, 35.0, -35.0)
    exact, noisy = (label(BY_NAME["ppo-cartpole-healthy"], 1, STEPS, jumping, jumping, noise) for noise in (0.0, 40.0))
    assert "unstable" in exact["verdicts"]
    assert exact["links"]
    assert (noisy["verdicts"], noisy["links"]) == (["plateaued"], [])


def test_a_model_that_knew_and_forgot_has_collapsed():
    """A language model starts above nothing; losing that is a fall, with a step at which it fell."""
    recipe = next(r for r in GRPO_RECIPES if r.family == "grpo-digit-sum-untied")
    score = np.where(np.arange(31) < 6, 0.4, 0.0)
    got = label(recipe, 1, np.arange(31.0) * 5, score, score)
    assert {"collapsed", "degrading"} <= set(got["verdicts"])
    assert got["true_score_drop_at"] == pytest.approx(30, abs=10)


def test_readings_are_added_and_none_is_taken_away():
    """What two readers found is in the shipped labels, by the names of the runs, and leaves other labels alone."""
    for source, more in AMENDED.items():
        old = {"source": source, "verdicts": ["plateaued"], "links": ["numerics"]}
        assert all({*old[name], *added} == set(amended(old)[name]) for name, added in more.items())
    assert amended({"source": "x-s1", "verdicts": ["improving"], "links": []}) == {"source": "x-s1", "verdicts": ["improving"], "links": []}


def test_recipes_are_of_one_family_each_and_name_known_links():
    """No family stands in two sets of recipes: what one set taught can't be asked again in the next."""
    sets = (RECIPES, UNSEEN, GRPO_RECIPES, SECOND, SECOND_GRPO)
    assert all(not {r.family for r in a} & {r.family for r in b} for a, b in combinations(sets, 2))
    every = [r for recipes in sets for r in recipes]
    assert {link for r in every for link in r.links} <= {*get_args(BrokenLink), "none"}
    assert {v for more in AMENDED.values() for v in more.get("verdicts", [])} <= set(VERDICTS)
    late = [r for r in every if r.later]
    assert late
    assert all(r.injected_at and 0 < r.injected_at < r.steps for r in late)


@pytest.mark.parametrize("task", TASKS)
def test_tasks_are_written_in_the_alphabet_and_rewarded_rightly(task):
    """Prompts end in the sign, answers in a full stop; right demonstrations earn 1, spoiled ones less often."""
    random = Random(1)  # noqa: S311
    good, poor = demonstrations(task, 200, 1.0, 1), demonstrations(task, 200, 0.2, 1)
    assert {c for pair in good + poor for text in pair for c in text} <= set(ALPHABET)
    assert all(prompt.endswith("=") and answer.endswith(".") for prompt, answer in good)
    truth = [said(answer) for _, answer in good]
    earned = {
        name: [reward(answer, right, random) for (_, answer), right in zip(good, truth, strict=True)] for name, reward in REWARDS.items()
    }
    assert set(earned["exact"]) == set(earned["partial"]) == set(earned["loose"]) == {1.0}
    assert set(earned["reversed"]) == {-1.0}
    assert set(earned["noise"]) == {0.0, 1.0}
    share = np.mean([REWARDS["exact"](answer, said(right), random) for (_, answer), (_, right) in zip(poor, good, strict=True)])
    assert share < 0.6
    assert REWARDS["long"]("7" * 11 + ".", "7", random) > REWARDS["long"]("7.", "7", random)
