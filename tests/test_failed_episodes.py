"""Why episodes failed: told in shapes and wordings not tuned on, near-misses are not mistaken, and what was lost is counted."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.failed_episodes import episodes, macro_f1, told
from click.testing import CliRunner
from rl_advisor.answers.episodes import failure_lines
from rl_advisor.cli.commands import main
from rl_advisor.features.text.turns import Turn, turns_in
from rl_advisor.run import Run
from rl_advisor.samples.episodes import failures, why_failed
from rl_advisor.samples.failure_signs import Episode, reason_of
from rl_advisor.samples.same_answers import nearly_same, same_answer


@pytest.mark.parametrize(("which", "least"), [("seen", 0.9), ("held", 0.8)])
def test_reasons_of_made_episodes(which: str, least: float) -> None:
    """Macro F1 over ten reasons, no good episode called failed, and none falsely blamed on the infrastructure."""
    pairs = [pair for _, rows, labels in episodes(which, each=5) for pair in zip(labels, told(rows), strict=True)]
    assert macro_f1(pairs) >= least
    assert not [pair for pair in pairs if pair[1] == "infrastructure" != pair[0] or (not pair[0] and pair[1])]


def said(*steps: str) -> tuple[Turn, ...]:
    """Turns by turns: the model, a tool, the model; a tool's answer is in front of ``<``."""
    return tuple(
        Turn("tool", s[1:]) if s.startswith("<") else Turn("assistant", s, (("python", "x"),) if s.endswith("!") else ()) for s in steps
    )


NEAR: list[tuple[Episode, str]] = [
    (Episode(said("run!", "<Error: execution timed out after 10 s", "It is 3.")), "wrong answer"),  # its own code may be slow
    (Episode(said("run!", "<Error: sandbox timed out after 10 s", "It is 3.")), "infrastructure"),
    (Episode(said("run!", "<Error: sandbox timed out", "again!", "<4", "It is 3.")), "wrong answer"),
    (Episode(said("I see a connection timeout in the story.")), "wrong answer"),
    (Episode(said("run!", "<The novel 'Error: connection refused' " + "is long " * 90, "It is 3.")), "wrong answer"),
    (Episode(said("It is 3."), {"failure_reason": "JudgeTimeoutError"}), "grader"),
    (Episode(said("It is 3."), {"status": "completed", "stop_reason": "end_turn"}), "wrong answer"),
    (Episode(said("It is 3."), gold="3"), "grader"),
    (Episode(said("It is 30."), gold="3"), "wrong answer"),
    (Episode(said("I cannot say I like it, but the answer is <answer>3</answer>")), "wrong answer"),
    (Episode(said("We go left. " * 20), cut=True), "looped"),
    (Episode(said("Left, then right, then up the"), cut=True), "truncation"),
    (Episode((Turn("assistant", "", (("", "3"),)), Turn("tool", "[0.1]"))), "not told"),  # control
    (Episode((Turn("assistant", "", (("", "3"),)), Turn("tool", "[0.1]")) * 8), "not told"),
    (Episode(said("I look.", "<found")), "truncation"),  # whoever stops after a tool's answer was cut: so in episodes that were read
    (Episode(()), "not told"),
    (Episode((Turn("assistant", "", (("", "left"),)), Turn("tool", "[0.1]")) * 8), "looped"),  # a move in words, whatever was seen
    # What read episodes showed: who submits has answered, pages that are turned are no loop, and what the parser took is no want of form.
    (
        Episode((Turn("assistant", "I fix it.", (("edit", "a"),)), Turn("tool", "ok"), Turn("assistant", "", (("submit", ""),)))),
        "wrong answer",
    ),
    (Episode(said(*(s for i in range(8) for s in ("down!", f"<page {i}"))), {"exit_status": "submitted (exit_cost)"}), "truncation"),
    (Episode(said(*["down!", "<the end"] * 8), cut=True), "looped"),
    (Episode(said(*["open!", "<Verb error."] * 4), cut=True), "looped"),
    (Episode(said(*(s for i in range(6) for s in (f"open {i}!", f"<Error: no column {i}"))), cut=True), "tool misuse"),
    (Episode(said("It is [3]."), asked="Give <answer>", taken="3"), "wrong answer"),
    (Episode(said("It is [3]."), taken=""), "format"),
    (Episode((*said("I look."), Turn("user", "Max rounds (30) reached."))), "truncation"),
    (
        Episode((*said("I look."), Turn("user", "Traceback (most recent call last)\n  a\nConnectionError: Connection broken"))),
        "infrastructure",
    ),
    (Episode(said("Connection errors: Traceback is what one looks at.")), "wrong answer"),
    (Episode(said("So <answer>IDK</answer>")), "gave up"),
    (Episode(said("It is 3."), {"failure_reason": "judge_evaluation_failed"}), "wrong answer"),
]


def test_the_turn_that_went_wrong_first() -> None:
    """A loop begins at its first repeat, a misused tool at the first answer that was never got over; else it is the last turn."""
    loop = reason_of(Episode(said("look!", "<a", *["down!", "<the end"] * 6), cut=True)).turn
    misuse = reason_of(Episode(said("look!", "<a", *(s for i in range(9) for s in (f"open {i}!", f"<Error: no column {i}"))))).turn
    assert (loop, misuse, reason_of(Episode(said("It is 3."))).turn) == (4, 3, -1)


def test_failed_without_a_reward() -> None:
    """Where no reward and no success is written, an episode that does not come to the right answer failed."""
    rows = pd.DataFrame([{"step": 0, "response": f"It is {x}", "ground_truth": "Paris", "reward": np.nan} for x in ("Paris", "Rome")])
    assert list(why_failed(Run(rollouts=rows))["reasons"]) == ["wrong answer"]


