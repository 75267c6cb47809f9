"""Metrics as columns, saved checkpoints, AsyncGRPO's names, and telemetry in another time zone."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rl_advisor import tools
from rl_advisor.reading import read_run
from rl_advisor.reading.formats import columns_json, metrics_csv, metrics_jsonl, saved_checkpoints

GOLDEN = Path(__file__).parents[1] / "data" / "golden"


def test_lists_of_one_object_are_curves_over_its_steps(tmp_path: Path) -> None:
    """Lists of numbers are curves over the list that counts; a list of another length is left out and said."""
    rows = {"loss": [1, 0.5, None, 0.25], "step": [10, 20, 30, 40], "reward": [0, 1, 2, 3], "note": ["a"], "short": [1, 2, 3]}
    (tmp_path / "history.json").write_text(json.dumps(rows))
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].step.tolist() == [10, 20, 30, 40]
    assert run.curves["reward/mean"].guessed
    assert [g.why for g in run.gaps if g.where == "history.json"] == ["1 lists are not as long as the steps; left out"]


@pytest.mark.parametrize("text", ['{"a": 1}', '{"ids": ["x"]}', '{"model": {"b": [1, 2, 3]}}', "[1, 2, 3]", '{"shape": []}'])
def test_other_json_is_no_columns(tmp_path: Path, text: str) -> None:
    """Objects in which no list of numbers is counted hold no curve."""
    path = tmp_path / "x.json"
    path.write_text(text)
    assert not columns_json.read(path).curves


def test_numpy_vector_is_a_curve_by_its_name(tmp_path: Path) -> None:
    """A vector of returns is the reward over rows, said to be counted; pickled and empty ones are gaps."""
    np.save(tmp_path / "episode_returns.npy", np.arange(10.0))
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].value.tolist() == list(range(10))
    assert any("names no steps" in g.why for g in run.gaps)
    np.save(tmp_path / "reward_objects.npy", np.array([{"a": 1}], object), allow_pickle=True)
    assert "damaged" in columns_json.read(tmp_path / "reward_objects.npy").gaps[0].why


def test_checkpoints_of_the_service_are_listed() -> None:
    """The cookbook's list of checkpoints gives their batches and where they are."""
    run = read_run(GOLDEN / "tinker_cookbook" / "rl_mismatch_driven")
    assert [c.step for c in run.checkpoints] == [10, 20, 30]
    assert run.checkpoints[0].path.startswith("tinker://")


def test_lines_without_a_batch_are_counted(tmp_path: Path) -> None:
    """A torn line of the list is a gap, the others stay."""
    path = tmp_path / "checkpoints.jsonl"
    path.write_text('{"name": "a", "batch": 5}\n{"name": "b"}\n{"na')
    part = saved_checkpoints.read(path)
    assert [c.step for c in part.checkpoints] == [5]
    assert part.gaps[0].why.startswith("2 lines")


@pytest.mark.parametrize(("names", "framework", "meaning"), [
    (("sample/staleness_mean", "sample/dropped_stale_total"), "trl_async", "kl/old"),
    (("frac_reward_zero_std",), "trl", "kl/ref"),
])  # fmt: skip
def test_kl_means_what_the_trainer_means(tmp_path: Path, names: tuple[str, ...], framework: str, meaning: str) -> None:
    """The same raw names mean KL to the reference in GRPO and KL to the sampling policy in AsyncGRPO."""
    shared = {"kl": 0.01, "reward": 1.0, "reward_std": 0.5, "completions/mean_length": 9.0, "clip_ratio/region_mean": 0.0}
    rows = [{"step": i, **shared, **dict.fromkeys(names, 1.0)} for i in range(1, 4)]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = read_run(tmp_path)
    assert run.frameworks == (framework,)
    assert run.curves[meaning].raw == "kl"


