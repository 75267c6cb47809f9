"""The recorder writes what the nvidia-smi format reads, and loses next to nothing when it is killed."""

import subprocess
import sys
import time
from itertools import count
from types import SimpleNamespace

import pytest
from rl_advisor.callbacks import Log
from rl_advisor.gpu import recorder
from rl_advisor.gpu.recorder import CELLS, NoGpu, Rotation, nvml, record
from rl_advisor.gpu.steps import logged_seconds
from rl_advisor.reading import read_run
from rl_advisor.reading.formats import telemetry

FOREVER = """
import sys
from pathlib import Path
from rl_advisor.gpu.recorder import record
cells = {"index": "0", "power.draw [W]": "100.00", "utilization.gpu [%]": "5", "memory.used [MiB]": "10", "memory.total [MiB]": "100"}
record(lambda: [cells], Path(sys.argv[1]), every=0.05)
"""


def reading(index, *cells):
    """A reading with the first columns told; None is what the card does not tell."""
    return {"index": str(index)} | {name: cell for name, cell in zip(CELLS, cells, strict=False) if cell is not None}


@pytest.fixture
def clock(monkeypatch):
    """The recorder's time, which passes only when they sleep, or when it is set."""
    passed = SimpleNamespace(now=1.8e9)

    def sleep(seconds):
        passed.now += seconds

    fake = SimpleNamespace(time=lambda: passed.now, monotonic=lambda: passed.now, sleep=sleep)
    monkeypatch.setattr(recorder, "time", fake)
    return passed


def test_rows_come_back_through_the_format(tmp_path, clock):
    """What is recorded is read as the same numbers; what a card does not tell is missing."""
    path = tmp_path / "gpu.csv"
    readings = [reading(0, "100.50", None, "7", "50", "25", "2048", "4096", "40", "1980", "0x20"), reading(1)]
    rows = record(lambda: readings, path, every=0.01, seconds=0.2)
    assert telemetry.claims(path)
    run = telemetry.read(path)
    assert run.gaps == ()
    assert len(run.telemetry) == rows
    first = run.telemetry[run.telemetry["gpu"] == "0"].iloc[0]
    assert (first["power_w"], first["utilization"], first["memory_gib"], first["throttle"]) == (100.5, 0.5, 2.0, 32)
    assert run.telemetry[run.telemetry["gpu"] == "1"]["power_w"].isna().all()
    assert abs(first["time"] - clock.now) < 1


@pytest.mark.usefixtures("clock")
def test_memory_of_other_processes_is_told(tmp_path):
    """What processes other than the largest hold is a column of its own, from the row on in which they are there."""
    path, turns = tmp_path / "gpu.csv", count()
    counters = ("100.50", "99.00", "7", "50", "25", "2048", "4096", "40", "1980", "0x20")
    record(lambda: [reading(0, *counters, "11:2048;22:512" if next(turns) > 3 else "11:2048")], path, every=0.01, seconds=0.3)
    found = telemetry.read(path).telemetry
    assert (found.iloc[0]["power_instant_w"], found.iloc[0]["other_gib"], found.iloc[-1]["other_gib"]) == (99.0, 0.0, 0.5)


@pytest.mark.usefixtures("clock")
def test_full_files_are_numbered(tmp_path):
    """Nothing is lost where one file ends and the next begins."""
    path, number = tmp_path / "gpu.csv", count()
    rows = record(lambda: [reading(0, f"{next(number)}")], path, every=0.01, seconds=1.8, rotation=Rotation(300, keep=9))
    assert len(list(tmp_path.iterdir())) >= 3
    values = read_run(tmp_path).telemetry["power_w"].to_numpy()
    assert sorted(values) == list(range(rows))


def test_a_recording_goes_on_after_a_kill(tmp_path):
    """What a killed recorder left, half a line at its end, is read with what comes after."""
    path = tmp_path / "gpu.csv"
    killed_recorder(path)
    before = len(telemetry.read(path).telemetry)
    with path.open("a") as file:
        file.write("2026/11/21 12:0")
    rows = record(lambda: [reading(0, "1.00")], path, every=0.01, seconds=0.1)
    found = telemetry.read(path).telemetry
    assert len(found) == before + rows


def killed_recorder(path):
    """A recorder that wrote a while and was killed."""
    process = subprocess.Popen([sys.executable, "-c", FOREVER, str(path)])
    end = time.monotonic() + 300
    while not path.exists() or path.stat().st_size < 2000:
        assert time.monotonic() < end
        time.sleep(0.02)
    process.kill()
    process.wait()


