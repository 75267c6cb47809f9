"""Reads SQLite files that strangers wrote as data: columns of plain tables, row by row. No query, view or function of the file is run."""

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from rl_advisor.output.run_reference import one_of
from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.bytes_in import head
from rl_advisor.run import Gap, Run

Row = TypeVar("Row")
MAGIC = b"SQLite format 3\x00"
ROW_LIMIT, MOST_TABLES = 2_000_000, 500
LONGEST_CELL = 64 << 20
LARGEST, LARGEST_LOG = 256 << 20, 64 << 20
"""Bytes of a database, and of its log, that are put together."""
_PLAIN = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE %' LIMIT ?"


def tables(path: Path) -> dict[str, set[str]]:
    """The columns of every plain table; empty when the file is no readable database.

    A virtual table, and one with a column that is computed, would run what the file brings: they are left out.
    """
    return _tables(path, path.stat().st_mtime_ns, path.stat().st_size, _size_of_log(path)) if head(path, len(MAGIC)) == MAGIC else {}


@lru_cache(4)
def _tables(path: Path, *_: int) -> dict[str, set[str]]:
    try:
        with closing(_connection(path)) as base:
            names = [str(row[0]) for row in base.execute(_PLAIN, (MOST_TABLES,))]
            columns = {n: list(base.execute("SELECT name, hidden FROM pragma_table_xinfo(?)", (n,))) for n in names}
            return {n: {str(name) for name, _ in held} for n, held in columns.items() if not any(hidden for _, hidden in held)}
    except (sqlite3.Error, UnicodeDecodeError):
        return {}


def rows(path: Path, table: str, *columns: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a plain table, in the order of the file; none where it lacks one of the columns.

    Raises:
        OSError: the file is damaged, or says the same bytes again and again; what came before has been yielded.
    """
    known = tables(path)
    if not known:
        raise OSError("damaged database: it names no table")
    if not known.get(table, set()) >= set(columns):
        return
    left = path.stat().st_size + _size_of_log(path)  # each cell takes a byte at least, and each letter
    try:
        with closing(_connection(path)) as base:
            quoted = ", ".join(f'"{c}"' for c in columns)
            for row in base.execute(f'SELECT {quoted} FROM "{table}" NOT INDEXED LIMIT {ROW_LIMIT}'):  # noqa: S608 - names of our own
                left -= sum(len(cell) if isinstance(cell, str | bytes) else 1 for cell in row)
                if left < 0:
                    raise OSError("damaged database: its rows are longer than the file")
                yield row
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise OSError(f"damaged database: {error}") from error


def run_of(path: Path, key: str, named: tuple[str, str], wanted: str) -> tuple[str, Run]:
    """The run to read of those that have metrics, and what to say of the others; '' and a gap where there is none.

    That with most rows comes first, and of equals the one that was written last; ``named`` are the table and column of their names.
    """
    found: dict[str, list[int]] = {}
    for number, (run,) in enumerate(rows(path, "metrics", key)):
        known = found.setdefault(str(run), [0, 0])
        known[:] = known[0] + 1, number
    names = {str(run): str(name or "") for run, name in rows(path, named[0], key, named[1])}
    runs = [(run, names.get(run, "")) for run in sorted(found, key=found.__getitem__, reverse=True)]
    return one_of(runs, wanted) if runs else ("", Run(gaps=(Gap("", "a store without metrics"),)))


def rows_of(path: Path, table: str, key: str, run: str, *columns: str) -> Iterator[tuple[Any, ...]]:
    """The rows of one run; raises as ``rows``."""
    return (row[1:] for row in rows(path, table, key, *columns) if str(row[0]) == run)


def until_damage(found: Iterable[Row], gaps: list[Gap]) -> list[Row]:
    """What was found up to the first damage, which becomes a gap."""
    kept: list[Row] = []
    try:
        kept.extend(found)
    except (OSError, TypeError, ValueError) as error:
        gaps.append(Gap("", f"{error}; {len(kept):,} rows before it were read"))
    return kept


def _log(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _size_of_log(path: Path) -> int:
    """Bytes of the log in which rows stand that are not yet in the database; 0 where it has none."""
    return _log(path).stat().st_size if _log(path).is_file() else 0


def _connection(path: Path) -> sqlite3.Connection:
    """Open without ever writing, also beside the file: where it has a log, a copy of both is put together, and held in memory."""
    if 0 < _size_of_log(path) <= LARGEST_LOG and path.stat().st_size <= LARGEST:
        base = sqlite3.connect(":memory:")
        with tempfile.TemporaryDirectory() as room:
            for source, name, most in ((path, "base", LARGEST), (_log(path), "base-wal", LARGEST_LOG)):
                with confined_files.opened(source) as file:
                    Path(room, name).write_bytes(file.read(most))
            with closing(sqlite3.connect(Path(room, "base"))) as whole:
                whole.backup(base)
    else:
        base = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True, timeout=2.0)
        if not confined_files.is_open(path):
            base.close()
            raise OSError("it was exchanged while it was opened")
    base.text_factory = lambda raw: raw.decode("utf-8", "replace")
    base.execute("PRAGMA trusted_schema = OFF")
    base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_CELL)
    return base
