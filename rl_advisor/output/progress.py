"""How far a long piece of work has come, said to whoever waits for it; who no longer waits calls the work off from there.

Whatever goes through many files or patterns says ``come_to("reading file", 3, 12)`` before each. A door that wants to know runs the
work under ``heard_by(ear)``; what the ear raises ends the work. Without an ear nothing happens.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

EVERY_S = 0.1
"""Seconds between two notes of progress."""
Listener = Callable[[str, int, int], None]
_ear: ContextVar[Listener | None] = ContextVar("ear", default=None)


def report_progress(what: str, number: int, total: int) -> None:
    """Say that part ``number`` of ``total`` begins."""
    ear = _ear.get()
    if ear is not None:
        ear(what, number, total)


@contextmanager
def listening(ear: Listener, silent_s: float = 0.0) -> Iterator[None]:
    """Within it what is said in this thread is heard, now and then, and not in the first ``silent_s`` seconds."""
    due = time.monotonic() + silent_s

    def now_and_then(*said: Any) -> None:
        nonlocal due
        if (now := time.monotonic()) >= due:
            due = now + EVERY_S
            ear(*said)

    before = _ear.set(now_and_then)
    try:
        yield
    finally:
        _ear.reset(before)
