"""Hindsight labels of generated runs, on scores whose reading is plain."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2] / "evals" / "generate"))
from faults import RECIPES
from labels import label

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
