"""Reads SQLite files that strangers wrote: read-only, tables only, and never longer than a bounded number of steps."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rl_advisor.reading.parsing import confined_files, sqlite_log

MAGIC = b"SQLite format 3\x00"
_OPERATIONS = 1_000_000
_ROUNDS = 300
"""Operations in all: what an honest store of two million points needs, ten times over."""
ROW_LIMIT = 2_000_000


def tables(path: Path) -> dict[str, set[str]]:
    """Return the columns of every table; empty when the file is no readable database."""
    try:
        with closing(_connection(path)) as base:
            names = [str(row[0]) for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 500")]
            return {n: {str(c[0]) for c in base.execute("SELECT name FROM pragma_table_info(?)", (n,))} for n in names}
    except (sqlite3.Error, UnicodeDecodeError):
        return {}


def rows(path: Path, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query.

    Raises:
        OSError: the file is damaged; what came before has been yielded.

    """
    try:
        with closing(_connection(path)) as base:
            yield from base.execute(f"{query} LIMIT {ROW_LIMIT}", values)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise OSError(f"damaged database: {error}") from error


def _connection(path: Path) -> sqlite3.Connection:
    """Open without ever writing, also beside the file. Rows still in a write-ahead log are put to the others in memory."""
    if parts := sqlite_log.read(path):
        base = sqlite3.connect(":memory:")
        base.deserialize(sqlite_log.whole(*parts))
    else:
        base = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True, timeout=2.0)
        if not confined_files.is_open(path):
            base.close()
            raise OSError("it was exchanged while it was opened")
    base.text_factory = lambda raw: raw.decode("utf-8", "replace")
    base.execute("PRAGMA trusted_schema = OFF")
    left = [_ROUNDS]

    def spent() -> bool:
        left[0] -= 1
        return left[0] < 0

    base.set_progress_handler(spent, _OPERATIONS)
    return base
