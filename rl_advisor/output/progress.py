"""How far a long piece of work has come, said to whoever waits for it; who no longer waits calls the work off from there.

Whatever goes through many files or patterns says ``come_to("reading file", 3, 12)`` before each. A door that wants to know runs the
work under ``heard_by(ear)``; what the ear raises ends the work. Without an ear nothing happens.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]
_ear: ContextVar[Listener | None] = ContextVar("ear", default=None)


def report_progress(what: str, number: int, total: int) -> None:
    """Say that part ``number`` of ``total`` begins."""
    ear = _ear.get()
    if ear is not None:
        ear(what, number, total)


@contextmanager
def listening(ear: Listener) -> Iterator[None]:
    """Within it everything that is said in this thread is heard."""
    before = _ear.set(ear)
    try:
        yield
    finally:
        _ear.reset(before)
