"""Episodes under names that say nothing: their values tell who speaks, what was called, what counts up and what came of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from rl_advisor.reading import UnreadableRun, read_run
from rl_advisor.reading.parsing.told_by_values import answers_told, names_told
from rl_advisor.samples.episodes import failures, judged, turns_of
from rl_advisor.samples.rows import written

TALK = [
    ("user", "please find the red door"),
    ("assistant", "I look for a red door now"),
    ("user", "it was not there"),
    ("assistant", "I am done here then"),
]
LOOKS = [
    ("look", {"at": "red"}, "there is a wall on the left"),
    ("open", {"at": "it"}, "it does not open at all"),
    ("look", {"at": "sky"}, "there is a bird far away"),
]
TOLD = {
    "speakers": ([{"gam": who, "zul": text} for who, text in TALK], {"gam": "role", "zul": "content"}),
    "calls": ([{"fim": n, "bru": a, "tok": got} for n, a, got in LOOKS], {"fim": "tool", "bru": "arguments", "tok": "tool_output"}),
    "a choice of several": (
        [{"pim": ["up", "down"], "lor": w, "tas": [i, 0], "wen": [i + 1, 0]} for i, w in enumerate(("up", "down", "up", "up"))],
        {"lor": "action", "wen": "observation"},
    ),
    "numbers": ([{"gam": i, "zul": 0.5 * i, "kol": "adam"} for i in range(4)], {}),
    "one speaker": ([{"gam": "user", "zul": text} for _, text in TALK], {}),
    "settings": ([{"gam": name, "zul": "a text of several words here"} for name in ("a1", "b2", "c3", "d4", "e5", "f6", "g7")], {}),
}


@pytest.mark.parametrize("what", TOLD)
def test_names_by_their_values(what: str) -> None:
    """Few words that take turns speak, a mapping beside a word is a call, what a list beside it holds was chosen; near ones say nothing."""
    records, wanted = TOLD[what]
    assert names_told([records]) == wanted


@pytest.mark.parametrize("said", ["wrong", "the same", "no gold"])
def test_answers_by_how_often_they_agree(said: str) -> None:
    """Two short texts that are often the same are an answer and the right one; always the same, or never, they are not."""
    gold = "expect" if said != "no gold" else "gam"
    rows = [{"id": f"t{i}", gold: f"${i}", "ended_with": f"{i}" if i % 2 and said == "wrong" else f"${i}"} for i in range(8)]
    assert answers_told(rows) == ({"expect": "expected", "ended_with": "response"} if said == "wrong" else {})


def read(path: Path, lines: list[dict[str, Any]], name: str = "x.jsonl", indent: int | None = None) -> Any:
    """The rows of a file of these lines; a list of them where the name is a document's."""
    text = json.dumps(lines) if name.endswith(".json") else "\n".join(json.dumps(line, indent=indent) for line in lines)
    (path / name).write_text(text)
    return written(read_run(path).rollouts)


MOVES = [
    {
        "maze": m,
        "n": i,
        "may": ["up", "down"],
        "took": "up" if i % 2 else "down",
        "at": [i],
        "to": [i + 1],
        "goal_reached": m == "b" and i == 4,
    }
    for m in ("a", "b")
    for i in range(5)
]


def test_a_walk_of_moves(tmp_path: Path) -> None:
    """Steps are of one walk until the count starts anew; the flag that the last one sets tells who got there."""
    rows = read(tmp_path, MOVES)
    assert [[t.calls[0][1] for t in turns if t.calls] for turns in turns_of(rows)] == [["down", "up", "down", "up", "down"]] * 2
    assert failures(rows)[0].tolist() == [True, False]


@pytest.mark.parametrize(("name", "indent"), [("x.jsonl", None), ("x.jsonl", 1), ("x.json", None)])
def test_turns_whose_prompt_grows(tmp_path: Path, name: str, indent: int | None) -> None:
    """Lines, objects written over several lines, or a list: the answer and the next question are told out of a longer prompt."""
    first = "User: open the door that is painted red, and say what you see behind it, whatever it is." + " Please." * 20
    lines = [
        {"task": t, "turn_idx": i, "prompt": first + " I look.\nEnv: a hall" * i, "completion": text, "reward": float(i), "done": i == 1}
        for t in (4, 5)
        for i, text in enumerate(("I look.", "It is a hall."))
    ]
    rows = read(tmp_path, lines, name, indent)
    assert [[t.text for t in turns if t.role == "assistant"] for turns in turns_of(rows)] == [["I look.", "It is a hall."]] * 2
    assert turns_of(rows)[0][1].text == "Env: a hall"
    assert rows["reward"].tolist() == [1, 1]


def test_samples_of_a_group_are_no_turns(tmp_path: Path) -> None:
    """A count that starts anew with each prompt counts samples where the prompt does not grow."""
    lines = [{"prompt_id": p, "sample": i, "prompt": f"what is {p}?", "response": f"I say {i}."} for p in (1, 2) for i in range(4)]
    assert len(read(tmp_path, lines)) == 8


def test_what_is_judged_in_words_of_its_own(tmp_path: Path) -> None:
    """A column of verdicts is one whatever it is called, and a flag of what was wrong; the last answer stands beside the steps."""
    steps = [{"thought": "I look.", "tool_call": {"name": "look", "args": {"q": "x"}}, "observation": "a door is there"}]
    ended = ("PASSED", "FAILED", "FAILED", "PASSED")
    rows = read(tmp_path, [{"goal": "find x", "steps": steps, "final_answer": "It is a door.", "how_it_went": w} for w in ended])
    assert failures(rows)[0].tolist() == [False, True, True, False]
    assert judged(rows)["reason"].tolist() == ["wrong answer"] * 2


def test_flags_of_what_was_wrong(tmp_path: Path) -> None:
    """A flag that is set where an answer is bad says the opposite of one that is set where it is good."""
    rows = read(tmp_path, [{"prompt": "q?", "response": f"It is door {i}.", "flagged": int(i > 1)} for i in range(4)])
    assert failures(rows)[0].tolist() == [False, False, True, True]


def test_tables_stay_tables(tmp_path: Path) -> None:
    """Objects that count up and say nothing in words are no episodes."""
    (tmp_path / "x.json").write_text(json.dumps([{"epoch": i, "loss": 1.0 / (i + 1), "note": "ok"} for i in range(9)]))
    try:
        run = read_run(tmp_path)
    except UnreadableRun:
        return
    assert not len(run.rollouts)
