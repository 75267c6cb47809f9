"""What a person at a terminal sees while something takes long: that it began, and from one second on how far it has come."""

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import click

from rl_advisor.output.errors import UnreadableRun
from rl_advisor.output.progress import listening

CPU_S, MEMORY = 300, 5 << 30
"""Seconds of processor time, and bytes of data: far more than any sound run takes."""


class TooMuch(BaseException):
    """The time is over; no reader takes it for its own failure."""


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """Within it reading ends at these bounds with ``UnreadableRun``; Windows has none, macOS bounds time alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    try:
        import resource
    except ImportError:
        yield
        return
    before = {what: resource.getrlimit(what) for what in (resource.RLIMIT_CPU, resource.RLIMIT_DATA)}
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = {resource.RLIMIT_CPU: int(used.ru_utime + used.ru_stime) + CPU_S, resource.RLIMIT_DATA: MEMORY}
    heard = signal.signal(signal.SIGXCPU, _over)
    try:
        for what, (soft, hard) in before.items():
            lower = min(s for s in (most[what], soft, hard) if s != resource.RLIM_INFINITY)
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(what, (lower, hard))
        yield
    except (TooMuch, MemoryError) as large:
        more = "memory than it may take" if isinstance(large, MemoryError) else f"than {CPU_S} seconds of processor time"
        raise UnreadableRun(f"the run could not be read: it needed more {more}") from None
    finally:
        for what, limits in before.items():
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(what, limits)
        signal.signal(signal.SIGXCPU, heard)


def _over(*_: Any) -> None:
    raise TooMuch


T = TypeVar("T")
SILENT_S = 1.0
_CLEAN = "\x1b[2K"


def busy(what: str, work: Callable[[], T]) -> T:
    """The result of ``work`` within the command's own limits; nothing is said where nobody watches."""
    with bounded():
        return told(what, work)


def told(what: str, work: Callable[[], T]) -> T:
    """The result of ``work``, which may take as long as it does."""
    if not sys.stderr.isatty():
        return work()
    began = time.monotonic()

    def ear(part: str, number: int, total: int) -> None:
        click.echo(f"{_CLEAN}{part} {number:,} of {total:,} ({time.monotonic() - began:.0f} s)\r", err=True, nl=False)

    click.echo(f"reading {what} ...\r", err=True, nl=False)
    with listening(ear, SILENT_S):
        result = work()
    click.echo(f"{_CLEAN}\r", err=True, nl=False)
    return result
