"""Work on files of strangers, done in a process that the operating system stops: ``in_worker(function, *args)`` gives what it gives.

A worker is forked from a process that has everything loaded (``fork_server``), so a new one costs milliseconds. It has limits
on processor time and memory that the kernel keeps (what it computes cannot talk them away), writes no file, and is killed when
nobody waits any longer. What goes in and comes out is JSON or bytes; nothing is unpickled. On macOS the kernel does not bound memory: there
(as everywhere) the size of a worker is looked at twenty times a second. Without ``os.fork`` (Windows) the work is done in the caller's
process, without bounds.
"""

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from rl_advisor.tools.workers.fork_server import BYTES, ERROR, PROGRESS
from rl_advisor.tools.workers.pool import POOL, Worker

TICK_S = 0.05
"""Between two looks at how large a worker is, whether its work is still wanted, and whose turn it is."""
Listener = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Limits:
    """What one piece of work may take."""

    cpu_s: int = 20
    """Seconds of processor time, kept by the kernel."""
    memory: int = 2 << 30
    """Bytes beyond what a fresh worker has; kept by the kernel on Linux, looked at on macOS."""
    wall_s: float = 120.0
    output: int = 64 << 20
    """Bytes of the answer."""


class Stopped(RuntimeError):  # noqa: N818 - it names what happened
    """The work needed more than it may take, or broke its worker; ``args[0]`` says which in one sentence."""


class Crowded(Stopped):
    """The machine had no room for it beside other work; at another time it might do."""


def in_worker(
    function: Callable[..., Any],
    *args: Any,
    limits: Limits | None = None,
    ear: Listener = lambda *_: None,
    wanted: Callable[[float], None] = lambda _: None,
    raises: tuple[type[Exception], ...] = (),
) -> Any:
    """What ``function(*args)`` gives: JSON or bytes. The function is one of a module's own; its arguments are JSON.

    ``ear`` hears :mod:`rl_advisor.output.progress`; ``wanted`` hears at every tick how many seconds of processor time were taken, and
    what it raises ends the work, and its worker. ``raises`` go by the class's name.

    Raises:
        Stopped: a limit was met, or the worker broke.
        Exception: one of ``raises``, with the message that it had in the worker, or what ``wanted`` raises.
    """
    if not hasattr(os, "fork"):
        return function(*args)
    limits = limits or Limits()
    try:
        worker = POOL.take()
    except OSError as failed:
        raise Crowded(f"no worker could be started ({failed.strerror or failed})") from None
    kept = False
    try:
        worker.channel.send_bytes(orjson.dumps([f"{function.__module__}:{function.__qualname__}", args, asdict(limits)]))
        kind, said = _answered(worker, limits, ear, wanted)
        expected = next((k for k in raises if k.__name__ == said[0]), None) if kind == ERROR else None
        kept = kind != ERROR or expected is not None
        if expected is not None:
            raise expected(said[1])
        if kind == ERROR:
            raise Stopped(_TOO_LARGE if said[0] == "MemoryError" else f"its files broke the reader ({said[0]})")
    except (EOFError, ConnectionError):
        raise Stopped(_died(worker, limits)) from None
    except OSError:
        raise Stopped("its answer was larger than an answer may be") from None
    else:
        return said
    finally:
        (POOL.give_back if kept else POOL.end)(worker)


def _answered(worker: Worker, limits: Limits, ear: Listener, wanted: Callable[[float], None]) -> tuple[bytes, Any]:
    """The kind of a worker's answer, and what it says; raises as ``_awaited``."""
    while True:
        _awaited(worker, limits, wanted)
        message = worker.channel.recv_bytes(limits.output)
        kind = message[:1]
        said = message[1:] if kind == BYTES else orjson.loads(message[1:])
        if kind != PROGRESS:
            return kind, said
        ear(*said)


def _awaited(worker: Worker, limits: Limits, wanted: Callable[[float], None]) -> None:
    """Come back when the worker has something to say.

    Raises:
        Stopped: it has used up its time or memory.
    """
    while not worker.channel.poll(TICK_S):
        wanted(worker.ran)
        if time.monotonic() - worker.began > limits.wall_s:
            raise Stopped(f"it needed more than {limits.wall_s:g} seconds")
        POOL.look(worker)
        if worker.size > limits.memory:
            raise Stopped(_TOO_LARGE)
        if POOL.crowded(worker):
            raise Crowded("it needed more memory than the machine has left beside other work")
    POOL.go_on(worker)  # it may have been stopped in the middle of its answer
    wanted(worker.ran)


_TOO_LARGE = "it needed more memory than it may take"


def _died(worker: Worker, limits: Limits) -> str:
    """Why a worker ended without an answer, as far as it was seen when it was last looked at."""
    if worker.ran > limits.cpu_s - 1:  # about as much as it may have taken since
        return f"it needed more than {limits.cpu_s} seconds of processor time"
    return _TOO_LARGE if worker.size > limits.memory // 2 else "its files broke the process that read them"


__all__ = ["POOL", "Crowded", "Limits", "Stopped", "in_worker"]