def test_a_killed_recorder_leaves_what_can_be_read(tmp_path):
    """After kill -9 the rows that reached the disk are read, and what is torn is one gap at most."""
    killed_recorder(tmp_path / "gpu.csv")
    run = read_run(tmp_path)
    assert len(run.telemetry) > 10
    assert len(run.gaps) <= 1


def test_less_than_a_second_is_ever_missing_on_the_disk(tmp_path, clock):
    """At each reading the file reaches to within a second of it, so that a kill loses no more."""
    path, late = tmp_path / "gpu.csv", []

    def looked():
        found = telemetry.read(path).telemetry if clock.now > 1.8e9 + 1 else None
        late.append(0.0 if found is None else clock.now - found["time"].max())
        return [reading(0, "1.00")]

    record(looked, path, every=0.05, seconds=3)
    assert len(late) >= 50
    assert 0.4 < max(late) < 1


@pytest.mark.usefixtures("clock")
def test_full_files_are_moved_on_and_the_oldest_removed(tmp_path):
    """No file grows beyond its limit by more than one hand-over, and only so many are kept."""
    path = tmp_path / "gpu.csv"
    number = count()
    record(lambda: [reading(next(number) % 50) for _ in range(50)], path, every=0.1, seconds=2.6, rotation=Rotation(2000, keep=2))
    kept = sorted(p.name for p in tmp_path.iterdir())
    assert kept[-1] == "gpu.csv"
    assert len(kept) == 3
    assert all(p.read_text().startswith("timestamp") for p in tmp_path.iterdir())


class UnsupportedError(Exception):
    """What the binding raises for a call that the card does not know."""


TOLD = {
    "PowerUsage": 123_456,
    "FieldValues": [SimpleNamespace(nvmlReturn=0, value=SimpleNamespace(uiVal=99_000))],
    "UtilizationRates": SimpleNamespace(gpu=50, memory=25),
    "MemoryInfo": SimpleNamespace(used=3 << 30, total=4 << 30),
    "CurrentClocksEventReasons": 0x20,
    "ComputeRunningProcesses_v2": [SimpleNamespace(pid=11, usedGpuMemory=2 << 30), SimpleNamespace(pid=12, usedGpuMemory=None)],
}


def driver():
    """The binding over a card of which some calls fail; the newest name of the processes is among these."""

    def refuse(*_):
        raise UnsupportedError

    refused = ("TotalEnergyConsumption", "Temperature", "ComputeRunningProcesses_v3")  # an older binding has no ClockInfo at all
    calls = {f"nvmlDeviceGet{name}": lambda *_, told=told: told for name, told in TOLD.items()}
    calls |= {f"nvmlDeviceGet{name}": refuse for name in refused}
    return SimpleNamespace(NVMLError=UnsupportedError, NVMLLibraryMismatchError=UnsupportedError, **calls)


def test_what_a_card_does_not_tell_is_missing():
    """Each column is asked for itself; processes only when it is time for them."""
    told = recorder._reading(driver(), None, processes=True)
    assert (told["power.draw [W]"], told["power.draw.instant [W]"], told["memory.used [MiB]"]) == ("123.46", "99.00", "3072")
    assert (told["processes"], told["clocks_event_reasons.active"]) == ("11:2048;12:0", f"0x{32:016x}")
    assert not {"energy [mJ]", "temperature.gpu", "clocks.current.sm [MHz]"} & set(told)
    assert recorder._reading(driver(), None, processes=False).keys() == told.keys() - {"processes"}


def test_without_a_gpu_it_says_so():
    """On a machine without the library, the driver or a card the message names what is missing."""
    with pytest.raises(NoGpu, match=r"nvidia-ml-py|NVIDIA|GPU"):
        nvml()


def test_seconds_of_phases_are_read_wherever_they_are_logged(tmp_path):
    """Rows of ``time/phase/NAME``, as any loop may log them, are the phases of the steps."""
    row = {"time/phase/generation": 2.0, "time/phase/waiting": 4.0, "time/phase/training": 1.0, "time/step": 8.0}
    log = Log(tmp_path, every=100, report=None)
    for step in range(1, 7):
        log.log(row, step)
    assert logged_seconds(read_run(tmp_path)) == {"generation": 2.0, "waiting": 4.0, "training": 1.0, "other": 1.0, "step": 8.0}
