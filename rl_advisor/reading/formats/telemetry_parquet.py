"""Reads the Parquet that ``rl-advisor record`` writes: one row a GPU and moment, in our names and units."""

from __future__ import annotations

from pathlib import Path

from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.gpu_counters import PROCESSES, ROW_LIMIT, counted_by, telemetry_of, too_long
from rl_advisor.reading.parsing.parquet_in import columns_of, damage_told
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Run

FORMAT = "telemetry_parquet"


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the file is Parquet with a time, a GPU and one of our counters."""
    names = set(columns_of(path))
    return {"time", "gpu"} <= names and bool(names & {"power_w", "utilization", "memory_gib"})


def read(path: Path, _: Request = WHOLE) -> Run:
    """The telemetry in the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    wanted = [n for n in columns_of(path) if n in ("time", "gpu", PROCESSES) or counted_by(n)]
    batches: list[pa.RecordBatch] = []
    with damage_told(), confined_files.named(path) as name, pq.ParquetFile(name) as file:
        for batch in file.iter_batches(columns=wanted):
            batches.append(batch)
            if sum(b.num_rows for b in batches) > ROW_LIMIT:
                break
        rows = pa.Table.from_batches(batches, file.schema_arrow.empty_table().select(wanted).schema)
        raw = {n: rows[n].cast(pa.string() if n in ("gpu", PROCESSES) else pa.float64()).to_pandas() for n in wanted}
    return telemetry_of(path, FORMAT, raw, too_long(path, rows.num_rows))
