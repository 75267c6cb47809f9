"""How the cost of reading grows with a file's size, for every format. Run: python benchmarks/linearity.py [FORMAT...].

Files of a thousand rows and ten, a hundred and a thousand times as many are read, each in a process of its own; a format stops where the
next size would take longer than LONGEST seconds. The exponent is that of the processor time between the last two sizes a decade apart.
"""

import json
import math
import multiprocessing
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from rl_advisor.discovery import modules
from rl_advisor.reading import UnreadableRun, format_of, read_run
from tensorboard import write as write_events

SIZES = (1_000, 10_000, 100_000, 1_000_000)
LONGEST = 25.0
MOST_BYTES = 2 << 30
FIRST = 1_795_218_561
LABELS = '{gpu="0",UUID="GPU-c2f7",modelName="NVIDIA L4",Hostname="a"}'
VALUES = '"loss": 0.25, "reward": 0.5, "entropy": 1.25, "kl": 0.0125'
RESPONSE = "So the answer is 12, because three times four is twelve. " * 5


def iso(i: int) -> str:
    """A time, one second a row."""
    return time.strftime("%Y/%m/%d %H:%M:%S", time.gmtime(FIRST + i))


def text(path: Path, rows: Iterable[str], head: str = "", tail: str = "") -> None:
    """Write a text file."""
    with path.open("w") as file:
        file.write(head)
        file.writelines(rows)
        file.write(tail)


def lines(name: str, row: Callable[[int], str], head: str = "", tail: str = "") -> Callable[[Path, int], Path]:
    """A maker of files of that name with that many rows."""

    def make(folder: Path, rows: int) -> Path:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        text(path, map(row, range(1, rows + 1)), head, tail)
        return path

    return make


def parquet(name: str, columns: Callable[[int], dict[str, Any]]) -> Callable[[Path, int], Path]:
    """A maker of Parquet files."""

    def make(folder: Path, rows: int) -> Path:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table(columns(rows)), folder / name, row_group_size=30_000)
        return folder / name

    return make


def database(name: str, tables: str, insert: str, row: Callable[[int], tuple[Any, ...]]) -> Callable[[Path, int], Path]:
    """A maker of SQLite files."""

    def make(folder: Path, rows: int) -> Path:
        with closing(sqlite3.connect(folder / name)) as base:
            base.executescript(tables)
            base.executemany(insert, map(row, range(1, rows + 1)))
            base.commit()
        return folder / name

    return make


