"""Conversations as frameworks and vendors write them: prompt, response, calls and their failures come out alike."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rl_advisor.features.text.phrases import tool_calls as written_calls
from rl_advisor.reading import read_run
from rl_advisor.reading.parsing import chat
from rl_advisor.reading.parsing.inferred_turns import heard
from rl_advisor.run import Run

ARGUMENTS = '{"city": "Ulm"}'
OPENAI = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "weather in Ulm?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": ARGUMENTS}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "error: timed out"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c2", "type": "function", "function": {"name": "weather", "arguments": ARGUMENTS}}],
    },
    {"role": "tool", "tool_call_id": "c2", "content": "rain"},
    {"role": "assistant", "reasoning_content": "it rains", "content": "It rains in Ulm."},
]
RESPONSES_API = [
    {"role": "user", "content": [{"type": "input_text", "text": "weather in Ulm?"}]},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I ask"}]},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": ARGUMENTS},
    {"type": "function_call_output", "call_id": "c1", "output": "error: timed out"},
    {"type": "function_call", "call_id": "c2", "name": "weather", "arguments": ARGUMENTS},
    {"type": "function_call_output", "call_id": "c2", "output": "rain"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It rains in Ulm."}]},
]
ANTHROPIC = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "weather in Ulm?"},
            {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo" * 99}},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "I ask"},
            {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Ulm"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "timed out"}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t2", "name": "weather", "input": {"city": "Ulm"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "rain"}]}]},
    {"role": "assistant", "content": [{"type": "text", "text": "It rains in Ulm."}]},
]
SHAREGPT = [
    {"from": "system", "value": "be brief"},
    {"from": "human", "value": "weather in Ulm?"},
    {"from": "function_call", "value": '{"name": "weather", "arguments": {"city": "Ulm"}}'},
    {"from": "observation", "value": "error: timed out"},
    {"from": "function_call", "value": '{"name": "weather", "arguments": {"city": "Ulm"}}'},
    {"from": "observation", "value": "rain"},
    {"from": "gpt", "value": "It rains in Ulm."},
]
GEMINI = [
    {"role": "user", "parts": [{"text": "weather in Ulm?"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {"city": "Ulm"}}}]},
    {"role": "function", "parts": [{"functionResponse": {"name": "weather", "response": {"error": "timed out"}}}]},
    {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {"city": "Ulm"}}}]},
    {"role": "function", "parts": [{"functionResponse": {"name": "weather", "response": {"text": "rain"}}}]},
    {"role": "model", "parts": [{"text": "It rains in Ulm."}]},
]
CHOICES = [*OPENAI[:2], *({"finish_reason": "stop", "index": 0, "message": m} if m["role"] == "assistant" else m for m in OPENAI[2:])]
LAYOUTS = {"openai": OPENAI, "responses": RESPONSES_API, "anthropic": ANTHROPIC, "sharegpt": SHAREGPT, "gemini": GEMINI, "choices": CHOICES}


def lines(path: Path, rows: list[dict[str, object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def weather(run: Run) -> None:
    """What every layout of the same conversation must come out as."""
    row = run.rollouts.iloc[0]
    assert "weather in Ulm?" in row["prompt"]
    assert "<tool_call>" not in row["prompt"]
    assert row["response"].startswith("[assistant]")
    assert row["response"].endswith("It rains in Ulm.")
    assert row["tool_calls"] == 2
    calls = written_calls(row["response"])
    assert [failed for _, failed in calls] == [True, False]
    assert calls[0][0] == calls[1][0]


@pytest.mark.parametrize("as_json_text", [False, True])
@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("column", ["messages", "conversations"])
def test_one_conversation_in_every_layout(tmp_path: Path, name: str, column: str, as_json_text: bool) -> None:
    """Two calls, the first of which fails and is made again unchanged, are seen whoever wrote them, as objects or as JSON text."""
    cell = json.dumps(LAYOUTS[name]) if as_json_text else LAYOUTS[name]
    weather(read_run(lines(tmp_path / "step_4.jsonl", [{column: cell, "reward": 0.5}])))


def test_an_image_is_named_and_not_shown() -> None:
    """The bytes of an image are no text of a prompt."""
    assert chat.as_text(ANTHROPIC[:1]) == "weather in Ulm?\n[image]"


def test_trajectories_of_art(tmp_path: Path) -> None:
    """Groups of trajectories, one a line, and the Parquet they are moved to later: rewards, groups and metrics stay with their messages."""
    trajectory = {
        "messages_and_choices": CHOICES,
        "metrics": {"solved": 1.0, "note": "x"},
        "metadata": {"id": "7"},
        "tools": None,
        "logs": [],
    }
    groups = [{"trajectories": [{**trajectory, "reward": float(i == g)} for i in range(3)]} for g in range(2)]
    run = read_run(lines(tmp_path / "lines/trajectories/train/0005.jsonl", groups).parents[2])
    weather(run)
    table = run.rollouts
    assert table["step"].unique().tolist() == [5]
    assert table["reward"].tolist() == [1, 0, 0, 0, 1, 0]
    assert table.groupby("group").size().tolist() == [3, 3]
    assert table["solved"].tolist() == [1] * 6
    inner = [m.get("message", m) for m in CHOICES]
    flat = [
        {
            "group_index": 0,
            "reward": 0.5,
            "metrics": '{"solved": 1.0}',
            "messages": [
                {"role": m["role"], "content": m["content"], "tool_calls": json.dumps(c) if (c := m.get("tool_calls")) else None}
                for m in inner
            ],
        }
    ]
    file = tmp_path / "packed/trajectories/train/0005.parquet"
    file.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(flat), file)
    packed = read_run(file.parents[2])
    weather(packed)
    assert packed.rollouts["solved"].tolist() == [1]


def test_episodes_of_rllm(tmp_path: Path) -> None:
    """An episode a file, written over many lines: those of one task are a group, others are not, and a cut one is known by its reason."""
    for number, (task, reward) in enumerate([("aaaa", 1.0), ("aaaa", 0.0), ("bbbb", 1.0)]):
        said = [{"role": "user", "content": f"task {task}"}, {"role": "assistant", "content": "thinking it through"}]
        episode = {
            "training_step": 3,
            "epoch": 0,
            "episode_id": f"{task}:{number}",
            "task": {"question": f"task {task}"},
            "task_hash": task,
            "is_correct": bool(reward),
            "termination_reason": "env_done" if reward else "max_response_length_exceeded",
            "metrics": {"turns": 2},
            "trajectories": [
                {
                    "name": "solver",
                    "uid": "u",
                    "reward": reward,
                    "num_steps": 2,
                    "steps": [{"chat_completions": said[:1]}, {"chat_completions": said}],
                }
            ],
        }
        file = tmp_path / f"episodes/train_step_3_epoch_0/episode_hash{task}_id{number}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(episode, indent=2) + "\n")
    table = read_run(tmp_path).rollouts.sort_values("row")
    assert sorted(table["prompt"].unique()) == ["task aaaa", "task bbbb"]
    assert sorted(table.groupby(["step", "group"]).size()) == [1, 2]
    assert table.groupby("reward")["truncated"].max().to_dict() == {0.0: 1.0, 1.0: 0.0}
    assert table["step"].unique().tolist() == [3]


def test_steps_without_a_chat_are_turns(tmp_path: Path) -> None:
    """Where a step holds only what was seen and what was answered, these are the turns."""
    steps = [{"observation": "room 1", "model_response": "go left"}, {"observation": "room 2", "model_response": "go right"}]
    row = read_run(lines(tmp_path / "step_1.jsonl", [{"trajectories": [{"reward": 1, "steps": steps}]}])).rollouts.iloc[0]
    assert row["prompt"] == "room 1"
    assert row["response"] == "[assistant] go left\n[tool] room 2\n[assistant] go right"


def test_several_turns_of_verl(tmp_path: Path) -> None:
    """The decoded text of verl's agent loop, with Hermes calls and their results inside."""
    call = '<tool_call>\n{"name": "search", "arguments": {"q": "x"}}\n</tool_call>'
    results = [f"user\n<tool_response>\n{said}\n</tool_response>\nassistant\n" for said in ("no such file", "found")]
    text = f"I look.\n{call}\n{results[0]}{call}\n{results[1]}It is x."
    run = read_run(lines(tmp_path / "7.jsonl", [{"input": "find x", "output": text, "gts": "x", "score": 1.0, "step": 7}]))
    calls = written_calls(run.rollouts["response"].iloc[0])
    assert [failed for _, failed in calls] == [True, False]
    assert calls[0][0] == calls[1][0]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("<search>Ulm minster</search><information>Doc 1</information><search>its height</search>", 2),
        ('[TOOL_CALLS][{"name": "look", "arguments": {}}]', 1),
        ("<|python_tag|>look(1)<|eom_id|>", 1),
        (
            "<\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>look\n```json\n{}\n```<\uff5ctool\u2581call\u2581end\uff5c>",
            1,
        ),
        ("<tool_call>" + '{"name": "write", "arguments": {"code": "' + "x = 1\\n" * 400 + '"}}</tool_call>', 1),
        ("I would search the tools and call for help.", 0),
    ],
)
def test_notations_of_calls(text: str, count: int) -> None:
    """Calls are counted in the notations that models are trained with; a long argument hides none, and plain words are none."""
    assert len(written_calls(text)) == count


