"""The side of the workers: a process that loads everything once and forks a worker whenever it is asked for one."""

import contextlib
import gc
import os
import signal
import socket
import sys
from multiprocessing.connection import Connection
from typing import Any, NoReturn

import orjson

from rl_advisor.discovery import function_of, table
from rl_advisor.output import Answer, progress

PROGRESS, RESULT, BYTES, ERROR = b"P", b"R", b"B", b"E"
"""With which a worker's message begins: JSON follows, or bytes as they are."""
_FORBIDDEN = frozenset(table(__file__, "forbidden.toml")["events"])
MOST_FILES, LONGEST_QUESTION = 512, 16 << 20


def main(descriptor: int) -> NoReturn:
    """Fork a worker for every socket that comes, and say its process id, until the caller goes away; then end them all."""
    os.setsid()  # Ctrl-C is the caller's affair, and all of this group end together
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who is over is gone: nobody waits for it
    control = socket.socket(fileno=descriptor)
    function_of("rl_advisor.tools.workers.isolated:load")()
    gc.collect()
    gc.freeze()
    with contextlib.suppress(OSError):
        while descriptors := socket.recv_fds(control, 1, 1)[1]:
            pid = os.fork()
            if not pid:
                try:
                    control.close()
                    _work(Connection(descriptors[0]))
                finally:
                    os._exit(0)
            os.close(descriptors[0])
            control.sendall(pid.to_bytes(8, "big"))
    os.killpg(0, signal.SIGKILL)
    raise SystemExit


def _work(channel: Connection) -> None:
    """Answer one call after the other, until nobody asks any longer."""
    _bounded_for_good()
    with contextlib.suppress(EOFError, OSError):
        while True:
            _answer(channel, *orjson.loads(channel.recv_bytes(LONGEST_QUESTION)))


def _answer(channel: Connection, function: str, args: list[Any], limits: Answer) -> None:
    _bounded(limits)
    try:
        with progress.listening(lambda *said: channel.send_bytes(PROGRESS + orjson.dumps(said))):
            answer = function_of(function)(*args)
        kind, payload = (BYTES, answer) if isinstance(answer, bytes) else (RESULT, orjson.dumps(answer))
    except Exception as error:  # noqa: BLE001 - whatever it is, the caller hears its name, and its message where that is expected
        name = "MemoryError" if isinstance(error, MemoryError) else type(error).__name__
        text = str(error.args[0]) if error.args else ""
        kind, payload = ERROR, orjson.dumps([name, text.encode("utf-8", "replace").decode()[:20_000]])
    channel.send_bytes(kind + payload)


def _bounded_for_good() -> None:
    """No file is written and none is left behind by a crash, whatever the work."""
    import resource

    for what, most in ((resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, MOST_FILES)):
        _limit(what, most, most)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing fails instead
    sys.dont_write_bytecode = True
    sys.addaudithook(_forbidding)


def _forbidding(event: str, _: object) -> None:
    """Refuse what no reading needs, whoever asks for it."""
    if event in _FORBIDDEN:
        raise PermissionError(f"a worker may not do this: {event}")


def _bounded(limits: Answer) -> None:
    """Only the soft limit moves: the next call of this worker has time of its own, and at the soft one the kernel ends the process."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = int(used.ru_utime + used.ru_stime) + 1 + int(limits["cpu_s"])
    for what, most in ((resource.RLIMIT_CPU, cpu), (resource.RLIMIT_DATA, _FRESH + limits["memory"])):
        _limit(what, most, resource.getrlimit(what)[1])


def _limit(what: int, soft: int, hard: int) -> None:
    """Set a limit as far as the system has it."""
    import resource

    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(what, (soft, hard))


_FRESH = 256 << 20
"""Bytes of data that a worker has before it reads anything."""
