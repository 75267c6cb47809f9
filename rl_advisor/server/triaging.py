"""The tool that judges every run of a folder, a page at a time: what one call has no time for, the next one goes on with."""

import time
from collections import Counter, OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import Context

from rl_advisor.output.budget import fit
from rl_advisor.output.clean import aliased, clean
from rl_advisor.server.confinement import called
from rl_advisor.server.dispatch import BUSY, Dispatcher
from rl_advisor.triage import Place, Row, is_row, order, parts_of, settled, whole
from rl_advisor.triage.row import CONTRACT
from rl_advisor.triage.work import for_server, inside, places_at
from rl_advisor.workers import isolated

SECONDS, ONE_RUN_S, AT_ONCE = 20.0, 8.0, 3
"""For how long a call judges, how much of that one run may take, and how many are judged at a time: one place stays free for others."""
MOST_KEPT = 20_000
SHOWN = ("run", "urgency", *CONTRACT[1:], "why", "saves_gpu_hours", "age_s")


class Triage:
    """Judges what lies below the folders, and remembers it by content for as long as the server lives."""

    def __init__(self, desk: Dispatcher) -> None:
        """Nothing is known yet."""
        self._desk = desk
        self._known: OrderedDict[str, Row] = OrderedDict()
        self._one_at_a_time = anyio.Lock()

    async def page(self, ctx: Context[Any, Any] | None, root: str, first: int, rows: int, only: str | None) -> dict[str, Any]:
        """The rows from ``first`` on, and how many there are; what is not yet judged is judged first, for as long as a call may take.

        Raises:
            Outside: the folder may not be read.
        """
        places = await self._places(root)
        async with self._one_at_a_time:
            await self._judged(settled(places, self._found)[1], ctx, len(places))
        known, unknown = settled(places, self._found)
        found = sorted((whole(answer, p) for p, answer in known if is_row(answer)), key=order)
        from rl_advisor.triage.common import common
        from rl_advisor.triage.said import sentences

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
            "in_common": list(sentences(common(found)))[:8] if first == 0 and only is None and not unknown else None,
        }
        named = {part for row in shown for part in (row["run"], *row["run"].split("/"))}
        return fit(aliased(clean({k: v for k, v in answer.items() if v is not None}), named), isolated.LONGEST_ANSWER)

    def _found(self, keys: Sequence[str]) -> dict[str, Row]:
        return {key: self._known[key] for key in keys if key in self._known}

    async def _places(self, root: str) -> Sequence[Place]:
        roots = self._desk.roots
        folders = [str(await self._desk.run(root))] if root else [str(folder) for folder in roots]
        found = await self._desk.worked(places_at, folders)
        return [Place(**{**told, "run": called(roots, Path(told["where"]))}) for told in found]

    async def _judged(self, places: Sequence[Place], ctx: Context[Any, Any] | None, total: int) -> None:
        """Judge places until all are known or the time is up."""
        queue, done = list(reversed(places)), total - len(places)

        async def lane() -> None:
            nonlocal done
            while queue:
                place, began = queue.pop(), time.monotonic()
                try:
                    queue.extend(reversed(await self._one(place)))
                except anyio.get_cancelled_exc_class():
                    if time.monotonic() - began > ONE_RUN_S:
                        self._keep(place.key, {"error": f"not judged: it needed more than {ONE_RUN_S:g} seconds; ask assess_run"})
                    raise
                done += 1
                if ctx is not None:
                    await ctx.report_progress(done, total, f"run {done} of {total}")

        with anyio.move_on_after(SECONDS):
            async with anyio.create_task_group() as lanes:
                for _ in range(AT_ONCE):
                    lanes.start_soon(lane)

    async def _one(self, place: Place) -> list[Place]:
        """Judge one place; the places in it that are to be judged, too."""
        path = inside(place.where, place.inner)
        try:
            answer = await self._desk.worked(for_server, path)
        except isolated.Refused as refused:
            if refused.args == (BUSY,):  # another time
                return []
            answer = {"error": self._desk.said(refused)[:300]}
        self._keep(place.key, answer)
        return settled(parts_of(place, answer), self._found)[1]

    def _keep(self, key: str, answer: Row) -> None:
        self._known[key] = answer
        while len(self._known) > MOST_KEPT:
            self._known.popitem(last=False)
