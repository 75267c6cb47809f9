"""Reads what ``nvidia-smi dmon`` prints: one row a GPU and second, under header lines that come back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rl_advisor.reading.parsing.bytes_in import lines
from rl_advisor.reading.parsing.counters import MIB, PERCENT, counted_times, first_line, no_times, numbers, table, telemetry, words_table
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Run

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "nvidia_dmon"

COLUMNS: Mapping[str, tuple[str, float]] = {
    "pwr": ("power_w", 1.0),
    "sm": ("utilization", PERCENT),
    "mem": ("memory_activity", PERCENT),
    "fb": ("memory_gib", MIB),
    "gtemp": ("temperature", 1.0),
    "temp": ("temperature", 1.0),
    "pclk": ("sm_clock", 1.0),
}
USUAL_SECONDS = 1.0


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the first line is dmon's header."""
    words = first_line(path).lstrip("#").lower().split()
    return first_line(path).startswith("#") and "gpu" in words and bool({"pwr", "sm", "fb"} & set(words))


def read(path: Path, _: Request = WHOLE) -> Run:
    """The telemetry in the file. Without ``-o T`` dmon writes no times, and its usual second between rows is assumed."""
    import pandas as pd

    found, bad = words_table(lines(path), "#", {*COLUMNS})
    gaps = [Gap(path.name, f"{bad} lines are no row of the table")] if bad else []
    if not len(found) or "gpu" not in found:
        return telemetry(path, FORMAT, pd.DataFrame(), gaps)
    time = _times(found)
    if time is None:
        gaps.append(no_times(path, USUAL_SECONDS))
        time = np.asarray(counted_times(found["gpu"].tolist(), USUAL_SECONDS))
    ours = {name: numbers(found[c]).to_numpy() * scale for c, (name, scale) in COLUMNS.items() if c in found}
    return telemetry(path, FORMAT, table({"time": time, **ours}, found["gpu"].tolist()), gaps)


def _times(found: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """Seconds since the epoch (or since midnight, where only the time of day is written), read as UTC; None without a time."""
    import pandas as pd

    if "Time" not in found:
        return None
    day = found.get("Date", "19700101")
    try:
        stamp = pd.to_datetime(day + " " + found["Time"], format="%Y%m%d %H:%M:%S", errors="coerce", utc=True)
    except pd.errors.OutOfBoundsDatetime:  # a year such as 261 is not coerced
        return None
    seconds = (stamp - pd.Timestamp(0, unit="s", tz="UTC")).dt.total_seconds().to_numpy(np.float64)
    return np.asarray(seconds)
