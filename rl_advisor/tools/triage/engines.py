"""Who does the work: an engine is a context that gives ``submit(place, how) -> Future``."""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from importlib import import_module
from threading import Event
from typing import Any

from rl_advisor.output.errors import UsageError, install, no_such
from rl_advisor.tools.triage.looking import Place
from rl_advisor.tools.triage.row import Row
from rl_advisor.tools.triage.work import How, work

Submit = Callable[[Place, How], "Future[Row]"]
AGAIN = 3
"""Times that Ray begins a task anew when its worker is lost."""


@contextmanager
def processes(jobs: int, _: str = "") -> Iterator[Submit]:
    """So many workers of this machine at a time, with limits (:mod:`rl_advisor.tools.workers`), warm and reused."""
    from rl_advisor.tools.workers import POOL

    POOL.widened(jobs)
    POOL.start()
    with threads(jobs, Event()) as submit:
        yield submit


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
    remote = library.remote(num_cpus=1, max_retries=AGAIN)(work)
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
