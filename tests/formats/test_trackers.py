"""What experiment trackers keep on disk: W&B's run file, trackio's and MLflow's databases, MLflow's folders."""

import json
import math
import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from rl_advisor.reading import format_of, read_run
from rl_advisor.reading.formats import mlflow_files, mlflow_sqlite, trackio, wandb_run
from rl_advisor.reading.parsing.columns import curves_of, flat
from rl_advisor.reading.parsing.metric_table import over_steps
from rl_advisor.reading.parsing.sqlite_tables import rows, tables

DATA = Path(__file__).parent.parent / "data" / "trackers"


def database(folder: Path, name: str) -> Path:
    """Return a database made from the rows of a real one."""
    path = folder / f"{name}.db"
    with closing(sqlite3.connect(path)) as base:
        base.executescript((DATA / f"{name}.sql").read_text())
        base.commit()
    return path


def test_mlflow_sqlite_has_the_trainers_steps(tmp_path: Path) -> None:
    """Points by key and step, milliseconds as seconds, parameters as configuration."""
    path = database(tmp_path, "mlflow")
    assert format_of(path) is mlflow_sqlite
    run = mlflow_sqlite.read(path)
    reward = run.curves["reward"]
    assert reward.step[:3].tolist() == [2, 4, 6]
    np.testing.assert_allclose(reward.value[:2], [0.676029, 0.736942], atol=1e-6)
    assert reward.time is not None
    assert 1795217998 < reward.time[0] < 1795218035
    assert run.config["max_steps"] == "60"
    assert run.gaps == ()


def test_mlflow_sqlite_nan_and_second_run(tmp_path: Path) -> None:
    """A point marked as NaN is NaN; of two runs the fuller one is read and the other is said."""
    path = database(tmp_path, "mlflow")
    with closing(sqlite3.connect(path)) as base:
        run = base.execute("SELECT run_uuid FROM metrics LIMIT 1").fetchone()[0]
        base.execute("INSERT INTO metrics VALUES('reward', 0.0, 1795218099000, ?, 99, 1)", (run,))
        base.execute("INSERT INTO metrics VALUES('reward', 7.0, 1795218099000, 'another', 1, 0)")
        base.commit()
    read = mlflow_sqlite.read(path)
    assert np.isnan(read.curves["reward"].value[-1])
    assert read.curves["reward"].step[-1] == 99
    assert 7.0 not in read.curves["reward"].value
    assert [("holds 2 runs" in gap.why) for gap in read.gaps] == [True]


def test_trackio_rows_fall_on_the_trainers_steps(tmp_path: Path) -> None:
    """One training step is many rows of trackio's own count."""
    path = database(tmp_path, "trackio")
    assert format_of(path) is trackio
    run = trackio.read(path)
    assert run.curves["train/reward"].step[:3].tolist() == [2, 4, 6]
    np.testing.assert_allclose(run.curves["train/reward"].value[0], 0.676029, atol=1e-6)
    profile = run.curves["profiling/Time taken: GRPOTrainer.compute_loss"]
    assert set(profile.step) <= set(run.curves["train/epoch"].step) | {0.0}


def test_wandb_run_file() -> None:
    """History on train/global_step, configuration, wall time; the copy ends in the middle of a record."""
    path = DATA / "run-6lxaitkr.wandb"
    assert format_of(path) is wandb_run
    run = wandb_run.read(path)
    reward = run.curves["train/reward"]
    assert reward.step[:3].tolist() == [2, 4, 6]
    np.testing.assert_allclose(reward.value[:2], [0.676029, 0.736942], atol=1e-6)
    assert reward.time is not None
    assert 1.7952e9 < reward.time[0] < 1.7953e9
    assert run.config["max_steps"] == 60
    assert not any(name.startswith("completions/_type") for name in run.curves)


