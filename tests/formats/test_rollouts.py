"""Rollout dumps: what is claimed, what the columns mean, and what happens to damage and size."""

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest
from rl_advisor.reading.formats import rollouts_jsonl, rollouts_parquet
from rl_advisor.reading.parsing import bytes_in, reservoir

DATA = Path(__file__).parents[1] / "data" / "rollouts"


def write(path: Path, rows: list[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
    return path


ROW = {"input": "2 + 2?", "output": "It is 4.", "score": 1.0, "step": 3}


@pytest.mark.parametrize(
    ("name", "rows", "claimed"),
    [
        ("rollout.jsonl", [ROW], True),
        ("renamed.jsonl", [{"question": "q", "generation": "text", "score": 1}], True),
        ("chat.jsonl", [{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]}], True),
        ("first_line_torn.jsonl", ['{"input": "q', ROW], True),
        ("metrics.jsonl", [{"step": 1, "reward": 0.5, "response_length/mean": 12.0}], False),
        ("numbers_under_the_name.jsonl", [{"step": 1, "output": 0.25, "loss": 2}], False),
        ("a_number_as_text.jsonl", [{"step": "1", "output": "0.25"}], False),
        ("empty.jsonl", [], False),
        ("not_an_object.jsonl", ["[1, 2]"], False),
        ("rollout.txt", [ROW], False),
    ],
)
def test_claims_needs_a_response(tmp_path: Path, name: str, rows: list[object], claimed: bool) -> None:
    """A file is claimed for a response-like text and for nothing less."""
    assert rollouts_jsonl.claims(write(tmp_path / name, rows)) is claimed


def test_trl_completions() -> None:
    """A real completions file: the reward is the reward function's, the column order is the trainer's, nothing is guessed."""
    run = rollouts_parquet.read(DATA / "length_hack/completions/completions_00008.parquet")
    row = run.rollouts.iloc[0]
    assert (row["step"], row["prompt"], row["reward"], row["row"]) == (8, "what size is the plum ?", pytest.approx(0.64), 0)
    assert row["response"] == "the plum is small . wonderful let thanks certainly ."
    assert run.rollouts["reward"].tolist() == run.rollouts["reward/task_reward"].tolist()
    assert run.rollouts.groupby("group").size().tolist() == [8] * 16
    assert run.gaps == ()


def test_the_advantages_tell_which_columns_are_the_reward() -> None:
    """Two reward functions add up as their advantages say, two groups of one prompt stay two, and text columns keep their names."""
    first = rollouts_parquet.read(DATA / "two_parts/completions/completions_00001.parquet")
    table = first.rollouts
    assert table["reward"].tolist() == pytest.approx((table["reward/digit_frac"] + table["reward/has_target"]).tolist())
    assert set(table["prompt"]) == {"2 + 4 = ?"}
    assert table["group"].tolist() == ["0"] * 8 + ["1"] * 8
    assert table["target_answer"].iloc[0] == "6"
    assert first.gaps == ()


def test_a_number_the_user_added_is_no_reward(tmp_path: Path) -> None:
    """A logged number that the advantages do not follow is left out of the reward, and a weighted sum is admitted to be unknown."""
    base = {"step": [1] * 4, "prompt": ["p"] * 4, "completion": list("abcd"), "right": [0.0, 1.0, 1.0, 0.0], "tokens": [9.0, 1.0, 5.0, 7.0]}
    pd.DataFrame({**base, "advantage": [-1.0, 1.0, 1.0, -1.0]}).to_parquet(tmp_path / "completions_00001.parquet")
    table = rollouts_parquet.read(tmp_path / "completions_00001.parquet").rollouts
    assert table["reward"].tolist() == base["right"]
    assert "reward/tokens" not in table
    assert "tokens" in table
    pd.DataFrame({**base, "advantage": [-1.3, 0.1, 0.9, 0.3]}).to_parquet(tmp_path / "completions_00002.parquet")
    run = rollouts_parquet.read(tmp_path / "completions_00002.parquet")
    assert "the advantages do not confirm" in run.gaps[0].why


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("verl/rollout_data/15.jsonl", {"step": 15, "split": "train", "reward": 1.0, "gts": "7", "prompt": "What is 3 + 4?"}),
        ("verl/validation_data/30.jsonl", {"step": 30, "split": "eval", "acc": 0.0}),
        ("areal/rollout/39/320.jsonl", {"step": 39, "split": "train", "length": 48, "group": "320", "tail_version": 39}),
        ("tinker/iteration_000010/train_rollout_summaries.jsonl", {"step": 10, "reward": 1.0, "length": 17, "correct": 1.0, "group": "0"}),
    ],
)
def test_dumps_of_frameworks(path: str, expected: dict[str, object]) -> None:
    """The first row of a real dump of each framework means what its writer meant."""
    file = DATA / path
    assert rollouts_jsonl.claims(file)
    run = rollouts_jsonl.read(file)
    row = run.rollouts.iloc[0]
    assert {k: row[k] for k in expected} == expected
    assert not [g for g in run.gaps if "guessed" in g.why]


