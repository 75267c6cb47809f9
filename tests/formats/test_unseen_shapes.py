"""Episodes in shapes that no framework writes: who speaks, what was called and what came back are told by words and values."""

import json
from pathlib import Path
from typing import Any

import pytest
from rl_advisor.features.text.turns import turns_in
from rl_advisor.reading import UnreadableRun, read_run
from rl_advisor.reading.parsing.episode_places import told_apart
from rl_advisor.reading.parsing.inferred_turns import heard
from rl_advisor.samples.episodes import failures, judged, turns_of
from rl_advisor.samples.rows import written

WANTED = [("assistant", "I look.", ["look"]), ("tool", "a door", []), ("assistant", "It is a door.", [])]
SPAN = {"kind": "TOOL", "name": "look", "input": {"at": "x"}, "output": "a door"}
ASKED = [{"role": "user", "content": "what is x?"}]
FIRST = {"role": "assistant", "content": "I look.", "tool_calls": [{"name": "look", "arguments": {"at": "x"}}]}
NESTED: dict[str, Any] = {
    "steps in plain words": [{"why": "I look.", "did": {"op": "look", "with": {"at": "x"}}, "got": "a door"}, {"says": "It is a door."}],
    "who and what": [
        {"who": "me", "what": "I look.", "call": {"fn": "look", "kwargs": {"at": "x"}}},
        {"who": "env", "what": "a door"},
        {"who": "me", "what": "It is a door."},
    ],
    "events by type": [
        {"event": "llm_message", "payload": {"text": "I look."}},
        {"event": "tool_invoked", "payload": {"tool": "look", "params": {"at": "x"}}},
        {"event": "tool_returned", "payload": {"message": "a door"}},
        {"event": "llm_message", "payload": {"text": "It is a door."}},
    ],
    "spans whose prompt grows": [
        {"kind": "LLM", "input": ASKED, "output": FIRST},
        SPAN,
        {
            "kind": "LLM",
            "input": [*ASKED, FIRST, {"role": "tool", "content": "a door"}],
            "output": {"role": "assistant", "content": "It is a door."},
        },
    ],
    "a branch below each node": [
        {
            "actor": "policy",
            "utterance": "I look.",
            "invocation": {"fn": "look", "kwargs": {}},
            "below": [{"actor": "env", "utterance": "a door", "below": [{"actor": "policy", "utterance": "It is a door.", "below": []}]}],
        }
    ],
    "lists side by side": {
        "thoughts": ["I look.", "It is a door."],
        "moves": [{"tool": "look", "args": {}}, None],
        "seen": ["a door", None],
    },
    "turns by their names": {"turn_1": {"agent": "I look.\nlook(x)", "env": "a door"}, "turn_2": {"agent": "It is a door."}},
    "pairs": [["assistant", "I look.\nlook(x)"], ["env", "a door"], ["assistant", "It is a door."]],
}


def gist(turns: Any) -> list[tuple[str, str, list[str]]]:
    """Who said what and called which tool, calls joined to the words before them; what was asked is left out."""
    out: list[tuple[str, str, list[str]]] = []
    for turn in turns:
        names = [name for name, _ in turn.calls]
        if turn.role == "assistant" and out and out[-1][0] == "assistant" and not turn.text:
            out[-1][2].extend(names)
        elif turn.role != "user":
            out.append((turn.role, turn.text.split("\n")[0], names))
    return out


@pytest.mark.parametrize("shape", NESTED)
def test_turns_of_any_nesting(shape: str) -> None:
    """The same episode comes out of every nesting, once."""
    turns = told_apart(heard(NESTED[shape]))
    wanted = WANTED if shape not in ("turns by their names", "pairs") else [(r, t, []) for r, t, _ in WANTED]
    assert gist(turns) == wanted


TEXTS = {
    "Llama": "I look.\n<tool_call>{'name': look(x)</tool_call><|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\na door<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\nIt is a door.<|eot_id|>",
    "Gemma": "I look.\n```tool_code\nlook(x)\n```<end_of_turn>\n<start_of_turn>user\na door<end_of_turn>\n"
    "<start_of_turn>model\nIt is a door.",
    "labels": "Agent: I look.\nlook(x)\nEnv: a door\nAgent: It is a door.",
    "headings": "## Agent\n\nI look.\nlook(x)\n\n## Environment\n\na door\n\n## Agent\n\nIt is a door.\n",
    "tags": "I look.\n<search>x</search><observation>a door</observation>It is a door.",
}


@pytest.mark.parametrize("name", TEXTS)
def test_marks_of_speakers_in_a_text(name: str) -> None:
    """Chat templates, labels, headings and tags tell the speakers apart; a bare call before an answer is one."""
    turns = [turn for turn in turns_in(TEXTS[name]) if turn.text]
    assert [turn.role == "assistant" for turn in turns] == [True, False, True]
    assert (turns[1].text, turns[2].text, len(turns[0].calls)) == ("a door", "It is a door.", 1)


