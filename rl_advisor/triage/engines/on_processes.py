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
    POOL.widened(jobs)
    warmed()
    with threads(jobs, Event()) as submit:
        yield submit


@contextmanager
def threads(jobs: int, over: Event) -> Iterator[Submit]:
    """So many tasks at a time on the workers as they are; all of them end once it is ``over``."""

    def wanted(_: float) -> None:
        if over.is_set():
            raise _Over

    waiting = ThreadPoolExecutor(jobs)
    try:
        yield lambda place, how: waiting.submit(work, place, how, wanted)
    finally:
        over.set()
        waiting.shutdown(cancel_futures=True)