def test_telemetry_in_another_zone_is_on_the_runs_clock_before_it_is_cut(tmp_path: Path) -> None:
    """Local times two hours ahead are moved onto the run's clock, so that a cut at a step keeps the rows before it and no later one."""
    start = 1_790_000_000
    (tmp_path / "metrics.jsonl").write_text("".join(
        f'{{"step": {i}, "_timestamp": {start + 60 * i}, "reward": {i}}}\n' for i in range(1, 31)
    ))  # fmt: skip
    local = np.datetime64(start + 7_200, "s")
    rows = [f"{str(local + np.timedelta64(k, 's')).replace('T', ' ').replace('-', '/')}.000, 0, 300 W\n" for k in range(1, 1_800)]
    (tmp_path / "gpu.csv").write_text("timestamp, index, power.draw [W]\n" + "".join(rows))
    run = read_run(tmp_path)
    assert any("-2 h were added" in g.why for g in run.gaps)
    kept = run.until(10).telemetry["time"]
    assert kept.max() == pytest.approx(start + 600, abs=1)
    assert kept.min() == pytest.approx(start + 1, abs=1)


def test_of_several_runs_in_one_table_the_largest_is_read(tmp_path: Path) -> None:
    """Rows of two runs told apart by an id are never mixed: the longer run is read, the other named; its steps count what the name says."""
    rows = [f"a,{1000 * i},{i}" for i in range(1, 9)] + [f"b,{1000 * i},{100 * i}" for i in range(1, 6)]
    (tmp_path / "log.csv").write_text("run_id,total_timesteps,ep_rew_mean\n" + "\n".join(rows) + "\n")
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].value.tolist() == list(range(1, 9))
    assert run.step_unit == "env steps"
    assert any("holds 2 runs by its column run_id; a was read, not b; to read another: log.csv#b" in g.why for g in run.gaps)


@pytest.mark.parametrize("name", ["log.csv", "chart.csv", "mlflow.db", "log.parquet"])
def test_another_run_of_a_file_is_read_by_its_name(tmp_path: Path, name: str) -> None:
    """A file with several runs is like a folder with several: the others are listed, and each can be named behind the path."""
    file = tmp_path / name
    long = [(step, 1.0 * step) for step in range(1, 9)]
    short = [(step, 100.0 * step) for step in range(1, 6)]
    if name == "chart.csv":
        cells = {step: [value, "", value, value] for step, value in long}
        cells |= {step: [*cells[step][:1], value, *cells[step][2:]] for step, value in short}
        rows = [f"{step},{a},{b},{c},{d}" for step, (a, b, c, d) in cells.items()]
        file.write_text('"Step","a - reward","b - reward","a - reward__MIN","a - reward__MAX"\n' + "\n".join(rows) + "\n")
    elif name == "mlflow.db":
        with closing(sqlite3.connect(file)) as base, base:
            base.execute("CREATE TABLE metrics (key, value, timestamp, run_uuid, step, is_nan)")
            base.execute("CREATE TABLE params (key, value, run_uuid)")
            base.execute("CREATE TABLE runs (run_uuid, name)")
            base.executemany("INSERT INTO runs VALUES (?, ?)", [("id-1", "a"), ("id-2", "b")])
            points = [("reward", v, 1.7e12 + s, run, s, 0) for run, rows in (("id-1", long), ("id-2", short)) for s, v in rows]
            base.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", points)
    else:
        table = pd.DataFrame([(run, s, v) for run, rows in (("a", long), ("b", short)) for s, v in rows], columns=["run", "step", "reward"])
        table.to_csv(file, index=False) if name == "log.csv" else table.to_parquet(file)
    whole = read_run(file)
    assert (whole.place, whole.others) == (f"{name}#a", (f"{name}#b",))
    assert whole.curves["reward/mean"].value.tolist() == [v for _, v in long]
    other = read_run(f"{file}#b")
    assert (other.place, other.others) == (f"{name}#b", (f"{name}#a",))
    assert other.curves["reward/mean"].value.tolist() == [v for _, v in short]
    assert read_run(tmp_path).others == (f"{name}#b",)
    assert tools.compare_runs([f"{file}#a", f"{file}#b"])["runs"]
    with pytest.raises(FileNotFoundError, match=r"no run 'c'; it holds a, b"):
        read_run(f"{file}#c")