def test_a_guess_is_said(tmp_path: Path) -> None:
    """Names that only look like ours are used, and the reader is told."""
    run = rollouts_jsonl.read(write(tmp_path / "dump.jsonl", [{"question": "q", "generation": "g", "scores": [1, 0.5], "global_step": 4}]))
    row = run.rollouts.iloc[0]
    assert (row["prompt"], row["response"], row["reward"], row["step"]) == ("q", "g", 1.5, 4)
    assert {g.why.split(" was")[0] for g in run.gaps} == {
        "column 'question'",
        "column 'generation'",
        "column 'scores'",
        "column 'global_step'",
    }


def test_no_step_anywhere_is_a_gap(tmp_path: Path) -> None:
    """Without a step in a column or a name all rows are of step 0, and that is said."""
    run = rollouts_jsonl.read(write(tmp_path / "dump.jsonl", [{"prompt": "q", "response": "r", "reward": 1}]))
    assert run.rollouts["step"].tolist() == [0]
    assert "all rows count as step 0" in run.gaps[0].why


def test_corrupt_rows_are_counted_and_keep_their_place(tmp_path: Path) -> None:
    """Torn lines, non-objects and bytes that are no UTF-8 cost only themselves; NaN is read."""
    file = tmp_path / "9.jsonl"
    good = json.dumps(ROW).encode()
    file.write_bytes(
        b"\n".join([good, b'{"input": "q", "out', b"17", good.replace(b"It is", b"\xff\xfe"), good.replace(b"1.0", b"NaN"), b""])
    )
    run = rollouts_jsonl.read(file)
    assert run.rollouts["row"].tolist() == [0, 3, 4]
    assert run.gaps[0].why.startswith("2 rows could not be read")
    assert pd.isna(run.rollouts["reward"].iloc[2])


def test_csv(tmp_path: Path) -> None:
    """Comma separated responses are read, quoted line breaks included; a short row is counted."""
    file = tmp_path / "samples.csv"
    file.write_text('step,prompt,response,reward\n1,q,"two\nlines",0.5\n2,q\n3,q,one,1\n')
    run = rollouts_jsonl.read(file)
    assert run.rollouts["response"].tolist() == ["two\nlines", "one"]
    assert run.rollouts["reward"].tolist() == [0.5, 1.0]
    assert any("1 rows could not be read" in g.why for g in run.gaps)


