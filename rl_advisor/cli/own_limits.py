"""What a command may take while it reads: files are as hostile here as to the server, and are read in this process."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

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
        from rl_advisor.reading import UnreadableRun

        more = "memory than it may take" if isinstance(large, MemoryError) else f"than {CPU_S} seconds of processor time"
        raise UnreadableRun(f"the run could not be read: it needed more {more}") from None
    finally:
        for what, limits in before.items():
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(what, limits)
        signal.signal(signal.SIGXCPU, heard)


def _over(*_: Any) -> None:
    raise TooMuch