def test_wandb_half_written(tmp_path: Path) -> None:
    """A file that is still being written gives what is whole and says what waits."""
    path = tmp_path / "run-1.wandb"
    path.write_bytes((DATA / "run-6lxaitkr.wandb").read_bytes()[:40_000])
    run = wandb_run.read(path)
    assert run.curves["train/reward"].step.size > 0
    assert any("half-written" in gap.why for gap in run.gaps)


def test_wandb_damaged_block(tmp_path: Path) -> None:
    """A damaged block costs that block; reading goes on in the next one."""
    whole = wandb_run.read(DATA / "run-6lxaitkr.wandb").curves["train/reward"].step
    data = bytearray((DATA / "run-6lxaitkr.wandb").read_bytes())
    data[20_000:20_400] = b"\xff" * 400
    path = tmp_path / "run-1.wandb"
    path.write_bytes(data)
    run = wandb_run.read(path)
    assert run.gaps
    assert run.curves["train/reward"].step[-1] == whole[-1]


def item(field: int, name: str, value: str) -> bytes:
    inner = b"\x0a" + bytes([len(name)]) + name.encode() + b"\x82\x01" + bytes([len(value)]) + value.encode()
    return bytes([field << 3 | 2, len(inner)]) + inner


def test_wandb_gpu_statistics(tmp_path: Path) -> None:
    """Statistics of a GPU become telemetry in our units: shares, watts, GiB."""
    stats = b"\x12\x06\x08\xc0\xb4\x83\xd8\x06" + b"".join(
        item(3, name, value)
        for name, value in {"gpu.0.gpu": "50", "gpu.0.powerWatts": "300.5", "gpu.0.memoryAllocatedBytes": "1073741824", "cpu": "9"}.items()
    )
    record = b"\x3a" + bytes([len(stats)]) + stats
    path = tmp_path / "run-1.wandb"
    path.write_bytes(b":W&B\xe1\xbe\x00" + struct.pack("<IHB", 0, len(record), 1) + record)
    table = read_run(tmp_path).telemetry
    assert table[["gpu", "utilization", "power_w", "memory_gib"]].to_numpy().tolist() == [["0", 0.5, 300.5, 1.0]]
    assert table["time"].tolist() == [1795217984.0]


def store(folder: Path) -> Path:
    run = folder / "mlruns" / "1" / "abc"
    for name, text in {
        "metrics/reward": "1795219496672 0.72 1\n1795219496676 nan 3\n", "metrics/completions/max_length": "1795219496672 24.0 1\n",
        "params/beta": "0.02", "meta.yaml": "run_id: abc\n", "tags/mlflow.user": "me",
    }.items():  # fmt: skip
        path = run / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return run


def test_mlflow_folders(tmp_path: Path) -> None:
    """A file is one metric; folders below ``metrics`` belong to its name; tags and other folders are not claimed."""
    run = store(tmp_path)
    curve = mlflow_files.read(run / "metrics" / "completions" / "max_length").curves["completions/max_length"]
    assert (curve.step.tolist(), curve.value.tolist()) == ([1.0], [24.0])
    reward = mlflow_files.read(run / "metrics" / "reward").curves["reward"]
    assert reward.step.tolist() == [1.0, 3.0]
    assert np.isnan(reward.value[1])
    assert mlflow_files.read(run / "params" / "beta").config == {"beta": 0.02}
    assert not mlflow_files.claims(run / "tags" / "mlflow.user")
    other = tmp_path / "metrics" / "reward"
    other.parent.mkdir()
    shutil.copy(run / "metrics" / "reward", other)
    assert not mlflow_files.claims(other)


@pytest.mark.parametrize(
    "data", [b"", b"SQLite format 3\x00" + bytes(300), b":W&B\xe1\xbe\x00", b"version https://git-lfs.github.com/spec/v1\n"]
)
@pytest.mark.parametrize("name", ["a.db", "run-1.wandb"])
def test_damaged_or_empty_files_give_no_curves(tmp_path: Path, name: str, data: bytes) -> None:
    """They are not claimed, or they give nothing; none of it raises."""
    path = tmp_path / name
    path.write_bytes(data)
    for module in (mlflow_sqlite, trackio, wandb_run):
        assert not (module.claims(path) and module.read(path).curves)


