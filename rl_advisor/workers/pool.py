"""The caller's side: starts the nursery when the first worker is wanted, keeps a few idle workers warm, and ends those that are spent."""

import atexit
import contextlib
import mmap
import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from rl_advisor.workers.fork_server import END, FORK

MOST_IDLE = 4
LARGEST_IDLE = 300 << 20
"""Bytes beyond those of a fresh worker with which one is kept: what a large run left behind is given back to the machine."""
TOGETHER = 2_400 << 20
"""Bytes that all workers may have together, or a third of the machine's memory where that is less; beyond it the largest one ends."""
_PAGE = mmap.PAGESIZE
_CODE = "import sys; sys.path[:] = sys.argv[3:]; from rl_advisor.workers.fork_server import main; main(int(sys.argv[1]), sys.argv[2])"


@dataclass(eq=False)
class Worker:
    """A process and the line to it."""

    pid: int
    channel: socket.socket
    about: str = ""
    worn: bool = False
    """Whether something about it cannot be undone (it was slowed down), so that it serves no second call."""
    gone: bool = False


class Pool:
    """The workers of this process."""

    def __init__(self) -> None:
        """Nothing is started yet."""
        self.loaded = ""
        """``module:name`` of a function that loads what the work needs; called once, in the nursery."""
        self._lock = threading.Lock()
        self._nursery: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._ready = False
        self._idle: list[Worker] = []
        self._held: dict[int, int] = {}
        self._owner = 0
        self._fresh = 0
        self._most_idle, self._together = MOST_IDLE, _bearable()

    def widened(self, workers: int) -> None:
        """Keep so many workers warm, together no larger than half of the machine's memory: for who has the machine to himself."""
        self._most_idle, self._together = max(MOST_IDLE, workers), max(_bearable(), _machine() // 2)

    def start(self, loaded: str = "") -> None:
        """Start loading, without waiting for it; does nothing when it was started."""
        with self._lock:
            self.loaded = loaded or self.loaded
            self._started()

    def take(self, about: str) -> Worker:
        """A worker: the idle one that worked about the same before, a fresh one, or the one idle for longest."""
        with self._lock:
            same = next((w for w in self._idle if w.about == about), None)
            worker = same or (self._idle.pop(0) if len(self._idle) >= self._most_idle else self._forked())
            if same:
                self._idle.remove(same)
            worker.about = about
            self._held[worker.pid] = 0
            return worker

    def give_back(self, worker: Worker) -> None:
        """Keep it for the next call, unless it is worn or has grown large."""
        if worker.worn or self.size(worker) > LARGEST_IDLE:
            self.end(worker)
            return
        with self._lock:
            self._held.pop(worker.pid, None)
            self._idle.append(worker)
            spare = self._idle.pop(0) if len(self._idle) > self._most_idle else None
        if spare:
            self.end(spare)

    def end(self, worker: Worker) -> int:
        """The signal that ended the worker, which is over now."""
        with self._lock:
            if worker.gone:
                return 0
            worker.gone = True
            worker.channel.close()
            self._held.pop(worker.pid, None)
            try:
                return int.from_bytes(self._said(END + worker.pid.to_bytes(8, "big"), size=4), "big")
            except OSError:  # the nursery is gone, and cannot end its own
                with contextlib.suppress(OSError):
                    os.kill(worker.pid, signal.SIGKILL)
                return signal.SIGKILL

    def working(self) -> int:
        """How many workers have something to do."""
        with self._lock:
            return len(self._held)

    def nursery(self) -> int:
        """The process that makes workers; 0 before the first is wanted."""
        return self._nursery.pid if self._nursery else 0

    def size(self, worker: Worker) -> int:
        """Bytes that it has beyond what it shares with a fresh one; 0 when nobody can tell."""
        size = max(0, (_private(worker.pid) or 0) - self._fresh)
        with self._lock:
            if worker.pid in self._held:
                self._held[worker.pid] = size
        return size

    def crowded(self, size: int) -> bool:
        """Whether all workers together are larger than the machine bears, and none is larger than this size."""
        with self._lock:
            return sum(self._held.values()) > self._together and size == max(self._held.values())

    def _forked(self) -> Worker:
        self._started()
        if not self._ready:
            if (self._control and self._control.recv(1)) != b".":
                raise OSError("the process that makes workers could not be started")
            self._fresh = (_private(self._nursery.pid) if self._nursery else None) or 0
            self._ready = True
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                return Worker(int.from_bytes(self._said(FORK, theirs.fileno(), size=8), "big"), ours)
            except OSError:
                ours.close()
                raise

    def _said(self, order: bytes, *descriptors: int, size: int) -> bytes:
        """What the nursery answers; after its loss the next worker starts a new one."""
        control = self._control
        if control is None:
            raise OSError("no process makes workers")
        try:
            socket.send_fds(control, [order], list(descriptors))
            answer = control.recv(size, socket.MSG_WAITALL)
        except OSError:
            answer = b""
        if len(answer) < size:
            self._lost()
            raise OSError("the process that makes workers is gone")
        return answer

    def _started(self) -> None:
        if self._nursery is not None and self._owner == os.getpid() and self._nursery.poll() is None:
            return
        self._lost()
        ours, theirs = socket.socketpair()
        # The code's own path alone: a folder of somebody's run must not become a place from which modules are loaded.
        path = [str(Path(__file__).parents[2]), *(str(Path(p).resolve()) for p in sys.path if p)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
        with theirs:
            self._nursery = subprocess.Popen(  # noqa: S603 - our own code
                [sys.executable, "-I", "-c", _CODE, str(theirs.fileno()), self.loaded, *path],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=environment,
            )
        self._control, self._ready, self._owner = ours, False, os.getpid()

    def _lost(self) -> None:
        for worker in self._idle:
            worker.gone = True
            worker.channel.close()
        self._idle, self._ready = [], False
        if self._control is not None:
            self._control.close()
        if self._nursery is not None and self._owner == os.getpid():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._nursery.wait(5)
        self._control = self._nursery = None

    def stop(self) -> None:
        """End every worker; the next call starts anew."""
        with self._lock:
            self._lost()


def _bearable() -> int:
    return min(TOGETHER, _machine() // 3)


def _machine() -> int:
    """Bytes of the machine's memory; where nobody can tell, three times what all workers may have."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * _PAGE
    except (ValueError, OSError):
        return 3 * TOGETHER


def _private(pid: int) -> int | None:
    """Bytes of memory that no file backs; None when nobody can tell."""
    try:
        resident, shared = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1:3]
        return (int(resident) - int(shared)) * _PAGE
    except (OSError, ValueError):
        return _said_by_ps(pid)


def _said_by_ps(pid: int) -> int | None:
    """The same where there is no ``/proc``: macOS."""
    try:
        done = subprocess.run(["/bin/ps", "-o", "rss=", "-p", str(pid)], capture_output=True, timeout=2, check=False)  # noqa: S603
        return int(done.stdout) * 1024
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


POOL = Pool()
atexit.register(POOL.stop)
