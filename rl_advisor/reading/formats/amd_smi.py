"""Reads the CSV of AMD's tools: ``rocm-smi --csv``, ``amd-smi metric --csv`` and ``amd-smi monitor --csv``."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rl_advisor.reading.parsing.bytes_in import document, head
from rl_advisor.reading.parsing.counters import BYTES, MIB, PERCENT, counted_times, no_times, numbers, table, telemetry
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Run

if TYPE_CHECKING:
    pass

FORMAT = "amd_smi"

COLUMNS: Mapping[str, tuple[str, float]] = {
    "gpu use (%)": ("utilization", PERCENT),
    "gfx_activity": ("utilization", PERCENT),
    "gfx": ("utilization", PERCENT),
    "gfx%": ("utilization", PERCENT),
    "gfx_util": ("utilization", PERCENT),
    "gpu memory allocated (vram%)": ("memory_share", PERCENT),
    "gpu memory read/write activity (%)": ("memory_activity", PERCENT),
    "umc_activity": ("memory_activity", PERCENT),
    "mem%": ("memory_activity", PERCENT),
    "average graphics package power (w)": ("power_w", 1.0),
    "current socket graphics package power (w)": ("power_w", 1.0),
    "socket_power": ("power_w", 1.0),
    "power_usage": ("power_w", 1.0),
    "power": ("power_w", 1.0),
    "vram total memory (b)": ("memory_total_gib", BYTES),
    "vram total used memory (b)": ("memory_gib", BYTES),
    "vram_used": ("memory_gib", MIB),
    "used_vram": ("memory_gib", MIB),
    "vram_total": ("memory_total_gib", MIB),
    "total_vram": ("memory_total_gib", MIB),
    "temperature (sensor junction) (c)": ("temperature", 1.0),
    "temperature (sensor edge) (c)": ("temperature", 1.0),
    "hotspot": ("temperature", 1.0),
    "gpu_temp": ("temperature", 1.0),
    "gfx_0_clk": ("sm_clock", 1.0),
    "gfx_clock": ("sm_clock", 1.0),
}
USUAL_SECONDS = 1.0
_HEADER = re.compile(r"^(device|gpu|timestamp,\s*gpu),", re.IGNORECASE | re.MULTILINE)


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether a line of the beginning is a header of one of the tools, warnings before it notwithstanding."""
    return _header_at(head(path, 8192).decode("utf-8", "replace")) >= 0


def read(path: Path, _: Request = WHOLE) -> Run:
    """The telemetry in the file; where there is no time stamp, one second between rows is assumed."""
    import pandas as pd

    text = document(path).decode("utf-8", "replace")
    text = text[max(_header_at(text), 0) :]
    header = text.splitlines()[0]
    body = "\n".join(line for line in text.splitlines()[1:] if line.strip() and line.strip() != header.strip())
    names = [name.strip().strip('"').lower() for name in header.split(",")]
    names = [name if names.index(name) == i else f"{name}#{i}" for i, name in enumerate(names)]
    try:
        found = pd.read_csv(io.StringIO(body), names=names, dtype="string", on_bad_lines="skip", skipinitialspace=True)
    except (pd.errors.ParserError, pd.errors.EmptyDataError):
        return telemetry(path, FORMAT, pd.DataFrame(), [Gap(path.name, "no table could be read")])
    label = next((name for name in ("device", "gpu") if name in found), None)
    if label is None:
        return telemetry(path, FORMAT, pd.DataFrame(), [Gap(path.name, "no column says which GPU a row is about")])
    gpu = found[label].fillna("").str.removeprefix("card").str.strip().tolist()
    gaps = []
    if "timestamp" in found:
        time = numbers(found["timestamp"]).to_numpy()
    else:
        time = np.asarray(counted_times(gpu, USUAL_SECONDS))
        gaps = [no_times(path, USUAL_SECONDS)]
    ours: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
    for name in names:
        if name in COLUMNS and COLUMNS[name][0] not in ours:
            ours[COLUMNS[name][0]] = np.asarray(numbers(found[name]) * COLUMNS[name][1], np.float64)
    ours.pop("memory_share", None)
    return telemetry(path, FORMAT, table({"time": time, **ours}, gpu), gaps)


def _header_at(text: str) -> int:
    """Where the header line begins; -1 without one."""
    for match in _HEADER.finditer(text):
        line = text[match.start() :].split("\n", 1)[0].lower()
        if any(cell.strip() in COLUMNS for cell in line.split(",")):
            return match.start()
    return -1
