"""Processes of this machine: each task waits in a thread for a worker with limits (:mod:`rl_advisor.workers`), warm and reused."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

from rl_advisor.triage.engines import Submit
from rl_advisor.triage.work import warmed, work

NEEDS = ""


class _Over(Exception):  # noqa: N818 - it names what happened
    """Nobody waits for the work any longer."""


@contextmanager
def engine(jobs: int, address: str = "") -> Iterator[Submit]:
    """So many workers at a time; there is no cluster whose address could be given."""
    from rl_advisor.workers import POOL

    del address
    over = Event()

    def wanted() -> None:
        if over.is_set():
            raise _Over

    POOL.widened(jobs)
    warmed()
    threads = ThreadPoolExecutor(jobs)
    try:
        yield lambda task: threads.submit(work, task, wanted)
    finally:
        over.set()
        threads.shutdown(cancel_futures=True)
