"""The rows as files for other programs and for people: Parquet, the page, and a report a run."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rl_advisor.output import safe_write
from rl_advisor.triage.row import Row

MOST_REPORTS = 500
"""Reports that are written unless all are asked for: those of the most urgent runs."""


def parquet(rows: Sequence[Row], file: Path) -> Path:
    """The file, which now holds a row a run: the contract's fields, the others beside them, what is nested as ``cost.gpus``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    flat = [_flat(row) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    table = pa.table({name: pa.array([row.get(name) for row in flat], _kind([row.get(name) for row in flat], pa)) for name in names})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return safe_write.put(file, sink.getvalue().to_pybytes())


def _flat(row: Row) -> Row:
    """The row without nesting; settings as one text, since every run has others."""
    import orjson

    found: Row = {}
    for name, value in row.items():
        if name in ("settings", "names_as_written"):
            found[name] = orjson.dumps(value).decode()
        elif isinstance(value, dict):
            found |= {f"{name}.{inner}": part for inner, part in value.items()}
        else:
            found[name] = value
    return found


def _kind(values: Sequence[Any], pa: Any) -> Any:
    """The one kind of a column: what is a number anywhere is a number everywhere."""
    known = [v for v in values if v is not None]
    if any(isinstance(v, list) for v in known):
        return pa.list_(pa.float64()) if all(isinstance(x, int | float) for v in known for x in v) else pa.list_(pa.string())
    if known and all(isinstance(v, bool) for v in known):
        return pa.bool_()
    if known and all(isinstance(v, int | float) for v in known):
        return pa.float64() if any(isinstance(v, float) for v in known) else pa.int64()
    return pa.string()


def reports(
    rows: Sequence[Row], folder: Path, written: Callable[[Row], str], tell: Callable[[int, int], None] = lambda *_: None
) -> dict[str, Path]:
    """Where the report of each run lies that could be written, by the run's name; one that is there for the same content stays."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Path] = {}
    able = [row for row in rows if not row["error"]][:MOST_REPORTS]
    for number, row in enumerate(able, 1):
        tell(number, len(able))
        file = folder / f"{hashlib.sha256(row['run'].encode('utf-8', 'replace')).hexdigest()[:12]}-{str(row['key'])[:12]}.html"
        if not file.exists() and (content := written(row)):
            safe_write.put(file, content)
        if file.exists():
            found[row["run"]] = file
    return found


def links(found: Mapping[str, Path], page: Path) -> dict[str, str]:
    """How a page names reports on the same disk."""
    from rl_advisor.triage.page import link

    return {run: link(file, page) for run, file in found.items()}
