"""What GPU telemetry costs: reading and profiling, over the number of rows. Run: python benchmarks/telemetry.py [HOURS...].

Where polars is installed (it is no dependency), reading is also set against polars doing the same by hand.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rl_advisor.gpu.profile import profile
from rl_advisor.reading.formats import telemetry
from rl_advisor.run import Curve, Run

HEADER = (
    "timestamp, index, name, pci.bus_id, temperature.gpu, utilization.gpu [%], utilization.memory [%], memory.used [MiB], "
    "memory.total [MiB], power.draw [W], clocks.current.sm [MHz], clocks.current.memory [MHz], fan.speed [%], pstate, "
    "clocks_event_reasons.active\n"
)
NAMES = [cell.split("[")[0].strip() for cell in HEADER.split(",")]
TEXTS = {"name", "pci.bus_id", "fan.speed", "pstate", "clocks_event_reasons.active"}
PERIOD = 30.0
PEERS = ("polars", "polars in the same order")


def write(path: Path, gpus: int, seconds: float, spacing: float) -> None:
    """Write a log of GPUs in step: 20 s of generation at 300 W, 10 s of training at 600 W, and so on."""
    start = np.datetime64("2026-11-20T00:00:00.000", "ms")
    with path.open("w") as file:
        file.write(HEADER)
        for k in range(round(seconds / spacing)):
            moment = str(start + np.timedelta64(round(k * spacing * 1000), "ms")).replace("-", "/").replace("T", " ")
            watts = 300 if (k * spacing) % PERIOD < 20 else 600
            rows = (
                f"{moment}, {g}, NVIDIA H200, 00000000:{g:04X}:00.0, {40 + g % 30}, {60 + (g * 7 + k) % 41} %, {watts // 15} %, "
                f"{65029 + k // 900 % 1000 * 50} MiB, 143771 MiB, {watts + (g * 7 + k) % 20}.25 W, {1980 - (g + k) % 9 * 15} MHz, "
                "3201 MHz, [N/A], P0, 0x0000000000000001\n"
                for g in range(gpus)
            )
            file.writelines(rows)


def clock(seconds: float) -> dict[str, Curve]:
    """Step ends of that log."""
    first = np.datetime64("2026-11-20T00:00:00").astype("int64")
    ends = np.arange(PERIOD, seconds - PERIOD, PERIOD)
    number = np.arange(1.0, ends.size + 1)
    return {"clock": Curve("clock", "step", "log", number, number, time=first + ends)}


def timed(*works: Callable[[], object]) -> tuple[list[tuple[float, float]], Any]:
    """Wall and processor seconds of each, the least of three rounds in turn, and what the first gave."""
    given: list[object] = [None] * len(works)
    least = [(np.inf, np.inf)] * len(works)
    for _ in range(3):
        for i, work in enumerate(works):
            wall, cpu = time.perf_counter(), time.process_time()
            given[i] = work()
            least[i] = min(least[i][0], time.perf_counter() - wall), min(least[i][1], time.process_time() - cpu)
    return least, given[0]


def by_polars(path: Path, *, ordered: bool) -> None:
    """The same table by polars: units and slashes taken off the bytes, then its CSV reader; ``ordered`` as ours is, by GPU and time."""
    import polars as pl

    bare = path.read_bytes().translate(bytes.maketrans(b"/", b"-"), b" %WMiBHz[]")
    types = {name: pl.String if name in (NAMES[0], *TEXTS) else pl.Float32 for name in NAMES}
    table = pl.read_csv(bare, has_header=False, skip_rows=1, new_columns=NAMES, schema_overrides=types)
    table = table.with_columns(pl.col(NAMES[0]).str.to_datetime("%Y-%m-%d%H:%M:%S%.f"))
    if ordered:
        table.sort("index", "timestamp", maintain_order=True)


def measure(gpus: int, seconds: float, spacing: float) -> None:
    """Print what reading and profiling such a log costs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gpu.csv"
        write(path, gpus, seconds, spacing)
        peers: list[Callable[[], object]] = []
        if find_spec("polars"):
            peers = [partial(by_polars, path, ordered=ordered) for ordered in (False, True)]
        spent_by, run = timed(lambda: telemetry.read(path), *peers)
        begin = time.perf_counter()
        answer = profile(Run(telemetry=run.telemetry, curves=clock(seconds)))
        spent = time.perf_counter() - begin
        rows = len(run.telemetry)
        shares = {row["name"]: round(row["share"], 3) for row in answer["phases"]}
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        size = f"{gpus:5d} GPUs {seconds / 3600:6.2f} h {rows:9d} rows {path.stat().st_size / 1e6:7.1f} MB"
        (read, cpu), *others = spent_by
        ratios = "".join(f", CPU {cpu / c:4.2f} x, wall {read / w:4.2f} x {how}" for (w, c), how in zip(others, PEERS, strict=False))
        print(f"{size}  read {read:6.2f} s, CPU {cpu:6.2f} s{ratios}", flush=True)
        print(f"{'':11}profile {spent:6.2f} s  peak {peak:5.2f} GiB  {shares}", flush=True)


if __name__ == "__main__":
    for hours in map(float, sys.argv[1:] or ["1", "2", "4"]):
        measure(8, hours * 3600, 0.1)
    measure(1024, 3600, 1.0)
