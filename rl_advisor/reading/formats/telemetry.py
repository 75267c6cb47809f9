"""Reads what monitors GPUs: tables, also of ``rl-advisor record``, dmon of nvidia-smi and dcgmi, gpustat, Prometheus' answers, W&B's lines.

Tables are those of ``nvidia-smi --query-gpu``, amd-smi, rocm-smi, W&B, trackio, nvitop. Times without a zone are read as UTC; the profile
finds the offset against the run's step clock and says so. Where a tool writes no times one row in so many seconds is assumed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rl_advisor.reading.parsing.bytes_in import beginning, document, json_object, json_values, lines
from rl_advisor.reading.parsing.cells import first
from rl_advisor.reading.parsing.csv_in import Layout, read_table
from rl_advisor.reading.parsing.gpu_counters import (
    LABELS,
    PROCESSES,
    TIMES,
    counted_by,
    is_header,
    numbers,
    pivoted,
    plain_name,
    telemetry_of,
)
from rl_advisor.reading.parsing.parquet_in import columns_of, damage_told, whole
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Named, Run

FORMAT = "telemetry"
_LOOKED_AT = 50
"""Lines at the start among which a header stands."""
Raw = tuple[Named, list[Gap]]


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it begins as one of these tools prints."""
    return _reader(path) is not None


def read(path: Path, _: Request = WHOLE) -> Run:
    """The counters that we know, one row a GPU and moment."""
    reader = _reader(path)
    raw, gaps = reader(path) if reader else ({}, [])
    return telemetry_of(raw, gaps)


def _reader(path: Path) -> Callable[[Path], Raw] | None:
    """Who reads a file that begins so."""
    if is_header(columns_of(path)):
        return _parquet
    start = beginning(path).splitlines()
    text = "\n".join(start).lstrip()
    if text.startswith("{"):
        queries, series = '"query_time"' in text and '"gpus"' in text, '"result"' in text and "DCGM_FI_" in text
        counted = queries or series or is_header(json_object(text.split("\n", 1)[0]))
        return _documents if queries else _answer if series else _objects if counted else None
    if text.startswith("#") and is_header(text.split("\n", 1)[0].lstrip("#").split()):
        return _words
    return _below if _above_names(start) is not None else None


def _above_names(start: list[str]) -> int | None:
    """Lines above the one that names a GPU and a counter: rocm-smi warns before it prints."""
    return next((n for n, line in enumerate(start[:_LOOKED_AT]) if "," in line and is_header(line.split(","))), None)


def _below(path: Path) -> Raw:
    """A table of cells, of which the columns that mean something are read, each distinct text of them once."""
    above = Layout(comments=_above_names(beginning(path).splitlines()) or 0)
    rows, gaps = read_table(path, above, usecols=_means_something, dtype="category", low_memory=True)
    return _columns(rows), list(gaps)


def _parquet(path: Path) -> Raw:
    """Such columns of a table in Parquet."""
    with damage_told():
        rows = whole(path, list(filter(_means_something, columns_of(path)))).unify_dictionaries()
    return {name: rows[name].to_pandas() for name in rows.column_names}, []


def _means_something(name: str) -> bool:
    """Whether a column of that name is a time, a GPU or a counter."""
    return plain_name(name) in (*TIMES, *LABELS, PROCESSES) or counted_by(name) is not None


def _words(path: Path) -> Raw:
    """A table of words under header lines that come back, as dmon prints it; the day and the time of day are put together."""
    header, rows, bad = list[str](), list[Named](), 0
    for line in lines(path):
        cells = line.removeprefix("GPU ").lstrip("#").split()
        if line.startswith("#"):
            header = cells if is_header(cells) else header
        elif header and len(cells) >= len(header):
            row = dict(zip(header, cells, strict=False))
            day = row.get("Date", "19700101")
            rows.append(row | ({"timestamp": f"{day[:4]}-{day[4:6]}-{day[6:]} {row['Time']}"} if "Time" in row else {}))
        else:
            bad += bool(cells) and cells[0].lower() != "id"
    return _columns(rows), [Gap("", f"{bad} lines are no row of the table")] if bad else []


def _objects(path: Path) -> Raw:
    return _columns([row for row in map(json_object, lines(path)) if row]), []


def _documents(path: Path) -> Raw:
    """The JSON documents of gpustat one after the other, up to what is none."""
    found, whole = json_values(document(path).decode("utf-8", "replace"))
    queries = [query for query in found if isinstance(query, dict)]
    rows = [{**gpu, "query_time": q.get("query_time")} for q in queries for gpu in first(q, ("gpus",), list) or () if isinstance(gpu, dict)]
    gaps = [] if whole else [Gap("", "what follows the last whole document is cut off")]
    return _columns(rows), gaps


def _answer(path: Path) -> Raw:
    """The series that Prometheus' query API answers with, as columns; GPUs of several hosts are told apart by the host's name."""
    import pandas as pd

    answer = json_object(document(path))
    rows = []
    for one in first(first(answer, ("data",), dict) or answer, ("result",), list) or ():
        labels = one.get("metric") if isinstance(one, dict) else None
        if not isinstance(labels, dict) or not (counted := counted_by(str(labels.get("__name__")))):
            continue
        host, gpu = labels.get("Hostname", ""), labels.get("gpu", labels.get("UUID", "0"))
        pairs = first(one, ("values",), list) or [one.get("value")]
        told = (f"{host}:{gpu}" if host else str(gpu), counted.ours, counted.scale, counted.rank)
        rows += [(*told, *pair) for pair in pairs if isinstance(pair, list) and len(pair) == 2]
    if not rows:
        return {}, []
    found = pd.DataFrame(rows, columns=["gpu", "column", "scale", "rank", "time", "value"]).sort_values("rank", kind="stable")
    found["value"], found["time"] = numbers(found["value"]) * found["scale"], numbers(found["time"]).round(1)
    return _columns(pivoted(found)), []


def _columns(rows: Any) -> Named:
    """The columns of a table, or of rows of which whatever is nested is left out."""
    import pandas as pd

    found = pd.DataFrame(
        [{k: v for k, v in row.items() if isinstance(v, str | int | float)} for row in rows] if isinstance(rows, list) else rows
    )
    return {str(name): found[name] for name in found}