def test_rows_of_other_writers(tmp_path: Path) -> None:
    """Names of SkyRL's dumps and of verifiers' results are known, finish reasons tell what was cut, named rewards stay apart."""
    rows = [
        {"input_prompt": "q", "output_response": f"r{i}", "score": {"format": 1.0, "correct": float(i)}, "stop_reason": reason, "step": 2}
        for i, reason in enumerate(["stop", "length"])
    ]
    table = read_run(lines(tmp_path / "skyrl/dump.jsonl", rows)).rollouts
    assert table[["prompt", "response", "reward", "truncated"]].to_numpy().tolist() == [["q", "r0", 1, 0], ["q", "r1", 2, 1]]
    assert table["reward/correct"].tolist() == [0, 1]
    verifiers = {"prompt": OPENAI[:2], "completion": OPENAI[2:], "answer": "rain", "task": "weather", "reward": 1.0, "is_truncated": True}
    run = read_run(lines(tmp_path / "rollouts/step_9/rank_0.jsonl", [verifiers, {**verifiers, "is_truncated": False}]))
    weather(run)
    assert run.rollouts["step"].unique().tolist() == [9]
    assert run.rollouts["truncated"].tolist() == [1, 0]


def test_a_list_of_rows_in_one_document(tmp_path: Path) -> None:
    """A JSON document of rows reads like the lines; another document is left alone."""
    rows = [{"prompt": "q", "response": f"r{i}", "reward": i, "step": 1} for i in range(3)]
    (tmp_path / "samples.json").write_text(json.dumps(rows, indent=1))
    (tmp_path / "notes.json").write_text(json.dumps([{"title": "a"}, {"title": "b"}]))
    run = read_run(tmp_path)
    assert run.rollouts["response"].tolist() == ["r0", "r1", "r2"]
    assert run.files == ("samples.json",)