@pytest.mark.parametrize(
    ("row", "raw", "unit", "last"),
    [
        ({"loss": 0.5, "reward": 2.0}, "reward", "steps", 8.0),
        ({"episode_reward": 2.0, "episode_length": 20}, "episode_reward", "steps", 8.0),
        ({"num_env_steps": 100, "steps": 30, "return_mean": 2.0}, "return_mean", "env steps", 800.0),
        ({"frame": 10, "episode_reward": 2.0}, "episode_reward", "env steps", 80.0),
        ({"episode": 1, "score": 3.0}, "score", "episodes", 8.0),
        ({"current_steps": 5, "total_steps": 100, "loss": 0.5, "reward": 2.0, "epoch": 0.01}, "reward", "steps", 40.0),
        ({"total_steps": 100, "iteration": 5, "reward": 2.0}, "reward", "iterations", 40.0),
    ],
)
def test_json_lines_with_other_steps_or_none(tmp_path: Path, row: dict[str, float], raw: str, unit: str, last: float) -> None:
    """Any spelling of a step counts; rows of a trainer without one are read in their order, and that is said."""
    counters = {"num_env_steps", "frame", "episode", "current_steps", "iteration"}
    lines = [json.dumps({k: v * (i if k in counters else 1) for k, v in row.items()}) for i in range(1, 9)]
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n")
    run = read_run(tmp_path)
    assert (run.curves["reward/mean"].raw, run.step_unit, run.last_step) == (raw, unit, last)
    assert any("names no steps" in g.why for g in run.gaps) == (not counters & row.keys())


@pytest.mark.parametrize(
    "row",
    [{"id": 3, "loss": 0.5, "score": 1.0}, {"score": 1.0, "correct": 1}, {"x": 1, "y": 2}, {"loss": 0.5, "acc": 1.0, "text": "a" * 90}],
)
def test_rows_of_samples_are_no_log(tmp_path: Path, row: dict[str, object]) -> None:
    """Scores of single samples and other data without steps are left alone."""
    (tmp_path / "rows.jsonl").write_text("\n".join([json.dumps(row)] * 9) + "\n")
    assert not metrics_jsonl.claims(tmp_path / "rows.jsonl")


def test_sacred_info_of_pymarl(tmp_path: Path) -> None:
    """A list and its steps in one named ``_T``; numbers as Sacred writes those of NumPy."""
    told = [{"dtype": "float64", "py/object": "numpy.float64", "value": 0.5 * i} for i in range(1, 6)]
    steps = [10_000 * i for i in range(1, 6)]
    info = {"return_mean": told, "return_mean_T": steps, "test_return_mean": [1.0, 2.0, 3.0], "test_return_mean_T": steps[:3]}
    info |= {"ep_length_mean": [25.0] * 5, "ep_length_mean_T": steps}
    (tmp_path / "info.json").write_text(json.dumps(info))
    (tmp_path / "config.json").write_text(json.dumps({"t_max": 50_000, "lr": 0.0005, "name": "qmix"}))
    run = read_run(tmp_path)
    assert (run.frameworks, run.step_unit, run.planned_steps) == (("epymarl",), "env steps", 50_000)
    assert run.curves["reward/mean"].value.tolist() == [0.5, 1.0, 1.5, 2.0, 2.5]
    assert run.curves["eval/score/return"].step.tolist() == steps[:3]
    assert not any(name.endswith("_T") for name in run.curves)


def test_summary_of_tensorboardx(tmp_path: Path) -> None:
    """Rows of time, step and value under the path of the writer, whose groups have the tag twice."""
    rows = [[1.7e9 + i, 3_200 * i, 0.25 * i] for i in range(1, 6)]
    told = {f"/data/run1/logs/{name}/{name}": rows for name in ("agent0/policy_loss", "average_episode_rewards", "critic_grad_norm")}
    (tmp_path / "summary.json").write_text(json.dumps(told))
    run = read_run(tmp_path)
    assert run.frameworks == ("mappo",)
    assert (run.curves["reward/mean"].raw, run.last_step) == ("average_episode_rewards", 16_000)
    assert run.curves["policy/loss"].time is not None


