"""Where questions arrive: allowed or refused, answered from memory where files are unchanged, else by a worker."""

import difflib
from collections.abc import Awaitable, Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, cast

from anyio import CapacityLimiter, from_thread
from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context

from rl_advisor import tools
from rl_advisor.answers import run_folders
from rl_advisor.output import Answer
from rl_advisor.output.clean import aliased, clean, is_name, readable
from rl_advisor.server.confinement import Outside, below, called, inside
from rl_advisor.server.scheduler import Busy, Scheduler, Slot
from rl_advisor.tools.workers import Crowded, Limits, Stopped, in_worker, isolated

Client = Context[Any, Any]
Work = Callable[..., Awaitable[Any]]
Function = Callable[..., Any]

MOST_KEPT, MOST_NEAR = 64, 2_000
LIMITS = Limits(cpu_s=20, memory=1_500 << 20, wall_s=120)
BUSY = "The server is busy with other runs, and this one takes long; ask again in a minute."


class Listener:
    """Tells the client now and then how far the work has come."""

    def __init__(self, ctx: Client | None = None) -> None:
        """Tell the client of ``ctx``, if any."""
        self.parts, self._ctx = 0, ctx

    def __call__(self, what: str, number: int, total: int) -> None:
        """One more part begins."""
        self.parts += 1
        if self._ctx is not None:
            from_thread.run(self._ctx.report_progress, self.parts, None, f"{what} {number} of {total}")


class Dispatcher:
    """Answers questions about the runs below some folders, a few at a time; no file of theirs is opened in this process."""

    def __init__(self, roots: Sequence[Path], stores: Sequence[str] = ()) -> None:
        """Answer about what lies below the folders ``roots``, and below the addresses ``stores``."""
        self.roots = roots
        self._stores = stores
        self._turns, self._threads, self._fetching = Scheduler(), CapacityLimiter(8), CapacityLimiter(2)
        self._kept: dict[Hashable, Any] = {}

    async def run(self, asked: str) -> Path:
        """Where a run lies that may be read; one of a store is fetched first, which holds up only who asks for another of a store.

        Raises:
            Outside: it may not be read, or is not there.
        """
        if below(self._stores, asked):
            return Path(await run_sync(tools.place, asked, limiter=self._fetching))
        try:
            return cast("Path", await self.quick(lambda: inside(self.roots, asked)))
        except Outside:
            # Only what list_runs would name, too, is suggested: nothing is told of what else is on the machine.
            names = [n for p in await self.found() if is_name(n := called(self.roots, p))]
            raise Outside(await self.quick(lambda: difflib.get_close_matches(asked, names[:MOST_NEAR], 3, 0.6))) from None

    async def ask(self, function: Function, asked: Answer, paths: Sequence[str] = ("run",), ctx: Client | None = None) -> Any:
        """What a function of :mod:`rl_advisor.tools.workers.isolated` answers; the same question about unchanged files from memory.

        ``paths`` names the arguments that are runs or files; where none is given, what was asked (pasted text) is not kept.

        Raises:
            Outside: a run may not be read.
            isolated.Refused: why there is no answer.
        """
        places: Answer = {}
        for name in paths:
            if given := asked.get(name):
                places[name] = str(await self.run(given)) if isinstance(given, str) else [str(await self.run(g)) for g in given]
        question, ear = asked | places, Listener(ctx)
        if not places:
            return _given(await self._worked(function, [question], ear))
        key = await self.quick(lambda: self._key(function, places, question))
        answer = self._kept.get(key)
        if answer is None:
            answer = await self._worked(function, [question], ear)
        self._kept.pop(key, None)
        self._kept[key] = answer  # the last one asked for, now
        if len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        if ctx is not None:
            await ctx.report_progress(ear.parts + 1, ear.parts + 1, "done")
        return _given(answer)

    async def found(self) -> list[Path]:
        """The runs below all folders, newest first; by their names alone where what stands in them costs more than a call may take.

        Raises:
            isolated.Refused: why there is no answer.
        """
        roots = [str(root) for root in self.roots]
        found = await self._worked(isolated.runs, [roots, False])
        if isinstance(found, isolated.Refused):
            found = await self._worked(isolated.runs, [roots, True])
        return [Path(p) for p in _given(found)]

    async def quick(self, job: Callable[[], Any]) -> Any:
        """What a short job gives that looks at names and sizes only."""
        return await run_sync(job, limiter=self._threads)

    def _key(self, function: Function, places: Answer, question: Answer) -> Hashable:
        paths = [p for place in places.values() for p in ([place] if isinstance(place, str) else place)]
        try:
            return (function.__name__, repr(question), tuple(run_folders.fingerprint(Path(p)) for p in paths))
        except OSError:
            raise isolated.Refused(isolated.GONE) from None

    async def _worked(self, function: Function, arguments: Sequence[Any], ear: Listener | None = None) -> Any:
        """The answer of a worker, or why files that stay as they are will never give one."""
        asked = (isolated.fenced, [str(r) for r in self.roots], f"{function.__module__}:{function.__qualname__}", *arguments)
        how: Answer = {"limits": LIMITS, "ear": ear or Listener(), "raises": (isolated.Refused,)}

        async def turn_of(turn: Slot) -> Any:
            def wanted(seconds: float) -> None:
                from_thread.check_cancelled()
                turn.go_on(seconds)

            return await run_sync(lambda: in_worker(*asked, wanted=wanted, **how), limiter=CapacityLimiter(1))

        try:
            return await self._turns.taken(turn_of)
        except (Busy, Crowded):
            raise isolated.Refused(BUSY) from None
        except Stopped as stopped:
            return isolated.Refused(f"The run could not be read: {stopped}.")

    async def worked(self, function: Function, about: Any) -> Any:
        """What a function answers about paths that were found below the folders; it is not kept.

        Raises:
            isolated.Refused: why there is no answer.
        """
        return _given(await self._worked(function, [about]))

    def said(self, error: Exception) -> str:
        """An error's message without where the folders lie."""
        text = str(error.args[0]) if error.args else "The run could not be read."
        for root in self.roots:
            text = text.replace(f"{root}/", "").replace(str(root), ".")
        return readable(text, 1200)

    async def listed(self, limit: int) -> Answer:
        """The runs below all folders, newest first."""
        found = await self.found()
        rows = await self.quick(
            lambda: [
                {"run": called(self.roots, p), "files": len(run_folders.fingerprint(p)), "changed": run_folders.changed(p)}
                for p in found[:limit]
            ]
        )
        answer = clean({"runs": rows, "more": max(0, len(found) - limit)})
        return aliased(answer, [row["run"] for row in rows])  # type: ignore[no-any-return]


def _given(answer: Any) -> Any:
    """The answer, or the refusal that it is."""
    if isinstance(answer, isolated.Refused):
        raise isolated.Refused(*answer.args)
    return answer
