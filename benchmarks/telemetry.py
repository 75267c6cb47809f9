"""What GPU telemetry costs: reading and profiling, over the number of rows. Run: python benchmarks/telemetry.py [HOURS...].

Where polars is installed (it is no dependency), reading is also set against polars doing the same by hand.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from rl_advisor.formats import nvidia_smi
from rl_advisor.gpu.profile import profile
from rl_advisor.run import Curve, Run

HEADER = (
    "timestamp, index, power.draw [W], utilization.gpu [%], utilization.memory [%], memory.used [MiB], memory.total [MiB], "
    "temperature.gpu, clocks.current.sm [MHz]\n"
)
PERIOD = 30.0
T = TypeVar("T")


def write(path: Path, gpus: int, seconds: float, spacing: float) -> None:
    """Write a log of GPUs in step: 20 s of generation at 300 W, 10 s of training at 600 W, and so on."""
    start = np.datetime64("2026-11-20T00:00:00.000", "ms")
    with path.open("w") as file:
        file.write(HEADER)
        for k in range(round(seconds / spacing)):
            moment = str(start + np.timedelta64(round(k * spacing * 1000), "ms")).replace("-", "/").replace("T", " ")
            watts = 300 if (k * spacing) % PERIOD < 20 else 600
            rows = (
                f"{moment}, {g}, {watts + (g * 7 + k) % 20}.25 W, 95 %, {watts // 15} %, 65029 MiB, 143771 MiB, 41, 1980 MHz\n"
                for g in range(gpus)
            )
            file.writelines(rows)


def clock(seconds: float) -> dict[str, Curve]:
    """Step ends of that log."""
    first = np.datetime64("2026-11-20T00:00:00").astype("int64")
    ends = np.arange(PERIOD, seconds - PERIOD, PERIOD)
    number = np.arange(1.0, ends.size + 1)
    return {"clock": Curve("clock", "step", "log", number, number, time=first + ends)}


def timed(work: Callable[[], T]) -> tuple[float, float, T]:
    """Wall and processor seconds of it, the least of three rounds, and what it gave."""
    rounds = []
    for _ in range(3):
        wall, cpu = time.perf_counter(), time.process_time()
        found = work()
        rounds.append((time.perf_counter() - wall, time.process_time() - cpu))
    return min(r[0] for r in rounds), min(r[1] for r in rounds), found


def by_polars(path: Path) -> None:
    """The same columns by polars: units and slashes taken off the bytes, then its CSV reader."""
    import polars as pl

    names = [cell.split("[")[0].strip() for cell in HEADER.split(",")]
    bare = path.read_bytes().translate(bytes.maketrans(b"/", b"-"), b" %WMiBHz[]")
    types = {names[0]: pl.String} | dict.fromkeys(names[1:], pl.Float32)
    table = pl.read_csv(bare, has_header=False, skip_rows=1, new_columns=names, schema_overrides=types)
    table.with_columns(pl.col(names[0]).str.to_datetime("%Y-%m-%d%H:%M:%S%.f"))


def measure(gpus: int, seconds: float, spacing: float) -> None:
    """Print what reading and profiling such a log costs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gpu.csv"
        write(path, gpus, seconds, spacing)
        read, cpu, run = timed(lambda: nvidia_smi.read(path))
        try:
            other, other_cpu, _ = timed(lambda: by_polars(path))
        except ImportError:
            other = other_cpu = float("nan")
        begin = time.perf_counter()
        answer = profile(Run(telemetry=run.telemetry, curves=clock(seconds)))
        spent = time.perf_counter() - begin
        rows = len(run.telemetry)
        shares = {row["name"]: round(row["share"], 3) for row in answer["phases"]}
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        size = f"{gpus:5d} GPUs {seconds / 3600:6.2f} h {rows:9d} rows"
        ratio = f"{read / other:4.2f} x polars, CPU {cpu / other_cpu:4.2f} x"
        print(
            f"{size}  read {read:6.2f} s ({ratio})  profile {spent:6.2f} s  peak {peak:5.2f} GiB  {shares}",
            flush=True,
        )


if __name__ == "__main__":
    for hours in map(float, sys.argv[1:] or ["1", "2", "4"]):
        measure(8, hours * 3600, 0.1)
    measure(1024, 3600, 1.0)
