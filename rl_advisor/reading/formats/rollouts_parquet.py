"""Responses in Parquet: the completions that TRL writes, and any table with a response-like text column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.cells import as_number
from rl_advisor.reading.parsing.chat import as_text
from rl_advisor.reading.parsing.parquet_in import SUFFIXES, Described, cells, damage_told, described, whole
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.reservoir import Place, Reservoir
from rl_advisor.reading.parsing.rollout_table import path_step, roles
from rl_advisor.reading.parsing.trajectories import run_of_rows
from rl_advisor.run import Run

if TYPE_CHECKING:
    import pandas as pd

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
    file = described(path)
    with damage_told():
        rows, more = _whole(path) if _small(file.metadata) else _sample(file, path, ask.columns)
    return run_of_rows(rows, path, ask.columns, FORMAT, more)


def _small(meta: Any) -> bool:
    return bool(sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups)) <= _ALL_AT_ONCE) and meta.num_rows <= _ROWS


def _whole(path: Path) -> tuple[pd.DataFrame, Run]:
    import pandas as pd

    table = whole(path)
    return pd.DataFrame({name: cells(table[name]) for name in table.column_names}), Run()


def _sample(file: Described, path: Path, columns: Mapping[str, str]) -> tuple[pd.DataFrame, Run]:
    """A bounded sample; only rows that are kept become Python objects."""
    raw = roles(file.schema.names, columns)
    said, kept = path_step(path), Reservoir()
    for before, batch in _batches(path):
        kept.offer(_places(batch, raw, said, before), lambda picked, batch=batch: batch.take(picked).to_pylist())  # type: ignore[misc]
    return kept.table(), kept.beside(path.name)


def _batches(path: Path) -> Iterator[tuple[int, Any]]:
    """The batches of a file with the number of rows before each; a small buffer, since a column of one row group may be a gigabyte."""
    import pyarrow.parquet as pq

    before = 0
    with confined_files.named(path) as name, pq.ParquetFile(name, buffer_size=_BUFFER, pre_buffer=False) as file:
        for batch in file.iter_batches(batch_size=_BATCH, use_threads=False):
            yield before, batch
            before += batch.num_rows


def _places(batch: Any, raw: dict[str, str], said: int | None, before: int) -> Iterator[Place]:
    """Number, step, reward, length and prompt of the rows of a batch."""
    others = {"step": said, "reward": np.nan, "prompt": ""}
    columns = [batch[raw[ours]].to_pylist() if ours in raw else repeat(other) for ours, other in others.items()]
    sizes = _lengths(batch[raw["response"]])
    for i, (at, paid, asked, size) in enumerate(zip(*columns, sizes, strict=False)):
        yield before + i, at, as_number(paid), size, asked if type(asked) is str else as_text(asked)


def _lengths(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return [0] * len(column)
    return pc.binary_length(column).fill_null(0).to_numpy()
