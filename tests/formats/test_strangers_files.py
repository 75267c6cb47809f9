"""Files of people who never heard of us: several runs in one, arrays, tables without a header, new starts in one log."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rl_advisor.output.run_reference import begun_at
from rl_advisor.reading import UnreadableRun, read_run
from rl_advisor.reading.parsing.json_tables import runs_in
from rl_advisor.reading.parsing.starts import no_count, starts

ROWS = [{"step": i, "reward": i / 10} for i in range(1, 9)]
TRACE = [0.1, 0.3, 0.2, 0.4, 0.6, 0.5]


@pytest.mark.parametrize(
    ("document", "names"),
    [
        ({"a": ROWS, "b": ROWS[:5]}, {"a", "b"}),
        ({"a": {"merged": ROWS, "n": 3}, "b": {"merged": ROWS[1:]}}, {"a", "b"}),
        ({"sweep": [{"tag": "x", "reward_trace": TRACE}, {"tag": "y", "reward_trace": TRACE[1:]}], "metadata": {"w": 6}}, {"x", "y"}),
        ([{"seed": 1, "rewards": TRACE}, {"seed": 2, "rewards": TRACE}], {"1", "2"}),
        ({"seed_0": TRACE, "seed_1": TRACE}, {"seed_0", "seed_1"}),
        ({"step": [1, 2, 3], "reward": [1, 2, 3]}, {""}),
        ({"train": ROWS, "eval": [{"step": 4, "score": 0.5}, {"step": 8, "score": 0.6}]}, {""}),
        ({"reward": {"mean": TRACE, "std": TRACE}, "loss": {"mean": TRACE, "std": TRACE}}, {""}),
        (ROWS, {""}),
        ({"config": {"layers": [3, 4, 5]}, "vocab": {"1": 4, "2": 5, "3": 6}}, set()),
        ({"a": 1, "b": "text"}, set()),
        ([1, 2, 3], {""}),
        ([[1, 2], [2, 3], [3, 4]], {""}),
        ([[1, 2], [2], [3, 4]], set()),
    ],
)
def test_which_runs_a_document_holds(document, names) -> None:
    """Alike tables under several names are runs; halves of one run, statistics of one metric and settings are not."""
    assert set(runs_in(document)) == names


def test_a_run_of_a_document_is_read_by_its_name(tmp_path: Path) -> None:
    """The largest is read and the others are told; a copy of a run under a second heading is the same run."""
    runs = [{"tag": name, "reward_trace": [v + k for v in TRACE]} for k, name in enumerate(("low", "high"))]
    (tmp_path / "sweeps.json").write_text(json.dumps({"by_rate": runs, "runs": runs}))
    assert read_run(tmp_path / "sweeps.json").others == ("sweeps.json#high",)
    run = read_run(tmp_path / "sweeps.json#high")
    assert run.curves["reward/mean"].value.tolist() == [v + 1 for v in TRACE]
    with pytest.raises(FileNotFoundError, match="it holds low, high"):
        read_run(tmp_path / "sweeps.json#other")


def test_a_map_from_steps_to_values_has_its_own_steps(tmp_path: Path) -> None:
    """Beside lists over steps; the map of a histogram is none."""
    rows = {
        "step": list(range(1, 41)),
        "policy_loss": [0.1, 0.2] * 20,
        "dev_chrf": {"10": 38.0, "20": 36.0, "40": 37.5},
        "token_hist": {"1": 5, "90": 6},
    }
    (tmp_path / "metrics.json").write_text(json.dumps(rows))
    run = read_run(tmp_path)
    assert run.curves["eval/score/dev_chrf"].step.tolist() == [10, 20, 40]
    assert run.last_step == 40
    assert run.outcome_guess is not None
    assert (run.outcome_guess.raw, run.outcome_guess.runner_up) == ("dev_chrf", "")


@pytest.mark.parametrize(
    ("name", "made", "last"),
    [
        ("TD3_Walker_4.npy", np.sin(np.arange(20.0)), 20),
        ("evals_of_mine.npy", np.random.default_rng(0).normal(size=(30, 5)), 30),
        ("one_column.npy", np.sin(np.arange(12.0))[:, None], 12),
    ],
)
def test_arrays_of_any_name(tmp_path: Path, name: str, made: np.ndarray, last: int) -> None:
    """A vector is the run where nothing else is; a table's columns are the episodes of an evaluation."""
    np.save(tmp_path / name, made)
    run = read_run(tmp_path / name)
    assert run.last_step == last
    assert run.curves["reward/mean"].guessed