def test_a_database_is_never_written_nor_are_views_run(tmp_path: Path) -> None:
    """A view called metrics is no table, and reading leaves no file beside the database."""
    path = tmp_path / "evil.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE VIEW metrics AS WITH RECURSIVE n(key) AS (SELECT 1 UNION ALL SELECT key FROM n) SELECT key FROM n")
        base.commit()
    assert "metrics" not in tables(path)
    assert not mlflow_sqlite.claims(path)
    assert [p.name for p in tmp_path.iterdir()] == ["evil.db"]


def test_a_truncated_database_says_so(tmp_path: Path) -> None:
    """Half a database raises OSError, which reading turns into a gap."""
    path = database(tmp_path, "trackio")
    path.write_bytes(path.read_bytes()[:6_000])
    with pytest.raises(OSError, match="damaged database"):
        list(rows(path, "metrics", "key"))


def test_rows_of_a_tracker() -> None:
    """Rows without the trainer's step belong to the last one; without any, the tracker's count stands; typed objects are no numbers."""
    told = ({"p": 1}, {"global_step": 5, "p": 1}, {"global_step": 7, "p": 2}, {"p": 3})
    rows = [(float(row), math.nan, {"_step": row, **said}) for row, said in enumerate(told)]
    assert over_steps(curves_of(rows), 4).curves["p"].step.tolist() == [0.0, 5.0, 7.0, 7.0]
    bare = [(row, time, {"_step": said["_step"], "p": said["p"]}) for row, time, said in rows]
    assert over_steps(curves_of(bare), 4).curves["p"].step.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert flat({"a": {"b": 1, "c": {"_type": "table", "n": 2}}, "d": 3}) == {"a/b": 1, "d": 3}


def test_trackio_parquet_reads_as_its_database(tmp_path: Path) -> None:
    """What trackio exports (one column a metric, one row a log call) gives the curves of the database it was made from."""
    import pandas as pd

    (tmp_path / "db").mkdir()
    with closing(sqlite3.connect(database(tmp_path / "db", "trackio"))) as base:
        logged = pd.read_sql("SELECT * FROM metrics", base)
    values = pd.DataFrame([json.loads(text) for text in logged.pop("metrics")])
    plain = values[[c for c in values if not values[c].map(lambda v: isinstance(v, dict | list)).any()]]
    pd.concat([logged, plain], axis=1).to_parquet(tmp_path / "p.parquet")
    want, got = read_run(tmp_path / "db"), read_run(tmp_path / "p.parquet")
    mapped = {n: c for n, c in want.curves.items() if c.mapped}
    assert got.frameworks == want.frameworks == ("trl",)
    assert len(mapped) > 5
    for name, curve in mapped.items():
        assert np.array_equal(got.curves[name].step, curve.step), name
        assert np.allclose(got.curves[name].value, curve.value, equal_nan=True), name


def test_system_metrics_of_trackers_are_telemetry(tmp_path: Path) -> None:
    """GPU counters that trackio exports, or that stand in its table of system metrics, are telemetry over the clock."""
    import pandas as pd

    stamps = [f"2026-11-20T23:39:{10 * i:02d}.5+00:00" for i in range(4)]
    counters = {"gpu/0/power": [300.0, 310, 320, 330], "gpu/0/utilization": [90.0] * 4, "gpu/0/allocated_memory": [40.0] * 4}
    pd.DataFrame({"timestamp": stamps, "run_name": ["a"] * 4, **counters}).to_parquet(tmp_path / "p_system.parquet")
    (tmp_path / "m.jsonl").write_text("".join(json.dumps({"step": i, "reward": i}) + "\n" for i in range(4)))
    table = read_run(tmp_path).telemetry
    assert table["power_w"].tolist() == [300.0, 310.0, 320.0, 330.0]
    assert table["utilization"].tolist() == pytest.approx([0.9] * 4)
    assert table["time"].diff().dropna().tolist() == [10.0] * 3
