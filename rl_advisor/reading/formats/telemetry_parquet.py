"""Reads the Parquet that ``rl-advisor record`` writes: one row a GPU and moment, in our names and units."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.counters import INSTANT, OTHER, ROW_LIMIT, THROTTLE, other_memory, table, telemetry, too_long
from rl_advisor.reading.parsing.parquet_in import SUFFIXES, described
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import TELEMETRY_COLUMNS, Gap, Run

FORMAT = "telemetry_parquet"
_NUMBERS = (*TELEMETRY_COLUMNS[2:], INSTANT, THROTTLE, "energy_mj")


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the file is Parquet with a time, a GPU and one of our counters."""
    if path.suffix.lower() not in SUFFIXES:
        return False
    names = _names(path)
    return {"time", "gpu"} <= names and bool(names & {"power_w", "utilization", "memory_gib"})


def read(path: Path, _: Request = WHOLE) -> Run:
    """The telemetry in the file."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = _names(path)
    numbers = [n for n in _NUMBERS if n in names]
    wanted = ["time", "gpu", *numbers, *(["processes"] if "processes" in names else [])]
    batches: list[pa.RecordBatch] = []
    try:
        with confined_files.named(path) as name, pq.ParquetFile(name) as file:
            for batch in file.iter_batches(columns=wanted):
                batches.append(batch)
                if sum(b.num_rows for b in batches) > ROW_LIMIT:
                    break
            rows = pa.Table.from_batches(batches, file.schema_arrow.empty_table().select(wanted).schema)
        columns = {n: rows[n].cast(pa.float64() if n == "time" else pa.float32()).to_numpy() for n in ("time", *numbers)}
        gpu = rows["gpu"].cast(pa.string()).to_pandas().astype("category")
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        return telemetry(path, FORMAT, pd.DataFrame(), [Gap(path.name, f"its data are damaged: {error}"[:300])])
    if "processes" in names:
        columns[OTHER] = other_memory(rows["processes"].cast(pa.string()).to_pandas(), gpu)
    return telemetry(path, FORMAT, table({n: np.asarray(v) for n, v in columns.items()}, gpu), too_long(path, rows.num_rows))


def _names(path: Path) -> set[str]:
    """The file's columns; empty when it cannot be opened."""
    import pyarrow as pa

    try:
        return set(described(path).schema.names)
    except (pa.ArrowException, OSError, ValueError):
        return set()
