"""Samples of strangers: the caller's word on columns, and one lot of responses that several trackers wrote down."""

import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner
from rl_advisor import tools
from rl_advisor.cli.commands import main
from rl_advisor.output.errors import UsageError
from rl_advisor.reading import read_run
from rl_advisor.reading.formats import trackio

ROWS = [
    {"step": s, "prompt": f"p{i // 4}", "completion": f"c{i} at {s}", "right": float(i % 2), "advantage": i % 2 - 0.5}
    for s in (2, 4)
    for i in range(8)
]
CSV = "it,q,final_text,output,grade\n1,what is 2+2,it is 4,xx,1\n1,what is 2+3,it is 6,xx,0\n2,what is 2+2,it is 4,xx,1\n"
SAID = {"response": "final_text", "prompt": "q", "reward": "grade", "step": "it"}


def project(path: Path) -> Path:
    """A trackio project in the real package's layout: a table of completions every other step, the last one logged twice."""
    with sqlite3.connect(path) as base:
        base.execute(
            "CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_id TEXT, timestamp TEXT, run_name TEXT, step INTEGER, metrics TEXT)"
        )
        for n, step in enumerate((2, 4, 4)):
            table = {"_type": "trackio.table", "_value": [r for r in ROWS if r["step"] == step]}
            for logged in ({"train/global_step": step, "reward": 0.5}, {"completions": table}):
                base.execute("INSERT INTO metrics VALUES (NULL, 'r', '2026-11-20T10:00:00', 'r', ?, ?)", (n, json.dumps(logged)))
    base.close()
    return path


def test_a_callers_word_goes_before_a_guess(tmp_path: Path) -> None:
    """Columns are taken as they are said to be, also where another one looks more like it; nothing said is then a guess."""
    (tmp_path / "dump.csv").write_text(CSV)
    found = tools.spot_check_samples(tmp_path, columns=SAID)
    assert [s["response"]["untrusted"] for s in found["random"]] == ["it is 4"]
    assert not [g for g in found["gaps"] if "guessed" in g["why"]]
    guessed = tools.spot_check_samples(tmp_path)
    assert guessed["random"][0]["response"]["untrusted"] == "xx"
    assert any("'output' was taken as the response: guessed" in g["why"] for g in guessed["gaps"])


def test_a_column_that_is_not_there_is_the_callers_mistake(tmp_path: Path) -> None:
    """The message names the columns that are there, on the command line too, and only while it is asked."""
    (tmp_path / "dump.csv").write_text(CSV)
    with pytest.raises(UsageError, match="'final'; there is final_text"):
        tools.spot_check_samples(tmp_path, columns={"response": "final"})
    said = CliRunner().invoke(main, ["samples", str(tmp_path), "--map", "response=final"])
    assert said.exit_code == 2
    assert read_run(tmp_path).rollouts["response"].tolist() == ["xx"] * 3


def test_trackio_tables(tmp_path: Path) -> None:
    """Completions in a trackio project read as TRL's own file would; a table logged twice counts once."""
    table = trackio.read(project(tmp_path / "mine.db")).rollouts
    assert table.groupby("step").size().to_dict() == {2: 8, 4: 8}
    assert table["reward"].tolist() == [row["right"] for row in ROWS]
    assert table["row"].is_unique


def test_responses_in_several_trackers_count_once(tmp_path: Path) -> None:
    """The same responses on disk and in a tracker are one lot; other responses of the same step are another."""
    project(tmp_path / "mine.db")
    columns = list(ROWS[0])
    for step in (2, 4):
        data = [[row[c] for c in columns] for row in ROWS if row["step"] == step]
        (tmp_path / f"completions_{step}_abc.table.json").write_text(json.dumps({"columns": columns, "data": data}))
    assert read_run(tmp_path).rollouts.groupby("step").size().to_dict() == {2: 8, 4: 8}
    other = [[4, "p9", f"another {i}", 1.0, 0.5] for i in range(8)]
    (tmp_path / "completions_9_def.table.json").write_text(json.dumps({"columns": columns, "data": other}))
    assert read_run(tmp_path).rollouts.groupby("step").size().to_dict() == {2: 8, 4: 16}