def test_scalars_without_a_header(tmp_path: Path) -> None:
    """TorchRL's CSV logger, one file a name, and d3rlpy's beside its parameters; two columns elsewhere are nobody's."""
    scalars = tmp_path / "torchrl" / "scalars"
    for name in ("r_training", "loss_critic", "train/reward"):
        (scalars / name).parent.mkdir(parents=True, exist_ok=True)
        (scalars / f"{name}.csv").write_text("".join(f"{100 * i},{0.5 * i}\n" for i in range(1, 6)))
    run = read_run(tmp_path / "torchrl")
    assert (run.frameworks, run.curves["reward/mean"].raw, run.last_step) == (("torchrl",), "r_training", 500)
    assert "train/reward" in run.curves
    offline = tmp_path / "d3rlpy"
    offline.mkdir()
    (offline / "environment.csv").write_text("".join(f"{i},{1000 * i},{20.0 * i}\n" for i in range(1, 6)))
    (offline / "params.json").write_text('{"gamma": 0.99}')
    assert read_run(offline).curves["eval/score/environment"].step.tolist() == [1000, 2000, 3000, 4000, 5000]
    (tmp_path / "points.csv").write_text("1,2\n2,3\n")
    assert not metrics_csv.claims(tmp_path / "points.csv")


def test_evaluation_in_a_folder_beside_training(tmp_path: Path) -> None:
    """Acme's actor and evaluator write tables of one name: the second is the held-out score and no other run."""
    _table(tmp_path / "actor" / "logs.csv", "actor_steps,episode_return,episode_length", [[1000 * i, 2.0 * i, 50] for i in range(1, 20)])
    _table(tmp_path / "evaluator" / "logs.csv", "actor_steps,episode_return,episode_length", [[5000 * i, 3.0 * i, 50] for i in range(1, 5)])
    run = read_run(tmp_path)
    assert run.others == ()
    assert run.curves["reward/mean"].raw == "episode_return"
    assert run.curves["eval/score/episode_return"].value.tolist() == [3.0, 6.0, 9.0, 12.0]


def test_a_list_of_rows(tmp_path: Path) -> None:
    """Homemade histories and Dopamine's baselines: rows in one JSON document, agents kept apart."""
    rows = [{"Iteration": i, "Value": 1.0 * i * k, "Agent": name} for k, name in ((1, "DQN"), (2, "C51")) for i in range(9 - k)]
    (tmp_path / "pong.json").write_text(json.dumps(rows, indent=1))
    run = read_run(tmp_path / "pong.json")
    assert (run.others, run.step_unit) == (("pong.json#C51",), "iterations")
    assert (run.outcome_guess.raw, run.curves["reward/mean"].value.tolist()) == ("Value", [1.0 * i for i in range(8)])
    (tmp_path / "history.json").write_text(json.dumps([{"episode": i, "reward": 2.0 * i, "loss": None} for i in range(1, 6)]))
    assert read_run(tmp_path / "history.json").curves["reward/mean"].value.tolist() == [2.0, 4.0, 6.0, 8.0, 10.0]
    (tmp_path / "rows.json").write_text(json.dumps([{"step": 1, "score": 0.5, "text": "a" * 200}] * 5))
    assert not columns_json.read(tmp_path / "rows.json").curves


def test_runs_told_apart_by_two_columns(tmp_path: Path) -> None:
    """An algorithm and a seed make a run together."""
    rows = [f"{algo},{seed},{i},{i * (seed + 1)}" for algo in ("ppo", "sac") for seed in (0, 1) for i in range(1, 7 + seed)]
    (tmp_path / "log.csv").write_text("algorithm,seed,step,reward\n" + "\n".join(rows) + "\n")
    run = read_run(tmp_path)
    assert len(run.others) == 3
    assert (run.name, run.curves.keys()) == ("log.csv#ppo/1", {"reward/mean"})
    assert read_run(tmp_path / "log.csv#sac/0").curves["reward/mean"].value.tolist() == [1, 2, 3, 4, 5, 6]


def test_a_table_without_steps_is_read_in_its_order(tmp_path: Path) -> None:
    """Rows of a trainer's numbers count themselves, and that is said; other tables of numbers are left alone."""
    _table(tmp_path / "log.csv", "Episode_Reward,Loss", [[2.0 * i, 0.1] for i in range(1, 6)])
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].step.tolist() == [1, 2, 3, 4, 5]
    assert any("names no steps" in g.why for g in run.gaps)
    for names in ("x,y", "id,loss", "height,weight", "1.0,2.0"):
        _table(tmp_path / "other.csv", names, [[2.0 * i, 0.1] for i in range(1, 6)])
        assert not metrics_csv.claims(tmp_path / "other.csv")