def test_an_archive_has_its_own_steps(tmp_path: Path) -> None:
    """The array that counts is the axis of those as long as it; pickled objects stay closed."""
    np.savez(tmp_path / "out.npz", timesteps=np.arange(0, 500, 100), returns=np.ones((5, 3)) * [[1], [2], [3], [2], [4]], odd=np.ones(9))
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].value.tolist() == [1, 2, 3, 2, 4]
    assert run.curves["reward/mean"].step.tolist() == [0, 100, 200, 300, 400]


@pytest.mark.parametrize(
    ("text", "curve", "values", "unit"),
    [
        ("0,-2.5,93\n1,-1.5,26\n2,-1.25,24\n3,-0.5,30\n", "c1", [-2.5, -1.5, -1.25, -0.5], "steps"),
        ("-5.5\n-4.5\n-5.25\n-4.0\n", "results", [-5.5, -4.5, -5.25, -4.0], "steps"),
        ("generation,fitness,sigma\n0,5,0.3\n1,7,0.29\n2,9.5,0.28\n", "fitness", [5, 7, 9.5], "generations"),
    ],
)
def test_tables_with_little_to_go_by(tmp_path: Path, text: str, curve: str, values: list[float], unit: str) -> None:
    """Without a header the columns are numbered, and one that counts is the axis."""
    (tmp_path / "results.csv").write_text(text)
    run = read_run(tmp_path / "results.csv")
    assert run.curves["reward/mean"].raw == curve
    assert run.curves["reward/mean"].value.tolist() == values
    assert any("which is a guess" in gap.why for gap in run.gaps)
    assert run.step_unit in (unit, "steps")


def test_a_column_whose_change_starts_anew_parts_runs(tmp_path: Path) -> None:
    """Whatever it is called; a kind of row that alternates within the steps does not."""
    arms = [f"{arm},{i},{i * k}" for k, arm in enumerate(("cold", "warm"), 1) for i in range(1, 8)]
    (tmp_path / "log.csv").write_text("treatment,step,reward\n" + "\n".join(arms) + "\n")
    assert read_run(tmp_path / "log.csv").others == ("log.csv#warm",)
    assert read_run(tmp_path / "log.csv#warm").curves["reward/mean"].value.tolist() == [2 * i for i in range(1, 8)]
    kinds = [f"{i},{kind},{i}" for i in range(1, 9) for kind in ("champion", "child", "child")]
    (tmp_path / "kinds.csv").write_text("generation,kind,fitness\n" + "\n".join(kinds) + "\n")
    assert read_run(tmp_path / "kinds.csv").others == ()


def test_cells_may_hold_ends_of_lines(tmp_path: Path) -> None:
    """An array printed over many lines is one cell."""
    cell = '"[' + "\n ".join(["0.1 0.2"] * 40) + ']"'
    rows = [f"{i},{i / 2},{cell}" for i in range(1, 6)]
    (tmp_path / "progress.csv").write_text("training_iteration,episode_reward_mean,td_error\n" + "\n".join(rows) + "\n")
    assert read_run(tmp_path).curves["reward/mean"].value.tolist() == [0.5, 1, 1.5, 2, 2.5]


@pytest.mark.parametrize(
    ("steps", "found", "counted"),
    [
        ([1, 2, 3, 4], [(0, 4)], True),
        ([1, 2, 3, 4, 5, 3, 4, 5, 6, 7], [(0, 10)], True),
        ([1, 2, 3, 4, 1, 2, 3], [(0, 4), (4, 7)], True),
        ([600, 601, 602, 1, 2, 3], [(0, 3), (3, 6)], True),
        ([1, 2, 1, 1, 2, 3, 1, 2, 1, 1, 2, 1, 2, 1, 2, 1, 2, 1], [(0, 18)], False),
        ([2, 1, 4, 3, 6, 5, 8, 7], [(0, 8)], True),
        ([float("nan")] * 3, [(0, 3)], True),
    ],
)
def test_where_a_trainer_started_anew(steps, found, counted) -> None:
    """A resumed checkpoint is the same run; a counter that counts inside of episodes counts no rows."""
    assert starts(np.array(steps, float)) == found
    assert (no_count(np.array(steps, float)) == "") is counted


