"""What NVIDIA's management library says of each GPU of this machine at one moment."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from rl_advisor.output.errors import UsageError, install

PROCESSES_EVERY = 1.0
"""Seconds between two looks at the processes; listing them costs the driver more than all counters together."""
_POWER_INSTANT = 186
"""NVML's number of the field of power without averaging."""


class NoGpu(UsageError):  # noqa: N818 - reads as what is the matter
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
    processes: tuple[tuple[int, int], ...] | None = None
    """Process and the MiB it holds; at most every second, else None."""


Source = Callable[[], Sequence[Reading]]


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
        return [_reading(pynvml, index, handle, processes=due) for index, handle in enumerate(handles)]

    return read


def _reading(library: Any, index: int, handle: Any, *, processes: bool) -> Reading:
    """One GPU's counters; each that the card does not support is None."""

    def ask(call: str, *more: Any) -> Any:
        try:
            return getattr(library, call)(handle, *more)
        except (library.NVMLError, library.NVMLLibraryMismatchError, AttributeError):
            return None

    power, use, memory = ask("nvmlDeviceGetPowerUsage"), ask("nvmlDeviceGetUtilizationRates"), ask("nvmlDeviceGetMemoryInfo")
    fields = ask("nvmlDeviceGetFieldValues", [_POWER_INSTANT])
    instant = fields[0].value.uiVal if fields and fields[0].nvmlReturn == 0 else None
    # The binding's unversioned name fails where driver and binding are of different age.
    answers = (ask(f"nvmlDeviceGetComputeRunningProcesses_{version}") for version in ("v3", "v2") if processes)
    running = next((a for a in answers if a is not None), None)
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
        processes=None if running is None else tuple((int(p.pid), int(p.usedGpuMemory or 0) >> 20) for p in running),
    )
