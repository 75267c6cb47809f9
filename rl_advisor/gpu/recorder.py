"""Records what NVIDIA's management library says of the GPUs of this machine until it is stopped: CSV in nvidia-smi's layout.

Rows are handed to the operating system twice a second, so that a killed recorder loses less than a second; what it left goes on when
recording does. Times are UTC. A full file is renamed with a number and a new one begun; the oldest are removed.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import Any, TextIO

from rl_advisor.output.errors import UsageError, install

Ask = Callable[..., Any]
"""The library's answer about one GPU to a call by its name behind ``nvmlDeviceGet``."""
Reading = dict[str, str]
"""One GPU at one moment, by the columns of the file; what it does not tell is not there."""
Source = Callable[[], Sequence[Reading]]


class NoGpu(UsageError):  # noqa: N818 - reads as what is the matter
    """There is no GPU to record, or no way to ask it; the message says which."""


def _instant(ask: Ask) -> str:
    """Power without averaging, a field by NVML's own number."""
    field = ask("FieldValues", (186,))[0]
    return MISSING if field.nvmlReturn else f"{field.value.uiVal / 1000:.2f}"


def _processes(ask: Ask) -> str:
    """Each process and the MiB it holds; the binding's unversioned name fails where driver and binding are of different age."""
    try:
        running = ask("ComputeRunningProcesses_v3")
    except Exception:  # noqa: BLE001 - the caller tells the library's errors apart, of this call and of the older one
        running = ask("ComputeRunningProcesses_v2")
    return ";".join(f"{int(p.pid)}:{int(p.usedGpuMemory or 0) >> 20}" for p in running) or "-"


CELLS: Mapping[str, Callable[[Ask], str]] = {
    "power.draw [W]": lambda ask: f"{ask('PowerUsage') / 1000:.2f}",
    "power.draw.instant [W]": _instant,
    "energy [mJ]": lambda ask: str(ask("TotalEnergyConsumption")),
    "utilization.gpu [%]": lambda ask: str(ask("UtilizationRates").gpu),
    "utilization.memory [%]": lambda ask: str(ask("UtilizationRates").memory),
    "memory.used [MiB]": lambda ask: str(ask("MemoryInfo").used >> 20),
    "memory.total [MiB]": lambda ask: str(ask("MemoryInfo").total >> 20),
    "temperature.gpu": lambda ask: str(ask("Temperature", 0)),
    "clocks.current.sm [MHz]": lambda ask: str(ask("ClockInfo", 1)),
    "clocks_event_reasons.active": lambda ask: f"0x{ask('CurrentClocksEventReasons'):016x}",
    "processes": _processes,
}
"""The columns of the file, and what the library says for each."""
HEADER = ", ".join(("timestamp", "index", *CELLS))
FLUSH_SECONDS = 0.5
MISSING = "[N/A]"
PROCESSES_EVERY = 1.0
"""Seconds between two looks at the processes; listing them costs the driver more than all counters together."""


@dataclass(frozen=True)
class Rotation:
    """When a file is full, in bytes, and how many full ones are kept."""

    largest: int = 32 << 20
    keep: int = 64


def nvml() -> Source:
    """What reads all NVIDIA GPUs of this machine.

    Raises:
        NoGpu: the library of the extra ``gpu`` is not installed, or there is no driver or no GPU.

    """
    try:
        pynvml = import_module("pynvml")
    except ImportError as missing:
        raise NoGpu(f"recording needs nvidia-ml-py: {install('gpu')}") from missing
    try:
        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
    except pynvml.NVMLError as error:
        raise NoGpu(f"there is no NVIDIA GPU or driver here: {error}") from error
    if not handles:
        raise NoGpu("the driver sees no GPU")
    looked = [-PROCESSES_EVERY]

    def read() -> list[Reading]:
        now = time.monotonic()
        due = now - looked[0] >= PROCESSES_EVERY
        looked[0] = now if due else looked[0]
        return [_reading(pynvml, handle, processes=due) | {"index": str(index)} for index, handle in enumerate(handles)]

    return read


def _reading(library: Any, handle: Any, *, processes: bool) -> Reading:
    """One GPU's counters; those that the card does not support are left out, and processes unless it is time for them."""

    @cache
    def ask(call: str, *more: Any) -> Any:
        return getattr(library, f"nvmlDeviceGet{call}")(handle, *more)

    told: Reading = {}
    for column, cell in CELLS.items():
        if processes or column != "processes":
            with suppress(library.NVMLError, library.NVMLLibraryMismatchError, AttributeError):
                told[column] = cell(ask)
    return told


def row(moment: float, reading: Reading) -> str:
    """A reading as a line of the file."""
    stamp = datetime.fromtimestamp(moment, UTC).strftime("%Y/%m/%d %H:%M:%S.%f")[:-3]
    return ", ".join((stamp, *(reading.get(column, MISSING) for column in ("index", *CELLS))))


def record(source: Source, out: Path, *, every: float = 0.1, seconds: float = float("inf"), rotation: Rotation = Rotation()) -> int:
    """Write the source's readings to ``out`` every ``every`` seconds for so many ``seconds``; the number of rows comes back.

    Stops cleanly on an interrupt.
    """
    rows, handed, file = 0, time.monotonic(), _begun(out)
    try:
        for tick in _ticks(time.monotonic(), every, seconds):
            moment = time.time()
            readings = source()
            file.writelines(row(moment, reading) + "\n" for reading in readings)
            rows += len(readings)
            if tick - handed >= FLUSH_SECONDS:
                file.flush()
                handed = tick
                if file.tell() >= rotation.largest:
                    file.close()
                    _rotated(out, rotation.keep)
                    file = _begun(out)
    except KeyboardInterrupt:
        pass
    finally:
        file.close()
    return rows


def _ticks(begin: float, every: float, seconds: float) -> Iterator[float]:
    """Moments ``every`` seconds apart, waited for; one that was missed, or nearly, is skipped, not caught up."""
    count = 0
    while (now := time.monotonic()) - begin < seconds:
        yield now
        count = max(count + 1, ceil((time.monotonic() - begin) / every + 0.5))
        time.sleep(max(begin + count * every - time.monotonic(), 0))


def _begun(out: Path) -> TextIO:
    """The file opened to append, with the header when it is new and a new line where a kill left half of one."""
    out.parent.mkdir(parents=True, exist_ok=True)
    old = out.read_bytes()[-1:] if out.exists() else b""
    file = out.open("a", buffering=1 << 16, encoding="ascii")
    file.write("" if old == b"\n" else "\n" if old else HEADER + "\n")
    file.flush()
    return file


def _rotated(out: Path, keep: int) -> None:
    """Move the full file out of the way and remove the oldest beyond ``keep``."""
    older = sorted(out.parent.glob(f"{out.stem}.[0-9][0-9][0-9][0-9][0-9]{out.suffix}"))
    number = int(older[-1].suffixes[-2][1:]) + 1 if older else 1
    out.rename(out.with_name(f"{out.stem}.{number:05d}{out.suffix}"))
    for path in older[: max(len(older) + 1 - keep, 0)]:
        path.unlink()
