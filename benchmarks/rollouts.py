"""How long a rollout dump takes to read and spot-check, and in how much memory: JSON lines and zstd Parquet, ours beside DuckDB.

    python benchmarks/rollouts.py [GIGABYTES] [ROUNDS]        1 and 2 by default; the dump is made in a temporary folder
    python benchmarks/rollouts.py --on FILE ROUNDS           on a dump that is there

Every engine runs in a process of its own, in turns, imports included; the ratios are of the medians. DuckDB answers the same questions:
the five highest and lowest rewards with their text, eight responses of the latest step, and count, mean, lowest and highest reward and
mean length of every step.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import orjson

ROWS_PER_STEP = 1620
GROUP_ROWS = 30_720


def write(path: Path, size: float) -> None:
    """A dump of about ``size`` bytes: 1620 responses a step, eight to a prompt, about 7 kB each."""
    rng = np.random.default_rng(0)
    vocabulary = np.array([f"w{i}" for i in range(3000)])
    pool = [" ".join(vocabulary[rng.zipf(1.3, 1700) % 3000]) for _ in range(400)]
    written = number = 0
    with path.open("wb") as file:
        while written < size:
            step, text = number // ROWS_PER_STEP, pool[number % 400]
            row = {"input": f"question {number // 8}", "output": text[: 6000 + number % 1000] + "\n", "step": step, "uid": str(number // 8)}
            written += file.write(orjson.dumps({**row, "score": float(rng.random() < 0.5), "response_length": 1700}) + b"\n")
            number += 1


def ours(path: Path) -> None:
    """Read the dump and pick the samples."""
    from rl_advisor.reading.formats import rollouts_jsonl, rollouts_parquet
    from rl_advisor.samples.spotcheck import triad

    run = (rollouts_parquet if path.suffix == ".parquet" else rollouts_jsonl).read(path)
    triad(run, count=5)


def duckdb(path: Path) -> None:
    """The same questions in SQL."""
    import duckdb as engine  # type: ignore[import-not-found]

    columns = "{input: 'VARCHAR', output: 'VARCHAR', score: 'DOUBLE', step: 'BIGINT'}"
    table = f"'{path}'" if path.suffix == ".parquet" else f"read_json('{path}', columns={columns}, format='newline_delimited')"
    ask: Callable[[str], object] = lambda sql: engine.sql(sql).fetchall()  # noqa: E731
    ask(f"SELECT * FROM {table} ORDER BY score DESC LIMIT 5")  # noqa: S608 - our own file
    ask(f"SELECT * FROM {table} ORDER BY score LIMIT 5")  # noqa: S608
    ask(f"SELECT * FROM {table} WHERE step = (SELECT max(step) FROM {table}) USING SAMPLE 8")  # noqa: S608
    ask(f"SELECT step, count(*), avg(score), min(score), max(score), avg(length(output)) FROM {table} GROUP BY step")  # noqa: S608


def to_parquet(lines: Path, table: Path) -> None:
    """The dump as zstd Parquet in row groups of about 240 MB."""
    import pyarrow as pa
    import pyarrow.json as reading
    import pyarrow.parquet as pq

    def chunks() -> Iterator[pa.Table]:
        part: list[pa.RecordBatch] = []
        for batch in reading.open_json(lines, read_options=reading.ReadOptions(block_size=8 << 20)):
            part.append(batch)
            if sum(b.num_rows for b in part) >= GROUP_ROWS:
                yield pa.Table.from_batches(part)
                part = []
        if part:
            yield pa.Table.from_batches(part)

    with pq.ParquetWriter(table, reading.open_json(lines).schema, compression="zstd") as writer:
        for chunk in chunks():
            writer.write_table(chunk)


def measured(engine: str, path: Path) -> None:
    """Run one engine here and print wall and CPU seconds and the peak memory of this process."""
    start = time.perf_counter()
    {"ours": ours, "duckdb": duckdb}[engine](path)
    used = resource.getrusage(resource.RUSAGE_SELF)
    wall, cpu = time.perf_counter() - start, used.ru_utime + used.ru_stime
    print(f"{wall} {cpu} {used.ru_maxrss / 1024}")


def compared(path: Path, rounds: int) -> None:
    """Run the engines on one file in turns; print each run and the ratios of the medians."""
    engines = ("ours", *(("duckdb",) if find_spec("duckdb") else ()))
    print(f"{path.name}: {path.stat().st_size / 1e9:.2f} GB", flush=True)
    with path.open("rb", buffering=0) as file:  # else the first engine reads from disk for all that follow
        while file.read(8 << 20):
            pass
    runs: dict[str, list[list[float]]] = {engine: [] for engine in engines}
    for _ in range(rounds):
        for engine in engines:
            done = subprocess.run([sys.executable, __file__, "--one", engine, path], check=True, capture_output=True, text=True)
            wall, cpu, peak = map(float, done.stdout.split())
            runs[engine].append([wall, cpu, peak])
            print(f"{engine:7} {path.suffix[1:]:8} wall {wall:6.2f} s   cpu {cpu:6.2f} s   peak {peak:6.0f} MiB", flush=True)
    if len(engines) == 2:
        wall, cpu, peak = np.median(runs["ours"], axis=0) / np.median(runs["duckdb"], axis=0)
        print(f"ours / duckdb: wall {wall:.2f}   cpu {cpu:.2f}   peak {peak:.2f}", flush=True)


def main(size: float = 1.0, rounds: int = 2) -> None:
    """Make the dump, in a process of its own because a child's peak begins at its parent's, and run every engine on it."""
    with tempfile.TemporaryDirectory() as folder:
        lines, table = Path(folder, "dump.jsonl"), Path(folder, "dump.parquet")
        subprocess.run([sys.executable, __file__, "--make", folder, str(size)], check=True)
        compared(lines, rounds)
        compared(table, rounds)


def make(folder: Path, size: float) -> None:
    """Write the dump as JSON lines and as Parquet."""
    write(folder / "dump.jsonl", size * 1e9)
    to_parquet(folder / "dump.jsonl", folder / "dump.parquet")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measured(sys.argv[2], Path(sys.argv[3]))
    elif sys.argv[1:2] == ["--make"]:
        make(Path(sys.argv[2]), float(sys.argv[3]))
    elif sys.argv[1:2] == ["--on"]:
        compared(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main(*map(float, sys.argv[1:2]), *map(int, sys.argv[2:3]))