def test_chat_and_tool_calls(tmp_path: Path) -> None:
    """Messages become text with roles, the prompt ends where the model begins, and tool calls are counted."""
    call = {"function": {"name": "search", "arguments": '{"q": "x"}'}}
    messages = [
        {"role": "system", "content": "be good"},
        {"role": "user", "content": "find x"},
        {"role": "assistant", "content": "", "tool_calls": [call, call]},
        {"role": "tool", "content": "found"},
        {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
    ]
    row = rollouts_jsonl.read(write(tmp_path / "7.jsonl", [{"messages": messages, "reward": 1}])).rollouts.iloc[0]
    assert row["prompt"] == "[system] be good\n[user] find x"
    assert row["response"].count("<tool_call>") == 2
    assert row["response"].endswith("[tool] found\n[assistant] done")
    assert row["tool_calls"] == 2


def large(path: Path) -> Path:
    rows = [{"prompt": f"q{i // 8}", "response": f"r{i} " * 20, "reward": i / 4000, "step": i % 2} for i in range(4000)]
    return write(path, rows)


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_large_file_is_sampled_and_its_totals_are_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Beyond the size read whole: a bounded sample, whole prompts, the same at every reading, true extremes and exact step totals."""
    monkeypatch.setattr(rollouts_jsonl, "_SMALL", 1000)
    monkeypatch.setattr(rollouts_parquet, "_ALL_AT_ONCE", 1000)
    monkeypatch.setattr(reservoir.Reservoir.__init__, "__defaults__", (64, 1 << 20))
    file = large(tmp_path / "dump.jsonl")
    module = rollouts_jsonl
    if kind == "parquet":
        pd.read_json(file, lines=True).to_parquet(tmp_path / "dump.parquet")
        file, module = tmp_path / "dump.parquet", rollouts_parquet
    run = module.read(file)
    table = run.rollouts
    assert table[table["sampled"]].groupby("step").size().tolist() == [64, 64]
    assert table[table["sampled"]].groupby(["step", "prompt"]).size().median() == 4
    assert table["reward"].max() == 3999 / 4000
    assert table["reward"].min() == 0
    assert run.curves["rollouts/count"].value.tolist() == [2000, 2000]
    assert run.curves["rollouts/reward_mean"].value.tolist() == pytest.approx([3998 / 8000, 4000 / 8000])
    assert any("3872 of 4000" in g.why for g in run.gaps)
    pd.testing.assert_frame_equal(module.read(file).rollouts, table)


def test_a_line_without_end_is_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line longer than the limit is skipped as one corrupt row, and the next one is read."""
    monkeypatch.setattr(bytes_in, "LONGEST", 500)
    file = write(tmp_path / "3.jsonl", [ROW, {**ROW, "output": "x" * 5000}, ROW])
    run = rollouts_jsonl.read(file)
    assert run.rollouts["row"].tolist() == [0, 2]
    assert any("1 rows could not be read" in g.why for g in run.gaps)


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_blank_and_torn_lines_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes) -> None:
    """Blank lines, torn lines and a last line without its end: rows keep their numbers."""
    rows = [{"prompt": f"q{i}", "response": "r" * (i * 7 % 90), "reward": i} for i in range(40)]
    lines = [b"", *(json.dumps(row).encode() for row in rows), b"  \t", b'{"prompt": "torn', b"", json.dumps(rows[3]).encode()]
    file = tmp_path / "4.jsonl"
    file.write_bytes(b"\n".join(lines) + end)
    monkeypatch.setattr(rollouts_jsonl, "_SMALL", 0)
    run = rollouts_jsonl.read(file)
    assert run.rollouts["row"].tolist() == [*range(1, 41), 44]
    assert run.rollouts["response"].tolist() == [row["response"] for row in [*rows, rows[3]]]
    assert [g.why for g in run.gaps] == ["1 rows could not be read and were skipped"]


@pytest.mark.parametrize("more", [{}, {"logprobs": [-0.125] * 400}])
def test_what_is_kept_is_bounded_whatever_a_step_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, object]) -> None:
    """A dump whose every row is a step of its own, and rows with much beside the text, stay within the same number of bytes."""
    monkeypatch.setattr(rollouts_jsonl, "_SMALL", 1000)
    monkeypatch.setattr(reservoir.Reservoir.__init__, "__defaults__", (64, 100_000))
    file = write(
        tmp_path / "dump.jsonl", [{"prompt": f"q{i}", "response": "r" * 500, "reward": 0.5, "step": i, **more} for i in range(2000)]
    )
    table = rollouts_jsonl.read(file).rollouts
    lines = file.read_bytes().splitlines()
    assert 10_000 < sum(len(lines[row]) for row in table["row"][table["sampled"]]) <= 100_000
    assert table["step"].max() >= 1500