@pytest.mark.parametrize(
    "text",
    [
        "The user: a person. The agent: a program.\nBoth talk.",
        "Input: 3\nOutput: 4\nResult: fine",
        "Question: who?\nAnswer: me",
        "> a quoted line\n> and another\n> and one more",
    ],
)
def test_texts_of_one_speaker(text: str) -> None:
    """Words that merely name speakers, and what programs print, are the model's own."""
    assert [(turn.role, turn.text) for turn in turns_in(text)] == [("assistant", text)]


def test_a_document_of_groups_in_groups(tmp_path: Path) -> None:
    """Episodes lists below lists, each with what stands above it; the verdict, the end and the right answer are told where they stand."""
    said = [{"speaker": "Problem", "words": "what is x?"}, {"speaker": "Policy", "words": "It is a door."}]
    samples = [
        {"dialogue": said, "pay": {"points": paid}, "closing": {"status": status, "limit_hit": status == "cut"}, "gold": "a window"}
        for paid, status in ((1, "done"), (0, "done"), (0, "cut"), (0, "ConnectionError: server unreachable"))
    ]
    (tmp_path / "dump.json").write_text(json.dumps({"epochs": [{"batches": [{"groups": [{"samples": samples}]}]}]}))
    rows = written(read_run(tmp_path).rollouts)
    assert rows["reward"].tolist() == [1, 0, 0, 0]
    assert failures(rows)[0].tolist() == [False, True, True, True]
    assert judged(rows)["reason"].tolist() == ["wrong answer", "truncation", "infrastructure"]


def test_a_line_an_event(tmp_path: Path) -> None:
    """Lines of two episodes are gathered by their episode; the reward that a last event tells is the episode's."""
    lines = [
        {"trace_id": t, **event, "n": i}
        for t, paid in (("a", 1.0), ("b", 0.0))
        for i, event in enumerate([*NESTED["events by type"], {"event": "scored", "payload": {"reward": paid}}])
    ]
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = written(read_run(tmp_path).rollouts)
    assert [gist(turns) for turns in turns_of(rows)] == [WANTED, WANTED]
    assert rows["reward"].tolist() == [1, 0]


@pytest.mark.parametrize(
    "rows",
    [
        [{"step": i, "loss": 1.0 / (i + 1), "message": "training"} for i in range(5)],
        [{"prompt": "q", "response": f"r{i}", "prompt_id": 1, "reward": 0.0} for i in range(5)],
        [{"instruction": "do it", "input": "x", "output": "y"} for _ in range(5)],
    ],
)
def test_lines_that_are_no_events(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    """Metrics, samples and what models are taught with are no events of one episode."""
    from rl_advisor.reading.formats import episode_steps

    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert not episode_steps.claims(tmp_path / "x.jsonl")


SENT = "I put the four words together that name a door: gate, hatch, portal and wicket."
CALLS = [[{"function": "look", "arguments": {"at": "x"}}], [{"function": "open", "arguments": {}}]]


def test_runs_by_task_and_repetition(tmp_path: Path) -> None:
    """What lies alike under the names of tasks is one list of episodes, one that never said a word among them; a word tells of the end."""
    runs = {
        task: [
            {"outcome": "pass", "per_turn": CALLS, "error": None},
            {"outcome": "fail", "per_turn": CALLS[:1], "error": None},
            {"outcome": "error", "per_turn": [], "error": "Client error '402 Payment Required' for url"},
            {"outcome": "abstain", "per_turn": [], "error": None},
        ]
        for task in ("doors", "windows")
    }
    told = {task: {"outcomes": ["pass", "fail"], "all_passed": False} for task in runs}
    (tmp_path / "model-k4.json").write_text(json.dumps({"model": "m", "rate": 0.25, "per_task": told, "runs": runs}))
    rows = written(read_run(tmp_path).rollouts)
    assert rows["key"].tolist() == ["doors"] * 4 + ["windows"] * 4
    assert [[name for turn in turns for name, _ in turn.calls] for turns in turns_of(rows)] == [["look", "open"], ["look"], [], []] * 2
    assert judged(rows)["reason"].tolist() == ["wrong answer", "infrastructure"] * 2


def test_rows_of_one_answer_under_a_name_of_its_own(tmp_path: Path) -> None:
    """The answer is what says most; valid is not solved, a flag tells of the form; tokens that nobody sees went out at a limit."""
    told: list[dict[str, Any]] = [
        {"parsed": True, "valid": True, "solved": True, "sent": SENT, "tokens_out": 40},
        {"parsed": True, "valid": True, "solved": False, "sent": SENT, "tokens_out": 40},
        {"parsed": True, "valid": False, "solved": False, "sent": SENT, "tokens_out": 40},
        {"parsed": False, "valid": False, "solved": False, "sent": "", "tokens_out": 4_096},
        {"solved": False, "error": "HTTPError: HTTP Error 429: Too Many Requests"},
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"puzzle": i, **row}) + "\n" for i, row in enumerate(told)))
    rows = written(read_run(tmp_path).rollouts)
    assert rows["response"].tolist() == [SENT, SENT, SENT, "", ""]
    assert judged(rows)["reason"].tolist() == ["wrong answer", "format", "truncation", "infrastructure"]