@pytest.mark.parametrize(("episode", "reason"), NEAR)
def test_near_misses(episode: Episode, reason: str) -> None:
    """Errors that were overcome, are spoken of, or are the model's own are no infrastructure; the grader is blamed where it is wrong."""
    assert reason_of(episode).reason == reason


@pytest.mark.parametrize(
    ("a", "b", "same"), [("12.0", "12", True), ("1,200", "1200", True), ("Paris", "paris.", True), ("12", "13", False), ("", "", False)]
)
def test_same_answer(a: str, b: str, same: bool) -> None:
    """Numbers are compared as numbers, words as words, and nothing is no answer."""
    assert same_answer(a, b) is same


@pytest.mark.parametrize(
    ("a", "b", "near"),
    [
        ("42", "42 members", True),
        ("the apples", "apple", True),
        ("42", "43 members", False),
        ("Rome", "Paris", False),
        ("", "Paris", False),
    ],
)
def test_nearly_same(a: str, b: str, near: bool) -> None:
    """One answer that says all of the other, in the plural or with a word more, is nearly the same; another number is not."""
    assert nearly_same(a, b) is near


def test_turns_of_one_text() -> None:
    """Calls with their names and answers are taken apart in every notation; a text without any is one turn."""
    tags = turns_in('Go.\n<tool_call>{"name": "look", "arguments": {}}</tool_call><tool_response>found</tool_response>So x.')
    assert [(t.role, [c[0] for c in t.calls]) for t in tags] == [("assistant", ["look"]), ("tool", []), ("assistant", [])]
    react = turns_in("Thought: hm\nAction: look(x)\nObservation: found\nThought: so x")
    assert [(t.role, [c[0] for c in t.calls]) for t in react] == [("assistant", ["look"]), ("tool", []), ("assistant", [])]
    assert turns_in("just words") == (Turn("assistant", "just words"),)


def lossy(lost: dict[str, Any]) -> Run:
    """Eight groups of four: two right, one wrong, one lost."""
    rows = []
    for g in range(8):
        for i in range(4):
            row = {
                "step": g // 4,
                "prompt": f"q{g}",
                "group": str(g),
                "response": f"<answer>{i}</answer>",
                "reward": float(i < 2),
                "error": "",
            }
            rows.append(row | (lost if i == 3 else {}))
    return Run(rollouts=pd.DataFrame(rows))


def test_what_the_infrastructure_cost() -> None:
    """The share lost, the mean with and without, the pull on the baseline of the groups, and that the lost were trained upon."""
    found = why_failed(lossy({"error": "SandboxTimeoutError", "response": "..", "advantage": -1.0}))
    reward = found["reward"]
    assert (reward["lost"], reward["scored"], reward["dropped"], reward["trained_upon"]) == (8, 8, 0, 8)
    assert (reward["as_logged"], reward["without"], reward["baseline_shift"]) == pytest.approx((0.5, 2 / 3, -1 / 6))
    assert found["reasons"]["infrastructure"]["share"] == 0.5
    assert any("the infrastructure lost 8" in line for line in failure_lines(found))


def test_lost_episodes_that_were_dropped() -> None:
    """An episode without a reward counts as lost where the file says what ended it, and moves no mean."""
    reward = why_failed(lossy({"error": "SandboxTimeoutError", "reward": np.nan}))["reward"]
    assert (reward["scored"], reward["dropped"], "as_logged" in reward) == (0, 8, False)


@pytest.mark.parametrize(
    ("rewards", "failed"),
    [
        ([0.67, 1.0, 1.0, 0.2], [True, False, False, True]),  # partial pay is no success where full marks are given
        ([0.67, 0.8, 0.8, 0.2], [True, False, False, True]),
        ([0.67, 0.81, 0.8, 0.2], [False, False, False, True]),  # no mark stands out: the upper half
        ([0.67], [True]),
        ([3.0, 2.0, 3.0, 0.0], [False, False, False, True]),
        ([-1.0, 0.5, 1.0], [True, False, False]),
    ],
)
def test_who_failed_by_the_reward(rewards: list[float], failed: list[bool]) -> None:
    """Full marks between 0 and 1 that several get are what counts as success; any other reward is parted at the middle of its range."""
    rows = pd.DataFrame({"step": 0.0, "response": "x", "reward": rewards})
    assert failures(rows)[0].tolist() == failed


@pytest.mark.parametrize(
    ("last", "failed"),
    [("Answer is INCORRECT", True), ("Answer is correct", False), ("Episode finished, reward = False", True), ("You won!", False)],
)
def test_who_failed_by_what_the_environment_says_last(last: str, failed: bool) -> None:
    """Without a reward and a right answer the environment's own verdict counts."""
    rows = pd.DataFrame({"step": 0.0, "response": "x", "reward": np.nan, "turns": [(Turn("assistant", "x"), Turn("tool", last))]})
    assert failures(rows)[0].tolist() == [failed]


def test_nothing_failed() -> None:
    """Where all were paid there is nothing to explain, and no lines."""
    rows = lossy({}).rollouts.assign(reward=1.0)
    assert why_failed(Run(rollouts=rows)) == {} == why_failed(Run())
    assert failure_lines({}) == []


def test_the_terminal_says_why() -> None:
    """``samples`` begins with why episodes failed."""
    told = CliRunner().invoke(main, ["samples", "tests/data/corpus/runs/run-03"])
    assert "== why episodes failed" in told.output
