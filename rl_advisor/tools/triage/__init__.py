"""Thousands of runs judged: found, told from those already known, the rest given to an engine, kept, and put in order of urgency.

roots -> look -> places -> (store) -> work on an engine -> rows -> urgency, what they have in common, table, page
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager
from dataclasses import replace

from rl_advisor.output.progress import report_progress
from rl_advisor.tools.triage.looking import Place, aimed, inner_key, look
from rl_advisor.tools.triage.row import Row
from rl_advisor.tools.triage.store import Store
from rl_advisor.tools.triage.urgency import order, whole
from rl_advisor.tools.triage.work import How, Submit, engine, inside

AHEAD = 4
"""Tasks given to an engine beyond those that it works on, so that it never waits."""
DEEPEST = 4
"""Folders of several runs that may lie in each other, where only the reader tells them apart."""


def triage(roots: Sequence[str], how: How, store: Store, goal: float | None = None) -> list[Row]:
    """A row for every run at the roots, the most urgent first, judged by a ``goal`` where there is one.

    Raises what ``look`` and ``engine`` raise.
    """
    found = answers(aimed(look(roots), goal), how, store)
    return sorted((whole(answer, place) for place, answer in found if is_row(answer)), key=order)


def settled(places: Iterable[Place], known: Callable[[str], Row | None]) -> tuple[list[tuple[Place, Row]], deque[Place]]:
    """The places whose answers are known, several runs at one place each for itself, and those that are not."""
    queue, found, unknown = deque(places), [], deque[Place]()
    while queue:
        place = queue.popleft()
        if (answer := known(place.key)) is None:
            unknown.append(place)
            continue
        found.append((place, answer))
        queue.extend(parts_of(place, answer))
    return found, unknown


def answers(
    places: Sequence[Place], how: How, store: Store, by: AbstractContextManager[Submit] | None = None
) -> Iterator[tuple[Place, Row]]:
    """Each place with its answer, known ones first, kept before they are given; those of several runs at one place come after it.

    The work is done ``by`` an engine that is open already, else by the one named.
    """
    found, queue = settled(places, store.known)
    yield from found
    if not queue:
        return
    pending: dict[Future[Row], Place] = {}
    done = 0
    with by or engine(how) as submit:
        while queue or pending:
            while queue and len(pending) < how.jobs + AHEAD:
                place = queue.popleft()
                pending[submit(place, how)] = place
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                place, lost = pending.pop(future), future.exception()
                answer = future.result() if lost is None else {"error": f"its worker was lost ({type(lost).__name__})", "passing": True}
                if not answer.get("passing"):
                    store.keep(place.key, answer)
                parts, unknown = settled(parts_of(place, answer), store.known)
                queue.extend(unknown)
                done += 1
                report_progress("run", done, done + len(pending) + len(queue))
                yield place, answer
                yield from parts


def parts_of(place: Place, answer: Row) -> list[Place]:
    """The places of several runs that lie at one."""
    names = answer.get("several", ()) if place.inner.count("/") < DEEPEST else ()
    return [
        replace(place, run=inside(place.run, n), inner=inside(place.inner, n) if place.inner else n, key=inner_key(place.key, n))
        for n in names
    ]


def is_row(answer: Row) -> bool:
    """Whether an answer says something of a run, and does not only name others."""
    return "several" not in answer or "verdict" in answer


__all__ = ["How", "Place", "Row", "Store", "aimed", "look", "order", "whole"]