def test_workers_that_count_their_groups_alike(tmp_path: Path) -> None:
    """The first prompt of one worker's file is no twin of the first one of another's; a prompt that both answer stays one group."""
    for worker in range(2):
        rows = [{"prompt": f"{p}", "response": f"w{worker} {p} {i}", "reward": i} for p in (f"own of {worker}", "shared") for i in range(4)]
        lines(tmp_path / f"step_5/worker_{worker}.jsonl", rows)
    table = read_run(tmp_path).rollouts
    assert table.groupby("group")["prompt"].nunique().max() == 1
    assert table.groupby("prompt")["group"].nunique().max() == 1
    assert sorted(table.groupby("group").size()) == [4, 4, 8]


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=True) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "from", "value", "type", "text", "message", "tool_calls", "function", "parts", "input", "output"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(ANY)
def test_no_cell_stops_the_reading(cell: object) -> None:
    """Whatever stands in a cell, it becomes text and a count, and its two halves too."""
    for value in (cell, json.dumps(cell), np.array([cell, None], dtype=object)):
        turns = chat.turns_of(value)
        for text in (chat.as_text(value), chat.written(turns), *(turn.text for half in chat.split_chat(turns) for turn in half)):
            assert isinstance(text, str)


def test_cells_of_other_kinds(tmp_path: Path) -> None:
    """Flags as text and reasons beside missing ones are read as what they say."""
    frame = pd.DataFrame(
        {"step": 1, "prompt": "q", "response": list("abcde"), "reward": 1.0, "truncated": ["True", "false", "", "1", "0.0"]}
    )
    frame.to_csv(tmp_path / "dump.csv", index=False)
    found = read_run(tmp_path).rollouts["truncated"].tolist()
    assert found[:2] + found[3:] == [1, 0, 1, 0]
    assert np.isnan(found[2])


@pytest.mark.parametrize(
    ("row", "heard_of"),
    [
        ({"loss": 0.5, "reward": 1, "num_tokens": 90}, 0),
        ({"tokens": 12, "done": 1}, 1),
        ({"observation": 3, "action": 1}, 2),
        ({"mean_action": 1.5, "reward": 0.25}, 0),
        ({"reward": 0.25, "action": "left"}, 1),
    ],
)
def test_numbers_speak_only_where_their_names_do(row, heard_of):
    """A row of metrics says nothing; an action and what was seen may be numbers, and so may all that was kept of a turn."""
    assert len(heard(row)) == heard_of