def test_a_later_start_is_read_where_it_is_no_stub(tmp_path: Path) -> None:
    """Of starts of about one length the latest; the others are named and can be asked for."""
    rows = [{"step": i, "reward": i + 10 * k} for k, n in enumerate((9, 8, 1)) for i in range(n)]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = read_run(tmp_path / "metrics.jsonl")
    assert run.curves["reward/mean"].value.tolist() == [10 + i for i in range(8)]
    assert run.others == ("metrics.jsonl#start 1",)
    assert read_run(tmp_path / "metrics.jsonl#start 3").last_step < run.last_step
    assert read_run(tmp_path / "metrics.jsonl#start 1").curves["reward/mean"].value.tolist() == list(range(9))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("people.csv", "name,town\nAnn,Ulm\nBob,Kiel\n"),
        ("notes.json", '{"title": "a", "tags": ["x", "y"]}'),
        ("sft.json", json.dumps([{"step": i, "loss": 1 / i, "learning_rate": 0.1, "mean_token_accuracy": 0.9} for i in range(1, 9)])),
    ],
)
def test_what_is_no_reinforcement_learning_gets_no_outcome(tmp_path: Path, name: str, text: str) -> None:
    """Lists of people are refused; a supervised run is read, and nothing in it is called an outcome."""
    (tmp_path / name).write_text(text)
    try:
        run = read_run(tmp_path / name)
    except UnreadableRun:
        return
    assert name == "sft.json"
    assert run.outcome_guess is None
    assert not any(n.startswith(("reward/", "eval/score/")) for n in run.curves)


def test_a_notebook_is_read_by_the_table_that_the_trainer_drew(tmp_path: Path) -> None:
    """Trainer's own names come back from the headings; without a table the printed lines are read."""
    names = ["Step", "Training Loss", "reward", "reward_std", "completions / mean_length", "kl"]
    rows = "".join("<tr>" + "".join(f"<td>{v}</td>" for v in (i, "0.010000", i / 10, 0.2, 90 + i, 0.01)) + "</tr>" for i in range(1, 9))
    html = f"<table><thead><tr>{''.join(f'<th>{n}</th>' for n in names)}</tr></thead><tbody>{rows}</tbody></table>"
    book = {
        "cells": [{"cell_type": "code", "source": ["train()"], "outputs": [{"output_type": "display_data", "data": {"text/html": [html]}}]}]
    }
    (tmp_path / "colab.ipynb").write_text(json.dumps(book))
    run = read_run(tmp_path / "colab.ipynb")
    assert run.curves["reward/mean"].value.tolist() == [i / 10 for i in range(1, 9)]
    assert {"response/length", "policy/loss"} <= run.curves.keys()
    printed = "".join(f"Episode {i}: reward={i / 3:.3f} loss={1 / i:.3f}\n" for i in range(1, 30))
    book["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": [printed]}]
    (tmp_path / "printed.ipynb").write_text(json.dumps(book))
    assert read_run(tmp_path / "printed.ipynb").last_step == 29
    (tmp_path / "empty.ipynb").write_text('{"cells": [{"cell_type": "markdown", "source": ["# Title"]}]}')
    with pytest.raises(UnreadableRun):
        read_run(tmp_path / "empty.ipynb")