def events(folder: Path, rows: int) -> Path:
    """An event file of ten tags."""
    path = folder / "events.out.tfevents.1700000000.host.1.0"
    write_events(path, 10, rows // 10)
    return path


def evaluations(folder: Path, rows: int) -> Path:
    """Evaluations of five episodes."""
    path = folder / "evaluations.npz"
    np.savez(path, timesteps=np.arange(rows), results=np.ones((rows, 5)), ep_lengths=np.full((rows, 5), 200))
    return path


def tracker(folder: Path, rows: int) -> Path:
    """A metric of MLflow's file store."""
    path = folder / "0" / "run" / "metrics" / "reward"
    path.parent.mkdir(parents=True)
    (path.parents[1] / "meta.yaml").write_text("run_id: run\n")
    text(path, (f"{(FIRST + i) * 1000} {i % 7 / 8} {i}\n" for i in range(rows)))
    return path


def wandb_run(folder: Path, rows: int) -> Path:
    """A run file in which a small record of the history is repeated with other steps."""

    def field(number: int, data: bytes) -> bytes:
        return bytes([number << 3 & 0x7F | 2 | (0x80 if number > 15 else 0)] + ([number >> 4] if number > 15 else []) + [len(data)]) + data

    def record(i: int) -> bytes:
        items = {"_step": i, "reward": i % 7 / 8, "loss": 0.5, "_timestamp": FIRST + i}
        return field(2, b"".join(field(1, field(1, k.encode()) + field(16, json.dumps(v).encode())) for k, v in items.items()))

    path, room = folder / "run-abc.wandb", 32_768 - 7
    with path.open("wb") as file:
        file.write(b":W&B\xe1\xbe\x00")
        for i in range(rows):
            data = record(i)
            if room < 7 + len(data):
                file.write(bytes(room))
                room = 32_768
            file.write(bytes(4) + len(data).to_bytes(2, "little") + b"\x01" + data)
            room -= 7 + len(data)
    return path


MLFLOW = (
    "CREATE TABLE metrics (key, value, timestamp, run_uuid, step, is_nan); CREATE TABLE params (key, value, run_uuid);"
    "CREATE TABLE runs (run_uuid);"
)
TRACKIO = "CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_id, timestamp, run_name, step, metrics);"
MAKERS: dict[str, Callable[[Path, int], Path]] = {
    "arrays": evaluations,
    "block_console": lines("verl.log", lambda i: f"step:{i} - actor/entropy:1.25 - critic/rewards/mean:{i % 7 / 8} - actor/kl_loss:0.01\n"),
    "columns": lines("columns.json", lambda i: f"{i % 7 / 8}, ", '{"reward": [', "0.5]}"),
    "dict_console": lines("train.log", lambda i: f"{{'loss': 0.25, 'reward': {i % 7 / 8}, 'epoch': 0.1}}\n"),
    "fetched": lines("rl-advisor-fetched.json", lambda i: f'[{i}, "checkpoint-{i}"], ', '{"left_out": {}, "checkpoints": [', '[0, "x"]]}'),
    "line_console": lines("train.log", lambda i: f"Episode {i}/9000000, Reward: {i % 7 / 8}, Loss: 0.25\n"),
    "metrics_csv": lines("log.csv", lambda i: f"{i},0.25,{i % 7 / 8},1.25\n", "step,loss,reward,entropy\n"),
    "metrics_jsonl": lines("metrics.jsonl", lambda i: f'{{"step": {i}, {VALUES}}}\n'),
    "metrics_parquet": parquet("metrics.parquet", lambda n: {"step": np.arange(n), "reward": np.ones(n), "loss": np.arange(n) % 7 / 8}),
    "mlflow_files": tracker,
    "mlflow_sqlite": database(
        "mlflow.db",
        MLFLOW,
        "INSERT INTO metrics VALUES (?, ?, ?, 'run', ?, 0)",
        lambda i: (("loss", "reward")[i % 2], i % 7 / 8, (FIRST + i) * 1000, i // 2),
    ),
    "monitor": lines("0.monitor.csv", lambda i: f"{i % 7},{200 + i % 9},{i / 10}\n", '#{"t_start": 1795218561.0, "env_id": "a"}\nr,l,t\n'),
    "telemetry": lines(
        "gpu.csv", lambda i: f"{iso(i)}.000, 0, {i % 100} %, 80.27 W\n", "timestamp, index, utilization.gpu [%], power.draw [W]\n"
    ),
    "plain_console": lines("job.log", lambda i: f"ValueError: a thing went wrong, number {i}\n"),
    "telemetry:prom": lines("metrics.prom", lambda i: f"DCGM_FI_DEV_GPU_UTIL{LABELS} {i % 100} {(FIRST + i) * 1000}\n"),
    "rollouts_jsonl": lines(
        "rollouts.jsonl",
        lambda i: f'{{"step": {i // 100}, "prompt": "What is 3 x {i % 50}?", "response": "{RESPONSE}{i}", "reward": {i % 2}}}\n',
    ),
    "rollouts_parquet": parquet(
        "rollouts.parquet",
        lambda n: {"step": np.arange(n) // 100, "prompt": ["What?"] * n, "completion": [f"{RESPONSE}{i}" for i in range(n)]},
    ),
    "saved_checkpoints": lines("checkpoints.jsonl", lambda i: f'{{"batch": {i}, "name": "a", "state_path": "x://{i}"}}\n'),
    "telemetry:parquet": parquet(
        "gpu.parquet", lambda n: {"time": FIRST + np.arange(n) / 10.0, "gpu": ["0"] * n, "power_w": np.arange(n) % 500.0}
    ),
    "tensorboard": events,
    "trackio": database(
        "project.db",
        TRACKIO,
        "INSERT INTO metrics VALUES (?, 'run', ?, 'run', ?, ?)",
        lambda i: (i, "2026-11-20T23:49:21", i, f"{{{VALUES}}}"),
    ),
    "trainer_state": lines(
        "trainer_state.json",
        lambda i: f'{{"step": {i}, {VALUES}}}, ',
        '{"max_steps": 9, "log_history": [',
        '{"step": 9000000, "loss": 1.0}]}',
    ),
    "wandb_run": wandb_run,
    "configuration": lines("config.yaml", lambda i: f"key_{i}: {i}\n"),
}


def _read(path: Path, answer: Any) -> None:
    """Send processor seconds, MiB beyond the start and points of one reading."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    try:
        run = read_run(path)
        found = sum(c.step.size for c in run.curves.values()) + len(run.telemetry) + len(run.rollouts) + len(run.events)
    except UnreadableRun:
        found = 0
    seconds = time.process_time() - begin
    answer.send((seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, found))


def measure(path: Path) -> tuple[float, float, int]:
    """What ``_read`` says, from a process of its own."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_read, args=(path, there))
    process.start()
    there.close()
    try:
        found: tuple[float, float, int] = here.recv()
    except EOFError:
        found = (math.nan, math.nan, 0)
    process.join()
    return found


def grow(name: str) -> None:
    """Print what each size of a format costs."""
    spent: list[float] = []
    for rows in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            path = MAKERS[name](Path(folder), rows)
            size, module = path.stat().st_size, format_of(path)
            if module is None or name.partition(":")[0] != module.FORMAT:
                print(f"{name:22} {rows:9,} rows: claimed by {module.FORMAT if module else 'no format'}")
                return
            seconds, mib, found = measure(path)
        spent.append(seconds)
        slope = f"exponent {math.log10(spent[-1] / spent[-2]):5.2f}" if len(spent) > 1 and spent[-2] > 0 else ""
        print(f"{name:22} {rows:9,} rows {size / 1e6:8.2f} MB {seconds:8.3f} CPU s {mib:7.0f} MiB {found:10,} found  {slope}", flush=True)
        if not seconds * 10 < LONGEST or size * 10 > MOST_BYTES:
            return


if __name__ == "__main__":
    formats = [module.FORMAT for module in modules("rl_advisor.reading.formats", "FORMAT", "read")]
    if missing := set(formats) - set(MAKERS):
        sys.exit(f"no maker of files for {', '.join(sorted(missing))}")
    import pyarrow.csv
    import pyarrow.parquet  # noqa: F401 - imports are not what is measured
    import yaml  # noqa: F401

    for each in sys.argv[1:] or formats:
        grow(each)
