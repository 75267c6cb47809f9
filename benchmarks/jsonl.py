"""What metrics JSONL costs beside an orjson loop that keeps the numbers of the same file. Run: python benchmarks/jsonl.py [ROWS...]."""

import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import orjson

KEYS = 200
PAIRS = 5


def write(path: Path, rows: int) -> None:
    """Write rows of 200 metrics, as a trainer logs them; one value in a thousand rows is a bare NaN."""
    draw = np.random.default_rng(0)
    names = [f"group_{i % 12}/metric_{i:03d}" for i in range(KEYS - 2)]
    with path.open("w") as file:
        for step in range(1, rows + 1):
            values = ", ".join(f'"{name}": {draw.random() * math.sqrt(step):.12f}' for name in names)
            odd = "NaN" if step % 1_000 == 0 else "0.5"
            file.write(f'{{"step": {step}, "odd": {odd}, {values}}}\n')


def decode(path: Path) -> None:
    """Decode every line and drop it: the floor."""
    with path.open("rb") as file:
        for line in file:
            try:
                orjson.loads(line)
            except orjson.JSONDecodeError:
                continue


def loop(path: Path) -> None:
    """Keep the numbers of every line as an array, rows with a bare NaN by the standard reader: what one would write by hand."""
    blocks, rows = [], []
    with path.open("rb") as file:
        for line in file:
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError:
                row = json.loads(line)
            rows.append(list(row.values()))
            if len(rows) == 4_096:
                blocks.append(np.array(rows))
                rows = []
    np.concatenate([*blocks, np.array(rows)])


def ours(path: Path) -> None:
    """Read the file as a part of a run."""
    from rl_advisor.reading.formats import metrics_jsonl

    metrics_jsonl.read(path)


WAYS = {"decode": decode, "loop": loop, "ours": ours}


def one(which: str, path: str) -> None:
    """Print seconds of CPU and peak memory of one way, in a process of its own."""
    WAYS[which](Path(path))  # once warm, imports and page cache included
    begin = time.process_time()
    WAYS[which](Path(path))
    print(time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def measure(rows: int) -> None:
    """Print the median of the ratios of runs in turn."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "metrics.jsonl"
        write(path, rows)
        found: dict[str, list[tuple[float, float]]] = {which: [] for which in WAYS}
        for _ in range(PAIRS if rows < 50_000 else 3):
            for which, results in found.items():
                said = subprocess.run([sys.executable, __file__, which, str(path)], capture_output=True, check=True, text=True).stdout
                seconds, peak = map(float, said.split())
                results.append((seconds, peak))
        size, (peak, floor) = path.stat().st_size / 1e6, (found[w][0][1] for w in ("ours", "decode"))
        seconds = {which: statistics.median(r[0] for r in results) for which, results in found.items()}
        ratio = {w: statistics.median(a[0] / b[0] for a, b in zip(found["ours"], found[w], strict=True)) for w in ("loop", "decode")}
        print(
            f"{rows:7d} rows {size:7.1f} MB  ours {seconds['ours']:6.3f} s, {peak - floor:4.0f} MiB  "
            f"{ratio['loop']:4.2f} x loop ({seconds['loop']:6.3f} s)  {ratio['decode']:4.2f} x decoding ({seconds['decode']:6.3f} s)",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1:2] in (["decode"], ["loop"], ["ours"]):
        one(*sys.argv[1:3])
    else:
        for count in map(int, sys.argv[1:] or ["1000", "10000", "100000"]):
            measure(count)
