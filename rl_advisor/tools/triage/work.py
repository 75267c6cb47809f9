"""The one piece of work that every engine does: a run is judged in a process with limits, tried twice at most, and its row comes back.

``work`` takes and gives plain values, is found by its name on every machine, and gives the same row wherever it is done. A run that hangs,
grows or breaks its reader costs itself at most its seconds; both tries together have no more.
"""

import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from rl_advisor.tools.triage.looking import Place, look
from rl_advisor.tools.triage.row import Row
from rl_advisor.tools.workers import Crowded, Limits, Stopped, in_worker, isolated

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
            return dict(in_worker(isolated.fenced, *asked, limits=limits, about=path, wanted=wanted, raises=(isolated.Refused,)))
        except Stopped as stopped:
            why, passing = str(stopped), isinstance(stopped, Crowded)
        except isolated.Refused as unreadable:  # without where the run lies, and without what would have been read
            return {"error": str(unreadable).partition(". Looked for:")[0].replace(path, Path(path).name)[:300]}
    return {"error": f"not judged: {why}", **({"passing": True} if passing else {})}
