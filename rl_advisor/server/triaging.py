"""The tool that judges every run of a folder, a page at a time: what one call has no time for, the next one goes on with."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from threading import Event

import anyio
from anyio.to_thread import run_sync

from rl_advisor.output import Answer
from rl_advisor.output.budget import fit
from rl_advisor.output.clean import aliased, clean
from rl_advisor.output.progress import listening
from rl_advisor.server.confinement import called
from rl_advisor.server.dispatch import Client, Dispatcher, Listener
from rl_advisor.tools.triage import How, Place, Store, aimed, answers, is_row, order, settled, whole
from rl_advisor.tools.triage.row import CONTRACT
from rl_advisor.tools.triage.work import places_at, threads
from rl_advisor.tools.workers import isolated
from rl_advisor.tools.workers.pool import PROCESSORS

SECONDS, ONE_RUN_S, AT_ONCE = 20.0, 8.0, min(8, PROCESSORS + 1)
"""For how long a call judges, how much processor time one run may take, and how many are judged at a time."""
SHOWN = ("run", "urgency", *CONTRACT[1:], "why", "saves_gpu_hours", "age_s")


class Triage:
    """Judges what lies below the folders, and remembers it by content for as long as the server lives."""

    def __init__(self, desk: Dispatcher) -> None:
        """Nothing is known yet."""
        self._desk = desk
        self._store = Store(None)
        self._one_at_a_time = anyio.Lock()

    async def page(  # noqa: PLR0913 - the tool's arguments
        self, ctx: Client | None, root: str, first: int, rows: int, only: str | None, goal: float | None
    ) -> Answer:
        """The rows from ``first`` on, and how many there are; what is not yet judged is judged first, for as long as a call may take.

        Raises:
            Outside: the folder may not be read.
        """
        places = aimed(await self._places(root), goal)
        async with self._one_at_a_time:
            await self._judged(places, ctx)
        known, unknown = settled(places, self._store.known)
        found = sorted((whole(answer, p) for p, answer in known if is_row(answer)), key=order)
        from rl_advisor.tools.triage.common import common, sentences

        counts = Counter(row["urgency"] for row in found)
        chosen = [row for row in found if only is None or row["urgency"] == only]
        shown = [{name: row[name] for name in SHOWN if row.get(name) is not None} for row in chosen[first : first + rows]]
        answer = {
            "total": len(found) + len(unknown),
            "not_yet_judged": len(unknown),
            "counts": dict(counts),
            "saves_gpu_hours": sum(row.get("saves_gpu_hours") or 0.0 for row in found) or None,
            "next_first": first + rows if first + rows < len(chosen) else None,
            "runs": shown,
            "in_common": sentences(common(found))[:8] if first == 0 and only is None and not unknown else None,
        }
        named = {part for row in shown for part in (row["run"], *row["run"].split("/"))}
        return fit(aliased(clean({k: v for k, v in answer.items() if v is not None}), named), isolated.LONGEST_ANSWER)

    async def _places(self, root: str) -> Sequence[Place]:
        roots = self._desk.roots
        folders = [str(await self._desk.run(root))] if root else [str(folder) for folder in roots]
        found = await self._desk.worked(places_at, folders)
        return [Place(**{**told, "run": called(roots, Path(told["where"]))}) for told in found]

    async def _judged(self, places: Sequence[Place], ctx: Client | None) -> None:
        """Judge places until all are known or the time is up; what is under way then is begun again by the next call."""
        over, ear = Event(), Listener(ctx)
        how = How(jobs=AT_ONCE, seconds=round(ONE_RUN_S), roots=tuple(str(root) for root in self._desk.roots))

        def judge() -> None:
            with listening(ear):
                for _ in answers(places, how, self._store, threads(AT_ONCE, over)):
                    if over.is_set():
                        break

        try:
            with anyio.move_on_after(SECONDS):
                await run_sync(judge, abandon_on_cancel=True)
        finally:
            over.set()
