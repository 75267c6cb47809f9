"""Parquet that may be far larger in memory than on disk: texts that repeat are held once, and sizes are known before they are made."""

import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.compact import message
from rl_advisor.reading.parsing.wire import BadRecordError, varint

MAGIC = b"PAR1"
SUFFIXES = (".parquet", ".pq")
MOST_COLUMNS = 20_000
MOST_VALUES = 60_000_000
"""Values of a table that is read whole, those in lists too."""
LONGEST_TEXTS = 256 << 20
"""Characters that the texts of a column may have together, each counted as often as it stands there."""
LONGEST_FOOTER = 16 << 20
_GROUPS, _CHUNKS, _CHUNK, _COUNT = 4, 1, 3, 5
"""Fields of a footer: its row groups, their columns, what is said of one, and how many values it has."""
_START, _LIST, _LONG = b"\x15", 0x19, 15
"""How a footer and its list of columns begin, and what stands for the length of a list that follows in bytes of its own."""
_LEAST = 10
"""Bytes that a column takes in the footer."""


class Described(NamedTuple):
    """What a file says of itself."""

    schema: Any
    metadata: Any


def described(path: Path) -> Described:
    """The columns and sizes of a file.

    Raises:
        OSError: it is no such file, damaged, or too wide.
    """
    status = path.stat()
    return _described(path, status.st_size, status.st_mtime_ns)


@contextmanager
def damage_told() -> Iterator[None]:
    """What the library says of a damaged file as OSError."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, ValueError, KeyError, TypeError) as error:
        raise OSError(f"no readable Parquet file: {error}"[:300]) from error


def columns_of(path: Path, *, numeric: bool = False) -> list[str]:
    """The names of the columns, or of those of numbers; none of a file that is no readable Parquet."""
    try:
        return [f.name for f in described(path).schema if not numeric or is_number(f.type)] if path.suffix.lower() in SUFFIXES else []
    except OSError:
        return []


def is_number(kind: Any) -> bool:
    """Whether a column holds numbers."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


@lru_cache(maxsize=2)
def _described(path: Path, _size: int, _time: int) -> Described:
    import pyarrow.parquet as pq

    with damage_told():
        # Before it is taken apart: each column costs kilobytes.
        if _columns(_footer(path)) > MOST_COLUMNS:
            raise ValueError(f"more than {MOST_COLUMNS:,} columns")
    with damage_told(), confined_files.named(path) as name, pq.ParquetFile(name) as file:
        return Described(file.schema_arrow, file.metadata)


def _footer(path: Path) -> bytes:
    """The footer; raises ValueError where there is none, or one longer than any table of a run has."""
    with confined_files.opened(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        if file.read(len(MAGIC)) != MAGIC or size < 12:
            raise ValueError("it begins otherwise")
        file.seek(size - 8)
        length = struct.unpack("<I", file.read(4))[0]
        if length > LONGEST_FOOTER:
            raise ValueError(f"a footer of {length:,} bytes")
        file.seek(max(0, size - 8 - length))
        return file.read(length)


def _columns(footer: bytes) -> int:
    """How many columns a footer names, as every writer begins it: a version, then their list. Of any other, as many as it has room for."""
    with suppress(BadRecordError, IndexError):
        behind = varint(footer, 1, len(footer))[1]
        if footer[:1] == _START and footer[behind] == _LIST:
            count = footer[behind + 1] >> 4
            return count if count < _LONG else varint(footer, behind + 2, len(footer))[0]
    return len(footer) // _LEAST


def _counts(path: Path) -> list[int]:
    """How many values each column has, from the footer itself: the library ends the process where a damaged one does not say it."""
    groups = [[chunk[_CHUNK][_COUNT] for chunk in group[_CHUNKS]] for group in message(_footer(path))[0][_GROUPS]]
    return [sum(many) for many in zip(*groups, strict=True)]


def whole(path: Path, columns: Sequence[str] | None = None) -> Any:
    """The table, or these columns of it, in which a text that repeats is held once.

    Raises:
        OverflowError: it has more values than a table that is read whole may have.
        OSError: it is damaged.
    """
    import pyarrow.parquet as pq

    with damage_told():
        schema = described(path).metadata.schema
        leaves = [schema.column(i) for i in range(len(schema))]
        wanted = {leaf.path.split(".", 1)[0] for leaf in leaves} if columns is None else set(columns)
        counts = _counts(path) or [0] * len(leaves)
        many = sum(n for leaf, n in zip(leaves, counts, strict=True) if leaf.path.split(".", 1)[0] in wanted)
        texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    if many > MOST_VALUES:
        raise OverflowError(f"more than {MOST_VALUES:,} values")
    with damage_told(), confined_files.named(path) as name, pq.ParquetFile(name, read_dictionary=texts) as file:
        return file.read(columns=None if columns is None else list(columns), use_threads=False)


def is_text(kind: Any) -> bool:
    """Whether a column holds texts."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_dictionary(kind))


def cells(column: Any) -> list[Any]:
    """The values of a column; equal texts of a chunk are one object.

    Raises:
        OverflowError: written out, its texts would be longer, or its lists, than a table's may be.
        OSError: a damaged file names texts that are not there.
    """
    import pyarrow as pa

    with damage_told():
        for chunk in column.chunks:
            chunk.validate(full=True)
    if sum(_written(chunk) for chunk in column.chunks) > LONGEST_TEXTS:
        raise OverflowError(f"its texts would be longer than {LONGEST_TEXTS:,} characters")
    found: list[Any] = []
    for chunk in column.chunks:
        if pa.types.is_dictionary(chunk.type):
            values = chunk.dictionary.to_pylist()
            found += [None if i is None else values[i] for i in chunk.indices.to_pylist()]
        else:
            found += chunk.to_pylist()
    return found


def _written(array: Any) -> int:
    """Characters of the texts of an array, those inside lists and records too, each counted as often as it stands there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_dictionary(kind):
        sizes = pc.binary_length(array.dictionary) if is_text(kind.value_type) or pa.types.is_binary(kind.value_type) else None
        return 0 if sizes is None else pc.sum(sizes.cast(pa.int64()).take(array.indices)).as_py() or 0
    if pa.types.is_struct(kind):
        return sum(_written(part) for part in array.flatten())
    if pa.types.is_map(kind):
        return _written(array.keys) + _written(array.items)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return len(array.flatten()) * _OBJECT + _written(array.flatten())
    if is_text(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return pc.sum(pc.binary_length(array)).as_py() or 0
    return 0


_OBJECT = 16
"""Characters for which one value in a list counts: each becomes an object."""


def longest(column: Any) -> int:
    """Bytes of the longest text of a column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = [c.dictionary if pa.types.is_dictionary(c.type) else c for c in column.chunks]
    return max((pc.max(pc.binary_length(p)).as_py() or 0 for p in parts if is_text(p.type)), default=0)
