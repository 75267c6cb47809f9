"""The one piece of work that every engine does (a run is judged in a process with limits, and its row comes back), and who does it.

An engine is a context that gives ``submit(place, how) -> Future``.

``work`` takes and gives plain values, is found by its name on every machine, and gives the same row wherever it is done. A run that hangs,
grows or breaks its reader costs itself at most its seconds; both tries together have no more.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, redirect_stdout, suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from threading import Event
from typing import Any

from rl_advisor.output.errors import UsageError, install, no_such
from rl_advisor.tools.triage.looking import Place, look
from rl_advisor.tools.triage.row import Row
from rl_advisor.tools.workers import POOL, Crowded, Limits, Stopped, in_worker, isolated

TRIES = 2


@dataclass(frozen=True)
class How:
    """How runs are judged."""

    engine: str = "processes"
    jobs: int = 1
    cluster: str = ""
    seconds: int = 20
    memory: int = 1_500 << 20
    roots: tuple[str, ...] = ()
    """Folders below which files are opened through no link."""


def work(place: Place, how: How, wanted: Callable[[float], None] = lambda _: None) -> Row:
    """The row of the run; ``{"several": [...]}`` where several lie there; ``{"error": ...}`` where none could be made.

    ``passing`` beside an error says that another time it might do. What ``wanted`` raises ends the work.
    """
    if not place.address:
        return _judged(inside(place.where, place.inner), place.goal, how, wanted)
    from rl_advisor.reading.remote import copies
    from rl_advisor.reading.remote.bounds import Bounds

    with tempfile.TemporaryDirectory(prefix="rl-advisor-") as room:
        folder = Path(room) / copies.named(place.where)
        try:
            copies.fetch(place.where, folder, Bounds(listed=place.files))
        except FileNotFoundError as gone:
            return {"error": str(gone)}
        except ValueError as unreachable:
            return {"error": str(unreachable), "passing": True}
        return _judged(inside(str(folder), place.inner), place.goal, how, wanted)


def places_at(folders: list[str]) -> list[Row]:
    """What may be judged below these folders, for who is inside a worker already."""
    return [asdict(place) for place in look(folders)]


def report(path: str) -> str:
    """The page about the run at this path, written by a worker; empty where it could not be."""
    with suppress(Stopped):
        return str(in_worker(isolated.page, {"run": path}, limits=Limits(cpu_s=60)))
    return ""


def inside(where: str, inner: str) -> str:
    """The path of one of several runs at a place: a folder or file below it, or a run of the file that it is."""
    return f"{where}{inner}" if inner.startswith("#") or not inner else f"{where.rstrip('/')}/{inner}"


def _judged(path: str, goal: float | None, how: How, wanted: Callable[[float], None]) -> Row:
    """The answer of a worker, or why there is none."""
    began, why, passing = time.monotonic(), "", False
    for tried in range(TRIES):
        left = how.seconds - (time.monotonic() - began)
        if tried and left < 1:
            break
        limits = Limits(cpu_s=max(1, int(left)), memory=how.memory, wall_s=3 * left)
        try:
            asked = (list(how.roots), "rl_advisor.tools.triage.judging:read_and_judged", path, goal)
            return dict(in_worker(isolated.fenced, *asked, limits=limits, wanted=wanted, raises=(isolated.Refused,)))
        except Stopped as stopped:
            why, passing = str(stopped), isinstance(stopped, Crowded)
        except isolated.Refused as unreadable:  # without where the run lies, and without what would have been read
            return {"error": str(unreadable).partition(". Looked for:")[0].replace(path, Path(path).name)[:300]}
    return {"error": f"not judged: {why}", **({"passing": True} if passing else {})}


Submit = Callable[[Place, How], "Future[Row]"]


def processes(jobs: int, _: str = "") -> AbstractContextManager[Submit]:
    """So many workers of this machine at a time, with limits (:mod:`rl_advisor.tools.workers`), warm and reused."""
    POOL.widened(jobs)
    POOL.start()
    return threads(jobs, Event())


@contextmanager
def threads(jobs: int, over: Event) -> Iterator[Submit]:
    """So many tasks at a time on the workers as they are, each waiting in a thread; all of them end once it is ``over``."""

    def wanted(_: float) -> None:
        if over.is_set():
            raise CancelledError

    waiting = ThreadPoolExecutor(jobs)
    try:
        yield lambda place, how: waiting.submit(work, place, how, wanted)
    finally:
        over.set()
        waiting.shutdown(cancel_futures=True)


@contextmanager
def ray(jobs: int, address: str = "") -> Iterator[Submit]:
    """Tasks of one CPU each on a running cluster by its address (or ``RAY_ADDRESS``), else on one of this machine with so many CPUs.

    Raises:
        UsageError: Ray is not installed.
    """
    try:
        library: Any = import_module("ray")
    except ImportError:
        raise UsageError(f"--engine ray needs an extra: {install('ray')}") from None
    ours = not library.is_initialized()
    if ours:
        where = address or os.environ.get("RAY_ADDRESS", "")
        local = {"num_cpus": jobs, "include_dashboard": False} if not where else {"address": where}
        library.init(log_to_driver=False, logging_level="ERROR", configure_logging=False, **local)
    remote = library.remote(num_cpus=1)(work)  # begun anew three times where its worker is lost
    try:
        with redirect_stdout(sys.stderr):  # of a lost worker Ray speaks where rows are to stand alone
            yield lambda place, how: remote.remote(place, how).future()
    finally:
        if ours:
            library.shutdown()


ENGINES: dict[str, Callable[[int, str], AbstractContextManager[Submit]]] = {"processes": processes, "ray": ray}


def engine(how: How) -> AbstractContextManager[Submit]:
    """The engine that does the work so.

    Raises:
        UsageError: there is no such engine.
    """
    if how.engine not in ENGINES:
        raise no_such("engine", how.engine, ENGINES)
    return ENGINES[how.engine](how.jobs, how.cluster)
