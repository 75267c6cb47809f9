"""Metrics as columns, saved checkpoints, AsyncGRPO's names, and telemetry in another time zone."""

import json
from pathlib import Path

import numpy as np
import pytest
from rl_advisor.formats import columns_json, saved_checkpoints
from rl_advisor.reading import read_run

GOLDEN = Path(__file__).parents[1] / "data" / "golden"


def test_lists_of_one_object_are_curves_over_its_steps(tmp_path: Path) -> None:
    """Lists of numbers are curves over the list that counts; a list of another length is left out and said."""
    rows = {"loss": [1, 0.5, None, 0.25], "step": [10, 20, 30, 40], "reward": [0, 1, 2, 3], "note": ["a"], "short": [1, 2, 3]}
    (tmp_path / "history.json").write_text(json.dumps(rows))
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].step.tolist() == [10, 20, 30, 40]
    assert run.curves["reward/mean"].guessed
    assert [g.why for g in run.gaps if g.where == "history.json"] == ["1 lists are not as long as step; left out"]


@pytest.mark.parametrize("text", ['{"a": 1}', '{"ids": ["x"]}', '{"model": {"b": [1, 2, 3]}}', "[1, 2, 3]", '{"shape": []}'])
def test_other_json_is_no_columns(tmp_path: Path, text: str) -> None:
    """Objects whose first value is no list of numbers are not claimed."""
    path = tmp_path / "x.json"
    path.write_text(text)
    assert not columns_json.claims(path)


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
    assert any("holds 2 runs by its column run_id; a was read, not b" in g.why for g in run.gaps)


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