def test_runs_that_share_little_are_not_joined(tmp_path: Path) -> None:
    """Of two neighbours, one with later steps only, that log other metrics, one is named as another run: a resumed run logs the same."""
    for name, first, columns in (("x", 1, "step,reward,total_time,novelty"), ("y", 50, "step,ep_rew_mean,total_time,value_loss,entropy")):
        (tmp_path / name).mkdir()
        rows = [",".join([str(first + i), *(str(i * k + 0.5) for k in range(1, columns.count(",") + 1))]) for i in range(20)]
        (tmp_path / name / "log.csv").write_text(columns + "\n" + "\n".join(rows) + "\n")
    run = read_run(tmp_path)
    assert len(run.others) == 1
    assert any("one of 2 runs" in g.why for g in run.gaps)
    assert not {"reward", "ep_rew_mean"} <= {c.raw for c in run.curves.values()}


def _table(path: Path, names: str, rows: list[list[float]], separator: str = ",") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(separator.join(names.split(",")) + "\n" + "\n".join(separator.join(map(str, row)) for row in rows) + "\n")


def test_table_with_tabs_in_a_text_file(tmp_path: Path) -> None:
    """Spinning Up's progress.txt: environment interactions are the axis, not epochs, and its names are known."""
    rows = [[i, 10.0 * i, 1.0, 50 + i, 4000 * (i + 1), -0.01, 0.02] for i in range(9)]
    _table(tmp_path / "progress.txt", "Epoch,AverageEpRet,StdEpRet,EpLen,TotalEnvInteracts,LossPi,KL", rows, "\t")
    run = read_run(tmp_path)
    assert (run.frameworks, run.step_unit, run.last_step) == (("spinning_up",), "env steps", 36_000.0)
    assert run.curves["kl/old"].raw == "KL"


def test_text_with_commas_is_no_table(tmp_path: Path) -> None:
    """A text file with commas in its first lines is left alone."""
    (tmp_path / "notes.txt").write_text("step, reward\n1, 2\n")
    assert not metrics_csv.claims(tmp_path / "notes.txt")


def test_steps_of_an_episode_are_no_axis(tmp_path: Path) -> None:
    """A column named like steps that goes up and down is the length of an episode; the next that counts is the axis."""
    rows = [[i, 5.0 * i, 200 - 37 * (i % 4), 0.5] for i in range(20)]
    _table(tmp_path / "log.csv", "episode,total_reward,steps,loss", rows)
    run = read_run(tmp_path)
    assert (run.step_unit, run.curves["reward/mean"].value.tolist()) == ("episodes", [5.0 * i for i in range(20)])


def test_evaluation_beside_training_is_one_run(tmp_path: Path) -> None:
    """train.csv and eval.csv with one name: the second is the held-out score; reward of a batch is second choice to an episode's."""
    _table(tmp_path / "train.csv", "batch_reward,episode_reward,step", [[0.1, 3.0 * i, 1000 * i] for i in range(1, 20)])
    _table(tmp_path / "eval.csv", "episode,episode_reward,step", [[i, 4.0 * i, 5000 * i] for i in range(1, 5)])
    run = read_run(tmp_path)
    assert run.others == ()
    assert run.curves["reward/mean"].raw == "episode_reward"
    assert run.curves["eval/score/episode_reward"].value.tolist() == [4.0, 8.0, 12.0, 16.0]


def test_each_name_with_its_own_steps(tmp_path: Path) -> None:
    """Sacred's metrics.json: every name has lists of steps and values."""
    series = {"return_mean": {"steps": [10, 20, 30], "timestamps": ["a"] * 3, "values": [1, 2, 3]}, "odd": {"steps": [1], "values": []}}
    (tmp_path / "metrics.json").write_text(json.dumps(series))
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].step.tolist() == [10, 20, 30]
    assert set(run.curves) == {"reward/mean"}


def test_classifier_is_told_apart(tmp_path: Path) -> None:
    """Loss and accuracy without reward, return or episode: said to be no reinforcement learning."""
    _table(tmp_path / "log.csv", "epoch,loss,val_accuracy", [[i, 1 / (i + 1), 0.5 + 0.01 * i] for i in range(20)])
    assert any("supervised" in g.why for g in read_run(tmp_path).gaps)