@pytest.mark.parametrize(
    ("rows", "rewards"),
    [
        ("<tr><td>1</td><td>0.25</td></tr><tr><td>2</td><td>0.5</td></tr>", [0.25, 0.5]),
        ("<tr><td>1<td>0.25<tr><td>2<td>0.5", [0.25, 0.5]),
        ("<tr><td>1</td>7<td>0.25</td></tr><tr><td>2</td> -0 <td>0.5</td>3</tr>", [0.25, 0.5]),
        ("<tr><td> 1 </td>\n<td><b>0.25</b></td>\n</tr>\n<tr>\n<td>2</td>\n<td style='x'><p>0.5</p></td></tr>", [0.25, 0.5]),
        ("<tr><td>1</td><td>0.25<br>3</td></tr><tr><td>2</td><td>0.5</td></tr>", [0.5]),
    ],
    ids=["closed", "never closed", "text between cells", "spaces and marks", "two lines in a cell"],
)
def test_numbers_of_two_cells_are_never_one(tmp_path: Path, rows: str, rewards: list[float]) -> None:
    """A cell begins where it is opened, what stands between two belongs to neither, and lines of one cell are no longer number."""
    html = f"<table><tr><th>Step</th><th>reward</th></tr>{rows}<tr><td>3</td><td>0.75</td></tr></table>"
    book = {"cells": [{"cell_type": "code", "outputs": [{"data": {"text/html": [html]}}]}]}
    (tmp_path / "train.ipynb").write_text(json.dumps(book))
    read = read_run(tmp_path / "train.ipynb").curves["reward/mean"].value
    assert [*filter(np.isfinite, read)] == [*rewards, 0.75]


@pytest.mark.parametrize("names", [("accuracy_reward", "step"), ("reward", "format_reward")])
def test_rewards_of_a_table_of_completions(tmp_path: Path, names: tuple[str, str]) -> None:
    """A step behind the rewards is no reward, and a function may be called as the total is."""
    rows = pd.DataFrame(
        {"step": 3, "prompt": ["a", "a", "b", "b"], "completion": ["w", "x", "y", "z"], "advantage": [1.0, -1.0, 1.0, -1.0]}
    )
    rows = rows.drop(columns="step") if "step" in names else rows
    for at, name in enumerate(names):
        rows.insert(list(rows.columns).index("advantage"), name, [7, 7, 7, 7] if name == "step" else [1.0, 0.0, 0.75 - at, 0.25 - at])
    rows.to_parquet(tmp_path / "completions_00007.parquet")
    table = read_run(tmp_path).rollouts
    expected = [1.0, 0.0, 0.75, 0.25] if "step" in names else [2.0, 0.0, 0.5, -0.5]
    assert table["reward"].tolist() == expected
    assert f"reward/{names[0]}" in table


def test_a_run_called_by_its_moment_is_found_a_second_beside() -> None:
    """A log names its starts by their times, and people copy the time of the line above; another start stays another."""
    names = ["2031-02-03 10:00:00", "2031-02-03 11:00:00"]
    assert begun_at("2031-02-03 10:00:01", names) == names[0]
    assert begun_at("2031-02-03 10:30:00", names) == ""
    assert begun_at("start 1", names) == ""


def test_a_notebook_without_outputs_is_no_log(tmp_path: Path) -> None:
    """How often its cells were executed is nobody's reward."""
    cells = [{"cell_type": "code", "execution_count": n, "id": str(n), "outputs": [], "source": ["1"]} for n in range(20)]
    (tmp_path / "grpo.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}), encoding="utf-8")
    with pytest.raises(UnreadableRun):
        read_run(tmp_path / "grpo.ipynb")


@pytest.mark.parametrize(
    ("first", "axis"),
    [
        ([20, 47, 61, 102, 103, 150, 207, 260, 301, 344], True),
        ([20, 47, 61, 102, 99, 150, 207, 260, 301, 344], False),
        ([20.5, 47, 61, 102, 103, 150, 207, 260, 301, 344], False),
    ],
    ids=["steps at which episodes end", "goes back", "no whole numbers"],
)
def test_the_first_of_two_bare_columns_is_the_axis_where_it_only_counts_up(tmp_path, first, axis):
    """At any pace: who writes the step at which an episode ended beside its return has no even pace."""
    (tmp_path / "reward_log.txt").write_text("".join(f"{x},{-30.5 + (7 * i) % 5}\n" for i, x in enumerate(first)))
    run = read_run(tmp_path)
    assert (len(run.curves) == 1 and next(iter(run.curves.values())).step[-1] == 344) == axis
