"""Credit inside episodes: from which turn failure was certain, failing calls that are paid, masks, versions; what cannot be told."""

from typing import Any

import pandas as pd
import pytest
from rl_advisor.answers.episodes import credit_lines
from rl_advisor.features.text.turns import Turn
from rl_advisor.run import Run
from rl_advisor.samples.credit import credit, first_certain


@pytest.mark.parametrize(
    ("moves", "failed", "turns"),
    [
        (["abc", "abd", "axc"], [False, True, True], [None, 3, 2]),
        (["abc", "abd"], [True, True], [None, None]),
        (["abc", "abc"], [False, True], [None, None]),
        (["a", "ab"], [False, True], [None, 2]),
    ],
)
def test_where_failure_became_certain(moves: list[str], failed: list[bool], turns: list[int | None]) -> None:
    """The first move that no good attempt made; none where all failed, or where the same moves also succeeded."""
    assert first_certain(moves, failed, least=1) == turns


def test_one_way_of_its_own_says_nothing() -> None:
    """A dead end needs attempts that went it together."""
    assert first_certain(["ab", "cd", "ef", "gh"], [False, True, True, True]) == [None] * 4
    assert first_certain(["ab", "cd", "ce", "cf"], [False, True, True, True]) == [None, 1, 1, 1]


def run_of(call: dict[str, float], tool: dict[str, float], fails: bool = True, **row: Any) -> Run:
    """Ten groups of one good and three bad attempts; a bad one looks in the wrong place and, at will, its call fails."""
    rows = []
    for g in range(10):
        for good in (True, False, False, False):
            answer = Turn("tool", "found" if good or not fails else "Error: unknown tool", numbers=tool)
            turns = (
                Turn("assistant", "I look.", (("look", "here" if good else "there"),), numbers=call),
                answer,
                Turn("assistant", "x"),
                Turn("assistant", "y"),
            )
            row_ = {"step": g, "prompt": f"q{g}", "group": "0", "response": "x", "reward": float(good), "turns": turns}
            rows.append(row_ | {k: v[good] if isinstance(v, tuple) else v for k, v in row.items()})
    return Run(rollouts=pd.DataFrame(rows))


def test_what_turns_are_paid_and_trained_for() -> None:
    """Failing calls with a reward of their own, tools' words in the loss, two versions in one episode, log-probabilities that cannot be."""
    found = credit(run_of({"reward": 0.5, "trained": 1.0, "version": 3, "logprob": 0.2}, {"trained": 1.0, "version": 5}))
    assert found["certain"] == {"episodes": 30, "turn": 1, "at_first_turn": 1, "left": pytest.approx(2 / 3)}
    assert (found["paid_errors"]["share_positive"], found["masks"]["others_trained_upon"]) == (1, 1)
    assert (found["versions"]["share_mixed"], found["versions"]["widest"], found["logprobs"]["above_zero"]) == (1, 2, 1)
    assert len(credit_lines(found)) == 4
    assert "cannot_tell" not in found


def test_sound_credit_and_what_cannot_be_told() -> None:
    """Nothing is blamed where nothing is wrong, and what the dump lacks is named with what to log."""
    found = credit(run_of({"trained": 1.0}, {"trained": 0.0}, fails=False, advantage=(-1.0, 1.0)))
    assert set(found) == {"certain", "masks", "cannot_tell"}
    assert found["masks"]["others_trained_upon"] == 0
    assert any("policy version" in line for line in found["cannot_tell"])
    turned = credit(run_of({}, {}, advantage=(1.0, -1.0)))
    assert turned["upside_down"] == {"episodes": 40, "share": 1}
    assert credit(Run()) == {}
