"""Responses in Parquet: the completions that TRL writes, and any table with a response-like text column."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.parquet_in import SUFFIXES, cells, damage_told, described, whole
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.reservoir import Reservoir
from rl_advisor.reading.parsing.rollout_table import roles
from rl_advisor.reading.parsing.trajectories import run_of_rows, run_of_sample
from rl_advisor.run import Run

FORMAT = "rollouts_parquet"
_BATCH, _BUFFER = 768, 1 << 18
_ALL_AT_ONCE, _ROWS = 32 << 20, 200_000
"""Uncompressed bytes and rows up to which a file is read whole."""


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether the file is Parquet with a response-like column, or damaged so that nobody can say."""
    try:
        return path.suffix.lower() in SUFFIXES and "response" in roles(described(path).schema.names, ask.columns)
    except OSError:
        return True


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The responses of one file, at most a bounded sample a step; what was left out is a gap."""
    import pandas as pd

    meta = described(path).metadata
    with damage_told():
        if sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups)) > _ALL_AT_ONCE or meta.num_rows > _ROWS:
            rows = ((number, row, row) for number, row in enumerate(_rows(path)))
            return run_of_sample(rows, path, ask.columns, Reservoir())
        table = whole(path)
        return run_of_rows(pd.DataFrame({name: cells(table[name]) for name in table.column_names}), path, ask.columns)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file; a small buffer, since a column of one row group may be a gigabyte."""
    import pyarrow.parquet as pq

    with confined_files.named(path) as name, pq.ParquetFile(name, buffer_size=_BUFFER, pre_buffer=False) as file:
        for batch in file.iter_batches(batch_size=_BATCH, use_threads=False):
            yield from batch.to_pylist()
