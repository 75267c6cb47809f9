"""The recorder writes what the nvidia-smi format reads, and loses next to nothing when it is killed."""

import subprocess
import sys
import time
from itertools import count

import pytest
from rl_advisor.formats import nvidia_smi
from rl_advisor.gpu.recorder import NoGpu, Reading, Rotation, nvml, record

FOREVER = """
import sys
from pathlib import Path
from rl_advisor.gpu.recorder import Reading, record
record(lambda: [Reading(0, power_w=100.0, utilization=5, used_mib=10, total_mib=100)], Path(sys.argv[1]), every=0.05)
"""


def test_rows_come_back_through_the_format(tmp_path):
    """What is recorded is read as the same numbers; what a card does not tell is missing."""
    path = tmp_path / "gpu.csv"
    readings = [Reading(0, 100.5, None, 7, 50, 25, 2048, 4096, 40, 1980, 0x20), Reading(1)]
    rows = record(lambda: readings, path, every=0.01, seconds=0.2)
    assert nvidia_smi.claims(path)
    run = nvidia_smi.read(path)
    assert run.gaps == ()
    assert len(run.telemetry) == rows
    first = run.telemetry[run.telemetry["gpu"] == "0"].iloc[0]
    assert (first["power_w"], first["utilization"], first["memory_gib"], first["throttle"]) == (100.5, 0.5, 2.0, 32)
    assert run.telemetry[run.telemetry["gpu"] == "1"]["power_w"].isna().all()
    assert abs(first["time"] - time.time()) < 60


def test_a_killed_recorder_loses_less_than_a_second(tmp_path):
    """After kill -9 the file reaches to within a second of the kill and can be read."""
    path = tmp_path / "gpu.csv"
    recorder = subprocess.Popen([sys.executable, "-c", FOREVER, str(path)])
    end = time.time() + 20
    while time.time() < end and (not path.exists() or path.stat().st_size < 2000):
        time.sleep(0.02)
    recorder.kill()
    killed = time.time()
    recorder.wait()
    run = nvidia_smi.read(path)
    assert killed - run.telemetry["time"].max() < 1
    assert len(run.gaps) <= 1


def test_full_files_are_moved_on_and_the_oldest_removed(tmp_path):
    """No file grows beyond its limit by more than one hand-over, and only so many are kept."""
    path = tmp_path / "gpu.csv"
    number = count()
    record(lambda: [Reading(next(number) % 50) for _ in range(50)], path, every=0.1, seconds=2.6, rotation=Rotation(2000, keep=2))
    kept = sorted(p.name for p in tmp_path.iterdir())
    assert kept[-1] == "gpu.csv"
    assert len(kept) == 3
    assert all(p.read_text().startswith("timestamp") for p in tmp_path.iterdir())


def test_without_a_gpu_it_says_so():
    """On a machine without the library, the driver or a card the message names what is missing."""
    with pytest.raises(NoGpu, match=r"nvidia-ml-py|NVIDIA|GPU"):
        nvml()
