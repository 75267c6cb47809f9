"""Turns the columns of any GPU monitoring tool into the telemetry table of a run.

Shared by the telemetry formats. A tool's column is looked up by its normalised name (lower case, unit and punctuation taken
off), scaled into our unit, and kept as 32-bit numbers: a day of eight GPUs at ten rows a second has to fit into memory.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rl_advisor.run import Gap, Run

THROTTLE = "throttle"
"""Bit mask of the reasons for which the clock was held down; an extra column, where the tool writes it."""
INSTANT = "power_instant_w"
"""Power without the sensor's averaging; an extra column, where the tool writes it."""
EXTRA_COLUMNS = (THROTTLE, INSTANT)

MIB = 1 / 1024
BYTES = 1 / 2**30
PERCENT = 0.01

THROTTLE_BITS: Mapping[str, int] = {
    "gpu_idle": 0x1,
    "applications_clocks_setting": 0x2,
    "sw_power_cap": 0x4,
    "hw_slowdown": 0x8,
    "sync_boost": 0x10,
    "sw_thermal_slowdown": 0x20,
    "hw_thermal_slowdown": 0x40,
    "hw_power_brake_slowdown": 0x80,
}
"""Bits of NVIDIA's clock event reasons."""


def plain_name(header: str) -> str:
    """A column's name without unit, case and surrounding space: ``power.draw [W]`` becomes ``power.draw``."""
    return re.sub(r"\s*[\[(][^\])]*[\])]\s*$", "", header.strip().strip('"')).strip().lower()


def first_line(path: Path, limit: int = 8192) -> str:
    """The first line of a file that is not empty, cut at ``limit`` bytes; empty when the file cannot be read."""
    try:
        with path.open("rb") as file:
            head = file.read(limit)
    except OSError:
        return ""
    text = head.decode("utf-8", "replace").lstrip("\ufeff\r\n ")
    return text.splitlines()[0] if text else ""


def numbers(column: pd.Series) -> pd.Series:
    """A column's cells as numbers, units and separators taken off; what is no number becomes NaN."""
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(np.float64)
    text = column.astype("string").str.extract(r"^\s*(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*[A-Za-z%/]*\s*$", expand=False)
    return pd.to_numeric(text, errors="coerce").astype(np.float64)


def table(columns: Mapping[str, Any], gpu: Any) -> pd.DataFrame:
    """The telemetry table of columns already in our names and units, in the order of time within each GPU.

    Rows without a time are left out, as are repeated rows of one GPU and moment.
    """
    frame = pd.DataFrame({"time": np.asarray(columns["time"], np.float64)})
    frame["gpu"] = pd.Categorical(gpu) if not isinstance(gpu, str) else pd.Categorical([gpu] * len(frame))
    for name, values in columns.items():
        if name != "time":
            frame[name] = np.asarray(values, np.float32)
    frame = frame[np.isfinite(frame["time"].to_numpy()) & frame["gpu"].notna().to_numpy()]
    codes = frame["gpu"].cat.codes.to_numpy()
    order = np.lexsort((frame["time"].to_numpy(), codes))
    frame, codes = frame.iloc[order], codes[order]
    same = np.r_[False, (np.diff(frame["time"].to_numpy()) == 0) & (np.diff(codes) == 0)]
    once: pd.DataFrame = frame[~same]
    return once.reset_index(drop=True)


def telemetry(path: Path, frame: pd.DataFrame, gaps: Iterable[Gap] = ()) -> Run:
    """The part of a run that one telemetry file is."""
    found = tuple(gaps)
    if not len(frame):
        found = (*found, Gap(path.name, "no row of GPU telemetry could be read"))
    return Run(telemetry=frame, gaps=found, files=(path.name,))
