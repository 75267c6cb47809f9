"""Parquet that may be far larger in memory than on disk: texts that repeat are held once, and sizes are known before they are made."""

from pathlib import Path
from typing import Any

from rl_advisor.reading.parsing import confined_files

LONGEST_TEXTS = 256 << 20
"""Characters that the texts of a table may have together, each counted as often as it stands there."""


def opened(path: Path) -> Any:
    """The file, in which a text that repeats is read once; raises what pyarrow raises."""
    import pyarrow.parquet as pq

    with confined_files.named(path) as name:
        schema = pq.read_schema(name)
        return pq.ParquetFile(name, read_dictionary=[field.name for field in schema if is_text(field.type)])


def is_text(kind: Any) -> bool:
    """Whether a column holds texts."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_dictionary(kind))


def cells(column: Any) -> list[Any]:
    """The values of a column; equal texts of a chunk are one object.

    Raises:
        OverflowError: written out, its texts would be longer than a table's may be.
        pyarrow.ArrowInvalid: a damaged file names texts that are not there.
    """
    import pyarrow as pa

    found: list[Any] = []
    left = LONGEST_TEXTS
    for chunk in column.chunks:
        if not pa.types.is_dictionary(chunk.type):
            found += chunk.to_pylist()
            continue
        chunk.validate(full=True)
        values = chunk.dictionary.to_pylist()
        found += [None if i is None else values[i] for i in chunk.indices.to_pylist()]
        left -= sum(len(v) for v in found[len(found) - len(chunk) :] if isinstance(v, str))
        if left < 0:
            raise OverflowError(f"its texts would be longer than {LONGEST_TEXTS:,} characters")
    return found


def longest(column: Any) -> int:
    """Bytes of the longest text of a column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = [c.dictionary if pa.types.is_dictionary(c.type) else c for c in column.chunks]
    return max((pc.max(pc.binary_length(p)).as_py() or 0 for p in parts if is_text(p.type)), default=0)
