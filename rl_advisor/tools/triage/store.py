"""Answers kept by what they were made from, in one SQLite file: a run that did not change is never judged twice.

Every answer is written in a transaction of its own, so a triage that is killed at any moment goes on where it was; readers and writers of
several triages at once do not wait for each other longer than a write takes.
"""

import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import orjson

_TABLE = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, made REAL, answer BLOB) WITHOUT ROWID"
WAIT_S = 60.0
"""Seconds for which another triage's write is waited for."""
AGAIN_S = 0.02
"""Seconds after which the opening is tried again."""
KEPT_S = 90 * 86_400.0
"""Seconds after which an answer is made anew."""


class Store:
    """The answers that are known."""

    def __init__(self, file: Path | None) -> None:
        """Open the file, made when it is not there; None keeps answers in memory, for this process alone.

        Raises:
            sqlite3.Error: it is no such store, or nobody may write there.
        """
        self._base = _patiently(file)

    def known(self, key: str) -> Any:
        """The answer that is kept under this key, or None."""
        found = self._base.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return orjson.loads(found[0]) if found else None

    def keep(self, key: str, answer: Any) -> None:
        """Keep an answer; written when this returns."""
        self._base.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", (key, time.time(), orjson.dumps(answer)))

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def __enter__(self) -> Self:
        """The store itself, closed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()


def _opened(file: Path | None) -> sqlite3.Connection:
    base = sqlite3.connect(":memory:" if file is None else file, timeout=WAIT_S, isolation_level=None, check_same_thread=False)
    try:
        base.execute("PRAGMA journal_mode=WAL")
        base.execute("PRAGMA synchronous=NORMAL")  # a kill loses nothing; a power failure the last answers, which are made again
        base.execute(_TABLE)
        with suppress(sqlite3.OperationalError):  # another triage is doing it
            base.execute("DELETE FROM answers WHERE made < ?", (time.time() - KEPT_S,))
    except BaseException:
        base.close()
        raise
    return base


def _patiently(file: Path | None) -> sqlite3.Connection:
    """The opened file, tried again while another triage opens or closes it: for that moment SQLite does not wait by itself."""
    until = time.monotonic() + WAIT_S
    while True:
        try:
            return _opened(file)
        except sqlite3.OperationalError as busy:
            if "locked" not in str(busy) or time.monotonic() > until:
                raise
            time.sleep(AGAIN_S)
