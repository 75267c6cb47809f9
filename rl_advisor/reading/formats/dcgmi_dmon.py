"""Reads what ``dcgmi dmon -e ...`` prints: profiling counters of each GPU, without times."""

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
    pass

FORMAT = "dcgmi_dmon"

COLUMNS: Mapping[str, tuple[str, float]] = {
    "GPUTL": ("utilization", PERCENT),
    "GRACT": ("utilization", 1.0),
    "MCUTL": ("memory_activity", PERCENT),
    "DRAMA": ("memory_activity", 1.0),
    "POWER": ("power_w", 1.0),
    "FBUSD": ("memory_gib", MIB),
    "FBTTL": ("memory_total_gib", MIB),
    "TMPTR": ("temperature", 1.0),
    "SMCLK": ("sm_clock", 1.0),
    "TENSO": ("tensor_active", 1.0),
    "XIDER": ("xid", 1.0),
    "EDVOL": ("ecc_uncorrected", 1.0),
}
"""Where two columns say the same, the later one here is taken: profiling counters are sharper."""
USUAL_SECONDS = 1.0


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the first line is dcgmi's header."""
    return first_line(path).lower().startswith(("#entity", "# entity"))


def read(path: Path, _: Request = WHOLE) -> Run:
    """The telemetry in the file, one second between rows being assumed."""
    import pandas as pd

    found, bad = words_table(lines(path), "#", {*COLUMNS})
    gaps = [Gap(path.name, f"{bad} lines are no row of the table")] if bad else []
    if not len(found) or "Entity" not in found:
        return telemetry(path, FORMAT, pd.DataFrame(), gaps)
    gpu = found["Entity"].tolist()
    ours = {name: numbers(found[c]).to_numpy() * scale for c, (name, scale) in COLUMNS.items() if c in found}
    time = np.asarray(counted_times(gpu, USUAL_SECONDS))
    return telemetry(path, FORMAT, table({"time": time, **ours}, gpu), [*gaps, no_times(path, USUAL_SECONDS)])
