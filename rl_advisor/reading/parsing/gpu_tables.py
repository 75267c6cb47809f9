"""Tables of GPU counters, however long, separated or Parquet: texts come as codes, so that each distinct one is looked at once."""

import codecs
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.bytes_in import open_bytes
from rl_advisor.reading.parsing.gpu_counters import (
    LABELS,
    PROCESSES,
    ROW_LIMIT,
    TIMES,
    counted_by,
    plain_name,
    too_long,
)
from rl_advisor.reading.parsing.parquet_in import columns_of, damage_told
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.run import Gap

BLOCK = 1 << 22
LONGEST_LINE = 1 << 16


def gpu_csv(path: Path, above: int = 0) -> tuple[dict[str, Any], list[Gap]]:
    """The columns that mean something, below so many lines and the one with the names; and what could not be read."""
    import pyarrow as pa
    from pyarrow import csv

    skipped: list[int] = []
    batches: list[pa.RecordBatch] = []
    torn = ""

    def skip(row: csv.InvalidRow) -> str:
        skipped.append(row.actual_columns)
        return "skip"

    with open_bytes(path) as file:
        names = _distinct([file.readline(LONGEST_LINE) for _ in range(above + 1)][-1].decode("utf-8", "replace").split(","))
        wanted = _wanted(names)
        try:
            rows = csv.open_csv(
                pa.PythonFile(codecs.EncodedFile(file, "utf-8", errors="ignore"), "r"),  # Arrow decodes the rows that it skips
                csv.ReadOptions(column_names=names, block_size=BLOCK, use_threads=False),
                csv.ParseOptions(invalid_row_handler=skip),
                csv.ConvertOptions(column_types=dict.fromkeys(wanted, pa.dictionary(pa.int32(), pa.binary())), include_columns=wanted),
            )
            while sum(batch.num_rows for batch in batches) <= ROW_LIMIT:
                batches.append(rows.read_next_batch())
        except StopIteration:
            pass
        except (pa.ArrowInvalid, *PACK_ERRORS) as error:
            torn = str(error)
    gaps = [Gap("", f"{len(skipped)} lines are no row of the table")] if skipped else []
    gaps += [Gap("", f"a part of the table could not be read: {torn}"[:300])] if torn else []
    gaps += too_long(sum(batch.num_rows for batch in batches))
    whole = pa.Table.from_batches(batches).unify_dictionaries() if batches else None
    return {name: _texts(whole[name]) for name in wanted} if whole else {}, gaps


def is_gpu_parquet(path: Path) -> bool:
    """Whether the file is Parquet with a time, a GPU and a counter, as ``rl-advisor record`` writes it, and wrote it in our names."""
    names = {plain_name(name) for name in columns_of(path)}
    ours = {"time", "gpu"} <= names and bool(names & {"power_w", "utilization", "memory_gib"})
    return ours or {"timestamp", "index", PROCESSES} <= names


def gpu_parquet(path: Path) -> tuple[dict[str, Any], list[Gap]]:
    """The columns of such a file that mean something."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    wanted = _wanted(columns_of(path))
    with damage_told(), confined_files.named(path) as name, pq.ParquetFile(name, read_dictionary=wanted) as file:
        batches = _held(file.iter_batches(columns=wanted))
        rows = pa.Table.from_batches(batches, file.schema_arrow.empty_table().select(wanted).schema).unify_dictionaries()
    return {n: rows[n].to_pandas() for n in wanted}, too_long(rows.num_rows)


def _wanted(names: list[str]) -> list[str]:
    return [n for n in names if plain_name(n) in (*TIMES, *LABELS, PROCESSES) or counted_by(n)]


def _held(batches: Iterable[Any]) -> list[Any]:
    """As many batches as are held."""
    found, rows = list[Any](), 0
    for batch in batches:
        found.append(batch)
        rows += batch.num_rows
        if rows > ROW_LIMIT:
            break
    return found


def _texts(column: Any) -> Any:
    """A column of codes for texts."""
    import pandas as pd

    words = [word.decode("utf-8", "replace") for word in column.chunk(0).dictionary.to_pylist()]
    codes = np.concatenate([chunk.indices.to_numpy(zero_copy_only=False) for chunk in column.chunks])
    again, distinct = pd.factorize(np.array(words, object))
    return pd.Categorical.from_codes(again[codes], pd.Index(distinct))


def _distinct(names: list[str]) -> list[str]:
    """The names with the second and later use of one numbered, as the parser wants them."""
    names = [name.strip().strip('"') for name in names]
    return [name if names.index(name) == i else f"{name}#{i}" for i, name in enumerate(names)]
