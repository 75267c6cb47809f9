"""Credit inside episodes: from which turn failure was certain, failing calls that are paid, masks, versions; what cannot be told."""

from typing import Any

import pandas as pd
import pytest
from benchmarks.failed_episodes import credited
from rl_advisor.answers.episodes import credit_lines
from rl_advisor.features.text.turns import Turn
from rl_advisor.run import Run
from rl_advisor.samples.credit import credit, first_certain
from rl_advisor.samples.episodes import why_failed


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
    assert first_certain(moves, failed, [0] * len(moves), chance=0.99) == turns


def test_a_way_is_a_dead_end_by_more_than_chance() -> None:
    """One attempt that goes its own way says nothing; a move that fails at prompt after prompt, however it is come to, does."""
    assert first_certain(["ab", "cd", "ef", "gh"], [False, True, True, True], [0] * 4) == [None] * 4
    moves = [way for g in range(6) for way in (f"{g}ab", f"{g}xd", f"k{g}xe", f"{g}u{g}")]
    found = first_certain(moves, [False, True, True, True] * 6, [g for g in range(6) for _ in range(4)])
    assert found == [None, 2, 3, None] * 6


@pytest.mark.parametrize(("loose", "least"), [(False, 0.8), (True, 0.2)])
def test_the_first_bad_turn_of_made_attempts(loose: bool, least: float) -> None:
    """Where a turn is told it is the fatal one or next to it, and attempts that failed by luck alone are told none."""
    told, near, blamed = credited(1, loose=loose)
    assert told >= least
    assert near >= 0.8
    assert blamed <= 0.1


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
    assert found["certain"] == {"episodes": 30, "turn": 1, "left": pytest.approx(2 / 3)}
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
    assert any("cannot be told" in line for line in credit_lines(found))
    turned = credit(run_of({}, {}, advantage=(1.0, -1.0)))
    assert turned["upside_down"] == {"episodes": 40, "share": 1}
    assert credit(Run()) == {}


def test_no_attempt_to_compare_with_and_versions_of_rows() -> None:
    """Where every attempt at a prompt ends alike no turn is blamed, and that is said; versions in a column of the samples are told."""
    alike = run_of({}, {}, reward=(0.0, 0.0), other_version=(3, 9))
    assert "log several attempts" in " ".join(credit(alike)["cannot_tell"])
    rows = alike.rollouts.rename(columns={"other_version": "other/policy_version"})
    assert credit(Run(rollouts=rows))["ages"] == {"first": 6, "latest": 6, "widest": 6}


def test_an_episode_lost_before_its_first_word_is_counted() -> None:
    """A row without words whose file says that the sandbox timed out is no episode that is not there."""
    rows = [
        {"step": s, "prompt": "q", "group": "0", "response": "<answer>4</answer>", "reward": float(i % 2)}
        for s in range(3)
        for i in range(6)
    ]
    lost = [{"step": s, "prompt": "q", "group": "0", "response": "", "reward": 0.0, "other/error": "sandbox timed out"} for s in range(3)]
    found = why_failed(Run(rollouts=pd.DataFrame([*rows, *lost])))
    assert (found["reward"]["lost"], found["reward"]["scored"]) == (3, 3)
