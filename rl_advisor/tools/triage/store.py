"""Answers kept by what they were made from, in one SQLite file: a run that did not change is never judged twice.

Every answer is written in a transaction of its own, so a triage that is killed at any moment goes on where it was; readers and writers of
several triages at once do not wait for each other longer than a write takes.
"""

import sqlite3
import time
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import orjson

_BEGIN = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",  # a kill loses nothing; a power failure the last answers, which are made again
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, made REAL, answer BLOB) WITHOUT ROWID",
)
WAIT_S = 60.0
"""Seconds for which another triage's write is waited for."""
AGAIN_S = 0.02
"""Seconds after which the opening is tried again."""
KEPT_S = 90 * 86_400.0
"""Seconds after which an answer is made anew."""


class Store(AbstractContextManager["Store"]):
    """The answers that are known."""

    def __init__(self, file: Path | None) -> None:
        """Open the file, made when it is not there; None keeps answers in memory, for this process alone.

        Raises:
            sqlite3.Error: it is no such store, or nobody may write there.
        """
        self.unwritten: dict[str, Any] = {}
        until = time.monotonic() + WAIT_S
        while True:  # tried again while another triage opens or closes it: for that moment SQLite does not wait by itself
            self._base = sqlite3.connect(
                ":memory:" if file is None else file, timeout=WAIT_S, isolation_level=None, check_same_thread=False
            )
            try:
                for said in _BEGIN:
                    self._base.execute(said)
                with suppress(sqlite3.OperationalError):  # another triage is doing it
                    self._base.execute("DELETE FROM answers WHERE made < ?", (time.time() - KEPT_S,))
            except sqlite3.Error as failed:
                self._base.close()
                if "locked" not in str(failed) or time.monotonic() > until:
                    raise
                time.sleep(AGAIN_S)
            else:
                return

    def known(self, key: str) -> Any:
        """The answer that is kept under this key, or None."""
        if key in self.unwritten:
            return self.unwritten[key]
        found = self._base.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return orjson.loads(found[0]) if found else None

    def keep(self, key: str, answer: Any) -> None:
        """Keep an answer, written when this returns; one that could not be (a full disk) is ``unwritten``, known to this process alone."""
        try:
            self._base.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", (key, time.time(), orjson.dumps(answer)))
        except sqlite3.OperationalError:
            self.unwritten[key] = answer

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._base.close()
