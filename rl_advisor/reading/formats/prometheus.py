"""Reads NVIDIA's DCGM counters from Prometheus: scraped text, or the JSON that its query API answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rl_advisor.reading.parsing.bytes_in import document, head, lines
from rl_advisor.reading.parsing.counters import MIB, PERCENT, no_times, table, telemetry
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Run

if TYPE_CHECKING:
    pass

FORMAT = "prometheus"

COLUMNS: Mapping[str, tuple[str, float]] = {
    "DCGM_FI_DEV_POWER_USAGE": ("power_w", 1.0),
    "DCGM_FI_DEV_GPU_UTIL": ("utilization", PERCENT),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": ("utilization", 1.0),
    "DCGM_FI_DEV_MEM_COPY_UTIL": ("memory_activity", PERCENT),
    "DCGM_FI_PROF_DRAM_ACTIVE": ("memory_activity", 1.0),
    "DCGM_FI_DEV_FB_USED": ("memory_gib", MIB),
    "DCGM_FI_DEV_FB_TOTAL": ("memory_total_gib", MIB),
    "DCGM_FI_DEV_FB_FREE": ("free_gib", MIB),
    "DCGM_FI_DEV_GPU_TEMP": ("temperature", 1.0),
    "DCGM_FI_DEV_SM_CLOCK": ("sm_clock", 1.0),
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": ("throttle", 1.0),
    "DCGM_FI_DEV_CLOCKS_EVENT_REASONS": ("throttle", 1.0),
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": ("tensor_active", 1.0),
    "DCGM_FI_DEV_XID_ERRORS": ("xid", 1.0),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": ("ecc_uncorrected", 1.0),
}
USUAL_SECONDS = 15.0
"""Between scrapes, where the text carries no times."""
_MARK = b"DCGM_FI_"
_LINE = re.compile(r"^(DCGM_FI_\w+)\{([^}]*)\}\s+(\S+)(?:\s+(-?\d+))?\s*$")
_LABEL = re.compile(r'(?<!\w)(\w++)="((?:[^"\\]|\\.)*+)"')


class Sample(NamedTuple):
    """One reading of one series; ``time`` NaN where the text carries none."""

    gpu: str
    column: str
    time: float
    value: float


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the beginning names a DCGM counter, as scraped text or as the answer of a query."""
    start = head(path)
    if _MARK not in start:
        return False
    text = start.lstrip()
    return text.startswith((b"# HELP", b"# TYPE", _MARK)) or (text.startswith(b"{") and b'"result"' in start)


def read(path: Path, _: Request = WHOLE) -> Run:
    """The counters that we know, one row a GPU and moment."""
    import pandas as pd

    json_answer = head(path, 64).lstrip().startswith(b"{")
    samples = list(_from_json(document(path)) if json_answer else _from_text(path))
    if not samples:
        return telemetry(path, FORMAT, pd.DataFrame())
    found = pd.DataFrame(samples)
    gaps = []
    if found["time"].isna().all():
        found["time"] = found.groupby(["gpu", "column"]).cumcount() * USUAL_SECONDS
        gaps = [no_times(path, USUAL_SECONDS)]
    found["time"] = found["time"].round(1)
    wide = found.dropna(subset=["time"]).pivot_table(index=["gpu", "time"], columns="column", values="value", aggfunc="last").reset_index()
    columns = {str(c): wide[c].to_numpy(np.float64) for c in wide.columns if c != "gpu"}
    free = columns.pop("free_gib", None)
    if free is not None and "memory_gib" in columns and "memory_total_gib" not in columns:
        columns["memory_total_gib"] = columns["memory_gib"] + free
    return telemetry(path, FORMAT, table(columns, wide["gpu"].tolist()), gaps)


def _from_text(path: Path) -> Iterator[Sample]:
    for line in lines(path):
        match = _LINE.match(line)
        if match and match[1] in COLUMNS:
            time = float(match[4]) / 1000 if match[4] else float("nan")
            yield from _sample(match[1], dict(_LABEL.findall(match[2])), time, match[3])


def _from_json(data: bytes) -> Iterator[Sample]:
    import orjson

    try:
        answer: Any = orjson.loads(data)
    except orjson.JSONDecodeError:
        return
    inner = answer.get("data", answer) if isinstance(answer, dict) else {}
    results = inner.get("result") if isinstance(inner, dict) else None
    for series in results if isinstance(results, list) else []:
        labels = series.get("metric") if isinstance(series, dict) else None
        if isinstance(labels, dict) and labels.get("__name__") in COLUMNS:
            pairs = series.get("values") or [series.get("value")]
            for pair in pairs if isinstance(pairs, list) else []:
                if isinstance(pair, list) and len(pair) == 2:
                    yield from _sample(labels["__name__"], labels, pair[0], pair[1])


def _sample(name: str, labels: Mapping[str, Any], time: Any, value: Any) -> Iterator[Sample]:
    """The reading in our unit; nothing when it is no number. GPUs of several hosts are told apart by the host's name."""
    column, scale = COLUMNS[name]
    host = str(labels.get("Hostname", ""))
    gpu = str(labels.get("gpu", labels.get("UUID", "0")))
    try:
        yield Sample(f"{host}:{gpu}" if host else gpu, column, float(time), float(value) * scale)
    except (TypeError, ValueError):
        return
