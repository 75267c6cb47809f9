"""Reads tables with one column a GPU and counter, as CSV or JSON lines: system metrics of W&B, trackio and MLflow, nvitop's collector."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor.reading.parsing.bytes_in import bare_name, head, lines
from rl_advisor.reading.parsing.counters import numbers, table, telemetry
from rl_advisor.reading.parsing.csv_in import read_table
from rl_advisor.reading.parsing.gpu_names import column_of
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Run

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "gpu_columns"

TIMES = ("_timestamp", "timestamp", "_wandb.timestamp")


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the header, or the first JSON line, has such a column and a time."""
    start = head(path).decode("utf-8", "replace").split("\n", 1)[0]
    if bare_name(path).endswith(".csv"):
        names = [cell.strip().strip('"') for cell in start.split(",")]
    elif start.startswith("{"):
        names = list(_object(start))
    else:
        return False
    return any(name in TIMES for name in names) and any(column_of(name) for name in names)


def read(path: Path, _: Request = WHOLE) -> Run:
    """The counters of each GPU, one row a GPU and moment."""
    import pandas as pd

    found, gaps = read_table(path) if bare_name(path).endswith(".csv") else _json_lines(path)
    clock = next((t for t in TIMES if t in found), None)
    if clock is None or not any(column_of(str(name)) for name in found.columns):
        return telemetry(path, FORMAT, pd.DataFrame(), gaps)
    time = _seconds(found[clock])
    by_gpu: dict[str, dict[str, Any]] = {}
    for name in map(str, found.columns):
        column = column_of(name)
        if column and column[1] not in by_gpu.setdefault(column[0], {}):
            by_gpu[column[0]][column[1]] = numbers(found[name]).to_numpy() * column[2]
    parts = [
        pd.DataFrame({"time": time, **values}).assign(gpu=gpu).dropna(how="all", subset=list(values)) for gpu, values in by_gpu.items()
    ]
    rows = pd.concat(parts, ignore_index=True)
    gpu = rows.pop("gpu").tolist()
    return telemetry(path, FORMAT, table({str(c): rows[c].to_numpy() for c in rows}, gpu), gaps)


def _seconds(column: pd.Series[Any]) -> Any:
    """Seconds since the epoch, from numbers (milliseconds where they are that large) or ISO dates read as UTC."""
    import pandas as pd

    plain = numbers(column).to_numpy()
    if np.isfinite(plain).any():
        return np.where(plain > 1e11, plain / 1000, plain)
    stamp = pd.to_datetime(column.astype("string"), format="ISO8601", errors="coerce", utc=True)
    return (stamp - pd.Timestamp(0, unit="s", tz="UTC")).dt.total_seconds().to_numpy(np.float64)


def _json_lines(path: Path) -> tuple[pd.DataFrame, tuple[Gap, ...]]:
    import pandas as pd

    rows = [row for row in map(_object, lines(path)) if row]
    return pd.DataFrame(rows), ()


def _object(line: str) -> dict[str, Any]:
    """The JSON object of a line; empty when it is none."""
    import orjson

    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