def test_damaged_parquet_is_a_gap(tmp_path: Path) -> None:
    """A torn Parquet file is claimed, so that its loss is said, and reading it gives a gap instead of an error."""
    data = (DATA / "length_hack/completions/completions_00008.parquet").read_bytes()
    file = tmp_path / "completions_00008.parquet"
    file.write_bytes(data[: len(data) // 2])
    assert rollouts_parquet.claims(file)
    with pytest.raises(OSError, match="no readable Parquet"):
        rollouts_parquet.read(file)


def test_wandb_table(tmp_path: Path) -> None:
    """A table that W&B keeps on disk reads as the same completions would from Parquet; a torn one is a gap."""
    columns = ["step", "prompt", "completion", "right", "advantage"]
    data = [[60, "p", "a", 1.0, 1.0], [60, "p", "b", 0.0, -1.0], [60, "short"]]
    file = tmp_path / "completions_541_ed6465816ff7cd370cf2.table.json"
    file.write_text(json.dumps({"columns": columns, "data": data}))
    assert rollouts_jsonl.claims(file)
    run = rollouts_jsonl.read(file)
    assert run.rollouts[["step", "response", "reward", "reward/right"]].to_numpy().tolist() == [[60, "a", 1, 1], [60, "b", 0, 0]]
    assert [g.why for g in run.gaps] == ["1 rows could not be read and were skipped"]
    file.write_text(file.read_text()[:90])
    assert rollouts_jsonl.claims(file)
    with pytest.raises(OSError, match="damaged"):
        rollouts_jsonl.read(file)


@pytest.mark.parametrize("columns", [["step", "loss"], ["name", "score"]])
def test_other_wandb_tables_are_left_alone(tmp_path: Path, columns: list[str]) -> None:
    """A table without responses is not claimed."""
    file = tmp_path / "other.table.json"
    file.write_text(json.dumps({"columns": columns, "data": []}))
    assert not rollouts_jsonl.claims(file)


@pytest.mark.parametrize("name", ["dump.jsonl.gz", "dump.csv.gz"])
def test_packed_dumps(tmp_path: Path, name: str) -> None:
    """A dump packed with gzip reads as the plain one does; a torn one is read as far as it goes."""
    rows = pd.DataFrame([{**ROW, "output": f"It is {i}.", "step": i} for i in range(500)])
    file = tmp_path / name
    text = rows.to_csv(index=False) if "csv" in name else rows.to_json(orient="records", lines=True)
    file.write_bytes(gzip.compress(text.encode()))
    assert rollouts_jsonl.claims(file)
    assert rollouts_jsonl.read(file).rollouts["response"].tolist() == rows["output"].tolist()
    file.write_bytes(file.read_bytes()[:-60])
    assert 0 < len(rollouts_jsonl.read(file).rollouts) < 500


GRADED = """------------- 02-11-05-07-123456 Accuracy reward: 0.0 -------------
content: <think>It has
four legs.</think><answer>cat</answer>
sol: <answer>horse</answer>
------------- 02-11-05-07-123999 Accuracy reward: 1.0 -------------
content: <answer>cow</answer>
sol: <answer>cow</answer>
------------- 02-11-05-07-124000 Format reward: 1.0 -------------
content: <answer>cow</answer>
------------- 02-11-05-31-000001 Accuracy reward: 1.0 -------------
content: <answer>hen</answer>
sol: <answer>hen</answer>
"""


def test_what_a_reward_function_wrote_down_is_samples(tmp_path: Path) -> None:
    """Blocks below dashed lines are rows: what was graded, how, and against what; a second kind of reward is no second sample."""
    file = tmp_path / "debug_log.txt"
    file.write_text(GRADED)
    assert rollouts_jsonl.claims(file)
    found = rollouts_jsonl.read(file).rollouts
    assert found["reward"].tolist() == [0.0, 1.0, 1.0]
    assert found["step"].tolist() == [1, 1, 2]
    assert found["response"].iloc[0] == "<think>It has\nfour legs.</think><answer>cat</answer>"
    assert "<answer>hen</answer>" in str(found.iloc[2].to_dict())


@pytest.mark.parametrize(
    "text", ["----- Iteration 3 -----\nreward: 1.0\n", "reward: 1.0 -----\n", "------------- 02-11 Accuracy reward: high -------------\n"]
)
def test_a_heading_alone_is_no_samples(tmp_path: Path, text: str) -> None:
    """A dashed line without a time and a number of a reward heads no samples."""
    (tmp_path / "train.log").write_text(text)
    assert not rollouts_jsonl.claims(tmp_path / "train.log")
