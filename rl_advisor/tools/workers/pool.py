"""The caller's side: starts the nursery when the first worker is wanted, keeps a few idle workers warm, and ends those that are spent.

While more work is under way than there are processors, those run that have run least, in steps of time, and of equals the newest; the
others stand still. So a short piece of work takes about as long beside many long ones as alone.
"""

import atexit
import contextlib
import mmap
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from bisect import bisect
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

MOST_IDLE = 4
LARGEST_IDLE = 300 << 20
"""Bytes beyond those of a fresh worker with which one is kept: what a large run left behind is given back to the machine."""
_PAGE = mmap.PAGESIZE
try:
    MEMORY = os.sysconf("SC_PHYS_PAGES") * _PAGE
except (ValueError, OSError):  # nobody can tell
    MEMORY = 8 << 30
TOGETHER = min(2_400 << 20, MEMORY // 3)
"""Bytes that all workers may have together; beyond it the largest one ends."""
STEPS_S = (1.0, 4.0, 16.0)
"""Seconds of processor time within which pieces of work count as equals."""
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
PROCESSORS = max(1, CORES - 1)
"""How many workers run at a time: one processor is left to the server, and to what else the machine does."""
_CODE = "import sys; sys.path[:] = sys.argv[2:]; from rl_advisor.tools.workers.fork_server import main; main(int(sys.argv[1]))"


@dataclass(eq=False)
class Worker:
    """A process and the line to it."""

    pid: int
    channel: Connection
    began: float = 0.0
    """When it was begun."""
    size: int = 0
    """Bytes beyond those of a fresh one, when it was last looked at."""
    ran: float = 0.0
    """Seconds of processor time since it was taken."""
    before: float = 0.0
    """Those that it had had until then."""
    still: bool = False
    """Whether it stands still until others have run as much."""


class Pool:
    """The workers of this process."""

    def __init__(self) -> None:
        """Nothing is started yet."""
        self._lock = threading.Lock()
        self._maker: tuple[subprocess.Popen[bytes], socket.socket] | None = None
        self._idle: list[Worker] = []
        self._held: list[Worker] = []
        self._fresh = 0
        self._most_idle, self._together, self._at_once = MOST_IDLE, TOGETHER, 0

    def widened(self, workers: int) -> None:
        """So many workers are kept warm and run, with half of the machine's memory together: for who has the machine to himself."""
        self._most_idle, self._together = max(MOST_IDLE, workers), max(TOGETHER, MEMORY // 2)
        self._at_once = workers

    def start(self) -> None:
        """Start loading what the work needs, without waiting for it; does nothing when it was started."""
        with self._lock:
            self._started()

    def take(self) -> Worker:
        """A worker: the one that was at work last, which remembers the run of the last question, or a fresh one where none is idle."""
        with self._lock:
            self._idle = [w for w in self._idle if not _is_over(w.channel)]
            worker = self._idle.pop() if self._idle else self._forked()
            worker.began, worker.size, worker.ran, worker.before = time.monotonic(), 0, 0.0, _seen(worker.pid)[1]
            self._held.append(worker)
            return worker

    def give_back(self, worker: Worker) -> None:
        """Keep it for the next call, unless it has grown large."""
        self.look(worker)
        with self._lock:
            self._held.remove(worker)
            self._idle.append(worker)
            spare = worker if worker.size > LARGEST_IDLE else self._idle[0] if len(self._idle) > self._most_idle else None
            if spare:
                self._idle.remove(spare)
        if spare:
            self.end(spare)

    def end(self, worker: Worker) -> None:
        """End the worker now."""
        with self._lock:
            if worker in self._held:
                self._held.remove(worker)
            if not worker.channel.closed:
                if not _is_over(worker.channel):
                    with contextlib.suppress(OSError):
                        os.kill(worker.pid, signal.SIGKILL)
                worker.channel.close()

    def look(self, worker: Worker) -> None:
        """Note how large it is and how long it has run; it goes on unless the processors are for others."""
        size, ran = _seen(worker.pid)
        with self._lock:
            worker.size, worker.ran = max(0, size - self._fresh), ran - worker.before
            first = sorted(self._held, key=lambda w: (bisect(STEPS_S, w.ran), -w.began))[: max(PROCESSORS, self._at_once)]
            _stand(worker, still=worker in self._held and worker not in first)

    def crowded(self, worker: Worker) -> bool:
        """Whether all workers together are larger than the machine bears, and none is larger than this one."""
        with self._lock:
            return sum(w.size for w in self._held) > self._together and worker.size == max(w.size for w in self._held)

    def go_on(self, worker: Worker) -> None:
        """Let it run, whoever else does."""
        with self._lock:
            _stand(worker, still=False)

    def _forked(self) -> Worker:
        """A fresh worker; after the loss of the process that makes them the next call starts a new one."""
        nursery, control = self._started()
        ours, theirs = Pipe()
        pid = b""
        with theirs, contextlib.suppress(OSError):
            socket.send_fds(control, [b"F"], [theirs.fileno()])
            pid = control.recv(8, socket.MSG_WAITALL)
        if len(pid) < 8:
            ours.close()
            self._lost()
            raise OSError("the process that makes workers is gone, or could not be started")
        self._fresh = self._fresh or _seen(nursery.pid)[0]
        return Worker(int.from_bytes(pid, "big"), ours)

    def _started(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        """The process that makes workers, and the line to it; it is started where there is none."""
        if self._maker is not None and self._maker[0].poll() is None:
            return self._maker
        self._lost()
        ours, theirs = socket.socketpair()
        # The code's own path alone: a folder of somebody's run must not become a place from which modules are loaded.
        path = [str(Path(__file__).parents[3]), *(str(Path(p).resolve()) for p in sys.path if p)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
        with theirs:
            nursery = subprocess.Popen(  # noqa: S603 - our own code
                [sys.executable, "-I", "-c", _CODE, str(theirs.fileno()), *path],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=environment,
            )
        self._maker, self._fresh = (nursery, ours), 0
        return self._maker

    def _lost(self) -> None:
        for worker in self._idle:
            worker.channel.close()
        self._idle = []
        if self._maker is not None:
            nursery, control = self._maker
            control.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                nursery.wait(5)
        self._maker = None

    def stop(self) -> None:
        """End every worker; the next call starts anew."""
        with self._lock:
            self._lost()


def _is_over(channel: Connection) -> bool:
    """Whether the process at the other end is over, so that its number may be another's by now."""
    with contextlib.suppress(OSError), socket.fromfd(channel.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as line:
        return line.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    return False


def _stand(worker: Worker, *, still: bool) -> None:
    """Stop it where it stands, or let it go on."""
    if still != worker.still and not worker.channel.closed:
        with contextlib.suppress(OSError):
            os.kill(worker.pid, signal.SIGSTOP if still else signal.SIGCONT)
        worker.still = still


def _seen(pid: int) -> tuple[int, float]:
    """Bytes of memory that no file backs, and seconds of processor time; zeros when nobody can tell."""
    try:
        resident, shared = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1:3]
        user, system = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[11:13]
        return (int(resident) - int(shared)) * _PAGE, (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return _said_by_ps(pid)


def _said_by_ps(pid: int) -> tuple[int, float]:
    """The same where there is no ``/proc``: macOS, which says ``rss`` in KiB and ``time`` as minutes and seconds."""
    try:
        asked = ["/bin/ps", "-o", "rss=", "-o", "time=", "-p", str(pid)]
        size, clock = subprocess.run(asked, capture_output=True, text=True, timeout=2, check=False).stdout.split()  # noqa: S603
        minutes, _, seconds = clock.rpartition(":")
        return int(size) * 1024, int(minutes.rpartition(":")[2] or 0) * 60 + float(seconds)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return 0, 0.0


POOL = Pool()
atexit.register(POOL.stop)
if hasattr(os, "fork"):
    os.register_at_fork(after_in_child=lambda: vars(POOL).update(vars(Pool())))  # workers are their parent's
