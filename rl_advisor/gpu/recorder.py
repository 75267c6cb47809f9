"""Records the GPUs of this machine to a file that the nvidia-smi format reads, until it is stopped.

Rows are written as CSV and handed to the operating system several times a second, so that a killed recorder loses less than a
second. Times are UTC. A full file is renamed with a number and a new one begun; the oldest are removed.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

HEADER = (
    "timestamp, index, power.draw [W], power.draw.instant [W], energy [mJ], utilization.gpu [%], utilization.memory [%], "
    "memory.used [MiB], memory.total [MiB], temperature.gpu, clocks.current.sm [MHz], clocks_event_reasons.active"
)
FLUSH_SECONDS = 0.5
MISSING = "[N/A]"
_POWER_INSTANT = 186
"""NVML's number of the field of power without averaging."""


class NoGpu(RuntimeError):  # noqa: N818 - reads as what is the matter
    """There is no GPU to record, or no way to ask it; the message says which."""


@dataclass(frozen=True)
class Reading:
    """One GPU at one moment; what it does not tell is None."""

    index: int
    power_w: float | None = None
    instant_w: float | None = None
    energy_mj: int | None = None
    utilization: int | None = None
    memory_activity: int | None = None
    used_mib: int | None = None
    total_mib: int | None = None
    temperature: int | None = None
    sm_clock: int | None = None
    throttle: int | None = None


@dataclass(frozen=True)
class Rotation:
    """When a file is full, in bytes, and how many full ones are kept."""

    largest: int = 256 << 20
    keep: int = 8


Source = Callable[[], Sequence[Reading]]


def nvml() -> Source:
    """What reads all NVIDIA GPUs of this machine.

    Raises:
        NoGpu: the library of the extra ``gpu`` is not installed, or there is no driver or no GPU.

    """
    try:
        pynvml = import_module("pynvml")
    except ImportError as missing:
        raise NoGpu("recording needs nvidia-ml-py: install rl-advisor[gpu]") from missing
    try:
        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
    except pynvml.NVMLError as error:
        raise NoGpu(f"there is no NVIDIA GPU or driver here: {error}") from error
    if not handles:
        raise NoGpu("the driver sees no GPU")
    return lambda: [_reading(pynvml, index, handle) for index, handle in enumerate(handles)]


def _reading(nvml_module: Any, index: int, handle: Any) -> Reading:
    """One GPU's counters; each that the card does not support is None."""

    def ask(call: str, *more: Any) -> Any:
        try:
            return getattr(nvml_module, call)(handle, *more)
        except (nvml_module.NVMLError, AttributeError):
            return None

    power, use, memory = ask("nvmlDeviceGetPowerUsage"), ask("nvmlDeviceGetUtilizationRates"), ask("nvmlDeviceGetMemoryInfo")
    fields = ask("nvmlDeviceGetFieldValues", [_POWER_INSTANT])
    instant = fields[0].value.uiVal if fields and fields[0].nvmlReturn == 0 else None
    return Reading(
        index,
        power_w=None if power is None else power / 1000,
        instant_w=None if instant is None else instant / 1000,
        energy_mj=ask("nvmlDeviceGetTotalEnergyConsumption"),
        utilization=None if use is None else use.gpu,
        memory_activity=None if use is None else use.memory,
        used_mib=None if memory is None else memory.used >> 20,
        total_mib=None if memory is None else memory.total >> 20,
        temperature=ask("nvmlDeviceGetTemperature", 0),
        sm_clock=ask("nvmlDeviceGetClockInfo", 1),
        throttle=ask("nvmlDeviceGetCurrentClocksEventReasons"),
    )


def row(moment: float, reading: Reading) -> str:
    """A reading as a line of the file."""
    stamp = datetime.fromtimestamp(moment, UTC).strftime("%Y/%m/%d %H:%M:%S.%f")[:-3]
    cells = (
        _cell(reading.power_w, "W"),
        _cell(reading.instant_w, "W"),
        _cell(reading.energy_mj, "mJ"),
        _cell(reading.utilization, "%"),
        _cell(reading.memory_activity, "%"),
        _cell(reading.used_mib, "MiB"),
        _cell(reading.total_mib, "MiB"),
        _cell(reading.temperature, ""),
        _cell(reading.sm_clock, "MHz"),
        MISSING if reading.throttle is None else f"0x{reading.throttle:016x}",
    )
    return ", ".join((stamp, str(reading.index), *cells))


def _cell(value: float | None, unit: str) -> str:
    if value is None:
        return MISSING
    text = f"{value:.2f}" if isinstance(value, float) else str(value)
    return f"{text} {unit}".rstrip()


def record(source: Source, out: Path, *, every: float = 0.1, seconds: float = float("inf"), rotation: Rotation = Rotation()) -> int:
    """Write the source's readings to ``out`` every ``every`` seconds for so many ``seconds``; the number of rows comes back.

    A full file is renamed to ``out`` with a number. Stops cleanly on an interrupt.
    """
    rows, begin, handed = 0, time.monotonic(), time.monotonic()
    file = _begun(out)
    try:
        for tick in _ticks(begin, every, seconds):
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


def _ticks(begin: float, every: float, seconds: float) -> Any:
    """Moments ``every`` seconds apart, waited for; one that was missed is skipped, not caught up."""
    count = 0
    while (now := time.monotonic()) - begin < seconds:
        yield now
        count = max(count + 1, int((time.monotonic() - begin) / every))
        time.sleep(max(begin + count * every - time.monotonic(), 0))


def _begun(out: Path) -> TextIO:
    """The file opened to append, with the header when it is new."""
    out.parent.mkdir(parents=True, exist_ok=True)
    new = not out.exists() or out.stat().st_size == 0
    file = out.open("a", buffering=1 << 16, encoding="ascii")
    if new:
        file.write(HEADER + "\n")
        file.flush()
    return file


def _rotated(out: Path, keep: int) -> None:
    """Move the full file out of the way and remove the oldest beyond ``keep``."""
    older = sorted(out.parent.glob(f"{out.stem}.[0-9][0-9][0-9][0-9][0-9]{out.suffix}"))
    number = int(older[-1].suffixes[-2][1:]) + 1 if older else 1
    out.rename(out.with_name(f"{out.stem}.{number:05d}{out.suffix}"))
    for path in older[: max(len(older) + 1 - keep, 0)]:
        path.unlink()