def test_a_lone_document_with_a_command(tmp_path: Path) -> None:
    """What a tracker writes of a run, with its status and what it printed, is no episode."""
    from rl_advisor.reading.formats import rollouts_jsonl

    (tmp_path / "run.json").write_text(
        json.dumps({"status": "FAILED", "meta": {"command": "train", "options": {"UPDATE": ["seed=4"], "output": ["a"]}}})
    )
    assert not rollouts_jsonl.claims(tmp_path / "run.json")


@pytest.mark.parametrize(
    "told",
    [
        [{"step": i, "success": True, "note": "ok"} for i in range(5)],
        [{"name": f"test_{i}", "passed": True, "message": SENT} for i in range(5)],
        [{"index": i, "name": f"door {i}", "task_description": SENT, "result_images": [f"{i}.png"]} for i in range(5)],
        [{"id": i, "question": SENT, "solved": True} for i in range(5)],
    ],
)
@pytest.mark.parametrize("listed", [True, False])
def test_rows_that_are_no_episodes(tmp_path: Path, told: list[dict[str, Any]], listed: bool) -> None:
    """Metrics with a flag, tests that passed and tasks are no episodes, in lines or in a document."""
    from rl_advisor.reading.formats import rollouts_jsonl

    path = tmp_path / ("x.json" if listed else "x.jsonl")
    path.write_text(json.dumps({"cases": told}) if listed else "".join(json.dumps(row) + "\n" for row in told))
    assert not rollouts_jsonl.claims(path)


def rows_of(path: Path, lines: list[dict[str, Any]], name: str = "x.jsonl", indent: int | None = None) -> Any:
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
        "state": [i],
        "goal_reached": m == "b" and i == 4,
    }
    for m in ("a", "b")
    for i in range(5)
]


def test_a_walk_of_moves(tmp_path: Path) -> None:
    """Steps are of one walk until the count starts anew; the flag that the last one sets tells who got there."""
    rows = rows_of(tmp_path, MOVES)
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
    rows = rows_of(tmp_path, lines, name, indent)
    assert [[t.text for t in turns if t.role == "assistant"] for turns in turns_of(rows)] == [["I look.", "It is a hall."]] * 2
    assert turns_of(rows)[0][1].text == "Env: a hall"
    assert rows["reward"].tolist() == [1, 1]


def test_samples_of_a_group_are_no_turns(tmp_path: Path) -> None:
    """A count that starts anew with each prompt counts samples where the prompt does not grow."""
    lines = [{"prompt_id": p, "sample": i, "prompt": f"what is {p}?", "response": f"I say {i}."} for p in (1, 2) for i in range(4)]
    assert len(rows_of(tmp_path, lines)) == 8


def test_what_is_judged_in_words_of_its_own(tmp_path: Path) -> None:
    """A column of verdicts is one whatever it is called, and a flag of what was wrong; the last answer stands beside the steps."""
    steps = [{"thought": "I look.", "tool_call": {"name": "look", "args": {"q": "x"}}, "observation": "a door is there"}]
    ended = ("PASSED", "FAILED", "FAILED", "PASSED")
    rows = rows_of(tmp_path, [{"goal": "find x", "steps": steps, "final_answer": "It is a door.", "how_it_went": w} for w in ended])
    assert failures(rows)[0].tolist() == [False, True, True, False]
    assert judged(rows)["reason"].tolist() == ["wrong answer"] * 2


def test_flags_of_what_was_wrong(tmp_path: Path) -> None:
    """A flag that is set where an answer is bad says the opposite of one that is set where it is good."""
    rows = rows_of(tmp_path, [{"prompt": "q?", "response": f"It is door {i}.", "flagged": int(i > 1)} for i in range(4)])
    assert failures(rows)[0].tolist() == [False, False, True, True]


def test_tables_stay_tables(tmp_path: Path) -> None:
    """Objects that count up and say nothing in words are no episodes."""
    (tmp_path / "x.json").write_text(json.dumps([{"epoch": i, "loss": 1.0 / (i + 1), "note": "ok"} for i in range(9)]))
    try:
        run = read_run(tmp_path)
    except UnreadableRun:
        return
    assert not len(run.rollouts)
