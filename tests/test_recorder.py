"""The recorder starts NVIDIA's tool, goes on in a file that is there, and ends it again; its rows come back through the format."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rl_advisor.callbacks import Log
from rl_advisor.gpu.recorder import COLUMNS, record
from rl_advisor.gpu.steps import logged_seconds
from rl_advisor.output.errors import UsageError
from rl_advisor.reading import read_run
from rl_advisor.reading.formats import telemetry

DRIVER = f"""#!{sys.executable}
import os, sys, time
from datetime import datetime, timezone
if "-L" in sys.argv:
    sys.exit({{gpus}})
asked = dict(word.lstrip("-").split("=") for word in sys.argv[1:])
assert os.environ["TZ"] == "UTC"
print(asked["query-gpu"].replace(",", ", "), flush=True)
while True:
    now = datetime.now(timezone.utc).strftime("%Y/%m/%d %H:%M:%S.%f")[:-3]
    print(now, "0, 100.50 W, [N/A], 50 %, 25 %, 2048 MiB, 4096 MiB, 40, 1980 MHz, 0x0000000000000020", sep=", ", flush=True)
    time.sleep(int(asked["loop-ms"]) / 1000)
"""


@pytest.fixture
def driver(tmp_path, monkeypatch):
    """A driver's tool on the path, which sees a GPU (0) or none (6)."""

    def put(gpus: int) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "nvidia-smi").write_text(DRIVER.format(gpus=gpus))
        (folder / "nvidia-smi").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    return put


def waited_for(path: Path, rows: int) -> None:
    """Come back once so many rows are there."""
    end = time.monotonic() + 300
    while not path.exists() or path.read_text().count("100.50") < rows:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_rows_come_back_through_the_format(tmp_path, driver):
    """What is recorded is read as the same numbers; a second recording goes on where a kill left half a line."""
    driver(0)
    path = tmp_path / "run" / "gpu.csv"
    recording = record(path, 0.01)
    waited_for(path, 5)
    recording.kill()
    recording.wait()
    before = len(telemetry.read(path).telemetry)
    with path.open("a") as file:
        file.write("2026/11/21 12:0")
    recording = record(path, 0.01)
    waited_for(path, before + 5)
    recording.kill()
    recording.wait()
    run = telemetry.read(path)
    assert telemetry.claims(path)
    assert len(run.telemetry) >= before + 5
    first = run.telemetry.iloc[0]
    assert (first["power_w"], first["utilization"], first["memory_gib"], first["throttle"]) == (100.5, 0.5, 2.0, 32)
    assert abs(run.telemetry["time"].max() - time.time()) < 60
    assert {"power_w", "utilization", "memory_activity", "memory_gib", "memory_total_gib", "temperature", "sm_clock"} <= set(run.telemetry)


def test_the_command_ends_what_it_started(tmp_path, driver):
    """An interrupt ends the recording, and nothing goes on behind it."""
    driver(0)
    path = tmp_path / "gpu.csv"
    command = subprocess.Popen([sys.executable, "-m", "rl_advisor", "record", "--out", str(path), "--every", "0.01"])
    waited_for(path, 3)
    command.send_signal(signal.SIGINT)
    assert command.wait(timeout=60) == 0
    size = path.stat().st_size
    time.sleep(0.1)
    assert path.stat().st_size == size


@pytest.mark.parametrize(("gpus", "said"), [(6, "sees no GPU"), (None, "driver")])
def test_without_a_gpu_it_says_so(tmp_path, driver, monkeypatch, gpus, said):
    """On a machine without the driver or a card the message says which, and no file is begun."""
    monkeypatch.setenv("PATH", str(tmp_path))
    if gpus is not None:
        driver(gpus)
    with pytest.raises(UsageError, match=said):
        record(tmp_path / "gpu.csv", 0.1)
    assert not (tmp_path / "gpu.csv").exists()


def test_memory_of_other_processes_is_told(tmp_path):
    """What processes other than the largest hold is a column of its own, from the row on in which they are there."""
    rows = [(f"2026/11/21 12:00:0{i}.000, 0, 100.00 W, 2048 MiB", "11:2048;22:512" if i > 3 else "11:2048") for i in range(8)]
    (tmp_path / "gpu.csv").write_text("\n".join(["timestamp, index, power.draw [W], memory.used [MiB], processes", *map(", ".join, rows)]))
    assert telemetry.read(tmp_path / "gpu.csv").telemetry["other_gib"].tolist() == [0.0] * 4 + [0.5] * 4


def test_every_column_is_read():
    """No column is asked for that the format does not know."""
    assert all(telemetry._means_something(name) for name in COLUMNS.split(","))


def test_seconds_of_phases_are_read_wherever_they_are_logged(tmp_path):
    """Rows of ``time/phase/NAME``, as any loop may log them, are the phases of the steps."""
    row = {"time/phase/generation": 2.0, "time/phase/waiting": 4.0, "time/phase/training": 1.0, "time/step": 8.0}
    log = Log(tmp_path, every=100, report=None)
    for step in range(1, 7):
        log.log(row, step)
    assert logged_seconds(read_run(tmp_path)) == {"generation": 2.0, "waiting": 4.0, "training": 1.0, "other": 1.0, "step": 8.0}
