"""What recording costs, and what a kill loses. Run: python benchmarks/recorder.py (needs a C compiler and nvidia-ml-py; no GPU).

The real binding and the real command run against a stub of the driver's library, compiled here: what is measured is our side and the
binding's, not the time that a real driver takes to answer.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rl_advisor.reading import read_run

STUB = """
#include <string.h>
#include <stdlib.h>
typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct { unsigned int gpu, memory; } use_t;
typedef struct { unsigned int pid; unsigned long long used; unsigned int instance, compute; } process_t;
static int gpus(void) { const char *n = getenv("STUB_GPUS"); return n ? atoi(n) : 1; }
int nvmlInitWithFlags(unsigned int f) { return 0; }
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned int *n) { *n = gpus(); return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int i, void **h) { *h = (void *)(long)(i + 1); return 0; }
int nvmlDeviceGetPowerUsage(void *h, unsigned int *mw) { static unsigned int n; *mw = 300000 + n++ % 9000; return 0; }
int nvmlDeviceGetUtilizationRates(void *h, use_t *u) { u->gpu = 90; u->memory = 40; return 0; }
int nvmlDeviceGetMemoryInfo(void *h, memory_t *m) { m->total = 150754820096ULL; m->used = 68719476736ULL; m->free = 0; return 0; }
int nvmlDeviceGetTotalEnergyConsumption(void *h, unsigned long long *mj) { static unsigned long long e; *mj = e += 30000; return 0; }
int nvmlDeviceGetTemperature(void *h, int sensor, unsigned int *t) { *t = 61; return 0; }
int nvmlDeviceGetClockInfo(void *h, int kind, unsigned int *mhz) { *mhz = 1980; return 0; }
int nvmlDeviceGetCurrentClocksEventReasons(void *h, unsigned long long *mask) { *mask = 4; return 0; }
int nvmlDeviceGetComputeRunningProcesses_v3(void *h, unsigned int *n, process_t *p) {
  if (*n < 2) { *n = 2; return 7; }
  *n = 2;
  p[0] = (process_t){ 4242, 64ULL << 30, 0, 0 };
  p[1] = (process_t){ 4343, 2ULL << 30, 0, 0 };
  return 0;
}
"""


def stub(folder: Path) -> dict[str, str]:
    """The environment in which the stub is the driver's library."""
    source = folder / "stub.c"
    source.write_text(STUB)
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", folder / "libnvidia-ml.so.1", source], check=True)  # noqa: S607
    return os.environ | {"LD_LIBRARY_PATH": str(folder), "OMP_NUM_THREADS": "1"}


def spent(out: Path, seconds: float, environment: dict[str, str]) -> float:
    """Seconds of processor that recording for so long takes, start and end included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "rl_advisor", "record", "--out", out, "--seconds", str(seconds)]
    subprocess.run(command, check=True, env=environment, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the share of a core for one and eight GPUs at ten rows a second, and what kills lose."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = stub(folder)
        for gpus in (1, 8):
            told = environment | {"STUB_GPUS": str(gpus)}
            short, long = (spent(folder / f"{gpus}-{s}" / "gpu.csv", s, told) for s in (2, 62))
            rows = read_run(folder / f"{gpus}-62").telemetry
            share, other = 100 * (long - short) / 60, rows["other_gib"].max()
            print(f"{gpus} GPUs, 10 rows a second: {share:.2f} % of a core while recording", flush=True)
            print(f"    {len(rows)} rows read back, other processes hold {other:g} GiB", flush=True)
        for turn in range(5):
            out = folder / f"killed-{turn}" / "gpu.csv"
            command = [sys.executable, "-m", "rl_advisor", "record", "--out", out]
            recorder = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
            time.sleep(4 + 0.17 * turn)
            recorder.kill()
            killed = time.time()
            recorder.wait()
            print(f"killed: {killed - read_run(out.parent).telemetry['time'].max():.2f} s of samples lost", flush=True)


if __name__ == "__main__":
    main()
