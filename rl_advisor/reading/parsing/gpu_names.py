"""Names under which trackers log GPU counters among other numbers, one name a GPU and counter; and such curves as telemetry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from rl_advisor.reading.parsing.counters import BYTES, MIB, PERCENT
from rl_advisor.run import Curve, Run

if TYPE_CHECKING:
    import pandas as pd

PATTERNS: tuple[tuple[str, str, float], ...] = (
    (r"(?:system\.)?gpu\.(\d+)\.powerWatts", "power_w", 1.0),
    (r"(?:system\.)?gpu\.(\d+)\.gpu", "utilization", PERCENT),
    (r"(?:system\.)?gpu\.(\d+)\.memory", "memory_activity", PERCENT),
    (r"(?:system\.)?gpu\.(\d+)\.memoryAllocatedBytes", "memory_gib", BYTES),
    (r"(?:system\.)?gpu\.(\d+)\.memoryTotal", "memory_total_gib", BYTES),
    (r"(?:system\.)?gpu\.(\d+)\.temp", "temperature", 1.0),
    (r"(?:system\.)?gpu\.(\d+)\.smClock", "sm_clock", 1.0),
    (r"gpu/(\d+)/power", "power_w", 1.0),
    (r"gpu/(\d+)/utilization", "utilization", PERCENT),
    (r"gpu/(\d+)/memory_utilization", "memory_activity", PERCENT),
    (r"gpu/(\d+)/allocated_memory", "memory_gib", 1.0),
    (r"gpu/(\d+)/total_memory", "memory_total_gib", 1.0),
    (r"gpu/(\d+)/temp", "temperature", 1.0),
    (r"gpu/(\d+)/sm_clock", "sm_clock", 1.0),
    (r"system/gpu_(\d+)_power_usage_watts", "power_w", 1.0),
    (r"system/gpu_(\d+)_utilization_percentage", "utilization", PERCENT),
    (r"system/gpu_(\d+)_memory_usage_megabytes", "memory_gib", 1e6 / 2**30),
    (r"(?:.*/)?(?:cuda:\d+ \()?gpu:(\d+)\)?/gpu_utilization \(%\)/(?:mean|last)", "utilization", PERCENT),
    (r"(?:.*/)?(?:cuda:\d+ \()?gpu:(\d+)\)?/memory_utilization \(%\)/(?:mean|last)", "memory_activity", PERCENT),
    (r"(?:.*/)?(?:cuda:\d+ \()?gpu:(\d+)\)?/memory_used \(MiB\)/(?:mean|last)", "memory_gib", MIB),
    (r"(?:.*/)?(?:cuda:\d+ \()?gpu:(\d+)\)?/memory_total \(MiB\)/(?:mean|last)", "memory_total_gib", MIB),
    (r"(?:.*/)?(?:cuda:\d+ \()?gpu:(\d+)\)?/power_usage \(W\)/(?:mean|last)", "power_w", 1.0),
    (r"(?:.*/)?(?:cuda:\d+ \()?gpu:(\d+)\)?/temperature \(C\)/(?:mean|last)", "temperature", 1.0),
)
"""Column name, with the GPU as its group -> our column and scale. trackio writes GiB, MLflow 10^6 bytes."""


@cache
def column_of(name: str) -> tuple[str, str, float] | None:
    """GPU, our column and scale of a column name."""
    for pattern, ours, scale in PATTERNS:
        match = re.fullmatch(pattern, name)
        if match:
            return match[1], ours, scale
    return None


def without_counters(part: Run) -> Run:
    """The part with its curves of GPU counters as telemetry; they stand over the clock, not over steps."""
    counters = {name: curve for name, curve in part.curves.items() if curve.time is not None and len(name) < 200 and column_of(name)}
    if not counters:
        return part
    return replace(part, curves={name: curve for name, curve in part.curves.items() if name not in counters}, telemetry=_table(counters))


def _table(counters: Mapping[str, Curve]) -> pd.DataFrame:
    """One row a GPU and moment; counters of one log call share its time."""
    import pandas as pd

    pieces: list[pd.DataFrame] = []
    for name, curve in counters.items():
        gpu, column, scale = column_of(name) or ("", "", 1.0)
        pieces.append(pd.DataFrame({"time": curve.time, "gpu": gpu, "column": column, "value": curve.value * scale}))
    long = pd.concat(pieces, ignore_index=True)
    long = long[np.isfinite(long["time"])]
    wide = long.pivot_table(index=["gpu", "time"], columns="column", values="value", aggfunc="first").reset_index()
    return pd.DataFrame(wide.rename_axis(columns=None))
