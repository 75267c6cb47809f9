"""Reads ``gpustat --json``: one JSON document a query, alone or one after the other in a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor.reading.parsing.bytes_in import document, head
from rl_advisor.reading.parsing.counters import MIB, PERCENT, table, telemetry
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Run

if TYPE_CHECKING:
    pass

FORMAT = "gpustat"

_SPACE = re.compile(r"\s*")

COLUMNS: Mapping[str, tuple[str, float]] = {
    "power.draw": ("power_w", 1.0),
    "utilization.gpu": ("utilization", PERCENT),
    "memory.used": ("memory_gib", MIB),
    "memory.total": ("memory_total_gib", MIB),
    "temperature.gpu": ("temperature", 1.0),
}


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it begins as a gpustat document."""
    start = head(path, 4096)
    return start.lstrip().startswith(b"{") and b'"query_time"' in start and b'"gpus"' in start


def read(path: Path, _: Request = WHOLE) -> Run:
    """One row a GPU and query; the local query time is read as UTC."""
    import pandas as pd

    rows: list[dict[str, float]] = []
    names: list[str] = []
    times: list[str] = []
    gaps = []
    for query in _documents(document(path).decode("utf-8", "replace")):
        if not isinstance(query, dict):
            gaps = [Gap(path.name, "what follows the last whole document is cut off")]
            break
        gpus = query.get("gpus")
        for gpu in gpus if isinstance(gpus, list) else []:
            if isinstance(gpu, dict):
                names.append(str(gpu.get("index", 0)))
                times.append(str(query.get("query_time")))
                rows.append({ours: _number(gpu.get(name)) * scale for name, (ours, scale) in COLUMNS.items()})
    found = pd.DataFrame(rows)
    if rows:
        stamps = pd.to_datetime(pd.Series(times), format="ISO8601", errors="coerce", utc=True)
        seconds = (stamps - pd.Timestamp(0, unit="s", tz="UTC")).dt.total_seconds()
        found = table({"time": seconds, **{str(c): found[c].to_numpy() for c in found}}, names)
    return telemetry(path, FORMAT, found, gaps)


def _documents(text: str) -> Iterator[Any]:
    """The JSON documents of a text one after the other; None for what is none, then nothing more."""
    decoder = json.JSONDecoder()
    at = 0
    while (at := _SPACE.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        try:
            value, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            yield None
            return
        yield value


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else np.nan
