"""Where questions arrive: allowed or refused, answered from memory where files are unchanged, else by a worker."""

import difflib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

import anyio
from anyio import CapacityLimiter, from_thread
from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context

from rl_advisor import tools
from rl_advisor.answers import run_folders
from rl_advisor.output.clean import is_name, readable
from rl_advisor.server.confinement import Outside, below, called, inside
from rl_advisor.server.scheduler import Busy, Scheduler, Slot
from rl_advisor.workers import POOL, Crowded, Limits, Stopped, in_worker, isolated

TELL_EVERY = 0.2
"""Seconds between two notes of progress."""
MOST_KEPT = 64
LIMITS = Limits(cpu_s=20, memory=1_500 << 20, wall_s=120)
BUSY = "The server is busy with other runs, and this one takes long; ask again in a minute."
log = logging.getLogger("rl_advisor.server")
POOL.loaded = "rl_advisor.workers.isolated:load"


class Listener:
    """Tells the client now and then how far the work has come."""

    def __init__(self, ctx: Context[Any, Any] | None) -> None:
        """Tell the client of ``ctx``, if any."""
        self.parts = 0
        self._ctx, self._told = ctx, 0.0

    def __call__(self, what: str, number: int, total: int) -> None:
        """One more part begins."""
        self.parts += 1
        if self._ctx is not None and time.monotonic() - self._told > TELL_EVERY:
            self._told = time.monotonic()
            from_thread.run(self._ctx.report_progress, self.parts, None, f"{what} {number} of {total}")


class Dispatcher:
    """Answers questions about the runs below some folders, a few at a time."""

    def __init__(self, roots: Sequence[Path], stores: Sequence[str] = ()) -> None:
        """Answer about what lies below the folders ``roots``, and below the addresses ``stores``."""
        self.roots = roots
        self._stores = stores
        self._turns = Scheduler()
        self._threads = CapacityLimiter(8)
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._under_way: dict[Hashable, anyio.Event] = {}

    def run(self, asked: str) -> Path:
        """Where a run lies that may be read; one of a store is fetched first.

        Raises:
            Outside: it may not be read, or is not there.
        """
        if below(self._stores, asked):
            return tools.place(asked)
        try:
            return inside(self.roots, asked)
        except Outside as refused:
            # Only what list_runs would name, too, is suggested: nothing is told of what else is on the machine.
            names = [n for root in self.roots for p in run_folders.runs_below(root) if is_name(n := called(self.roots, p))]
            near = difflib.get_close_matches(asked, names, 3, 0.6)
            raise Outside(f"{refused.args[0]} Near by name: {', '.join(near)}." if near else refused.args[0]) from None

    async def ask(self, function: Callable[..., Any], runs: Sequence[str], *question: Any, ctx: Context[Any, Any] | None = None) -> Any:
        """What a function of :mod:`rl_advisor.workers.isolated` answers about runs; the same question about unchanged files from memory.

        Raises:
            Outside: a run may not be read.
            isolated.Refused: why there is no answer.
        """
        paths, key = await self.quick(lambda: self._key(function, runs, question))
        ear = Listener(ctx)
        while key not in self._kept:
            if key in self._under_way:
                await self._under_way[key].wait()
                continue
            self._under_way[key] = anyio.Event()
            try:
                arguments = (question[0], paths, *question[1:]) if question else paths
                self._keep(key, await self._worked(function, arguments, repr(paths), ear))
            finally:
                self._under_way.pop(key).set()
        if ctx is not None:
            await ctx.report_progress(ear.parts + 1, ear.parts + 1, "done")
        self._kept.move_to_end(key)
        kept = self._kept[key]
        if isinstance(kept, isolated.Refused):
            raise isolated.Refused(*kept.args)
        return kept

    async def quick(self, job: Callable[[], Any]) -> Any:
        """What a short job gives that looks at names and sizes only."""
        return await run_sync(job, limiter=self._threads)

    def _key(self, function: Callable[..., Any], runs: Sequence[str], question: tuple[Any, ...]) -> tuple[list[str], Hashable]:
        paths = [self.run(r) for r in runs]
        try:
            return [str(p) for p in paths], (function.__name__, repr(question), tuple((str(p), run_folders.fingerprint(p)) for p in paths))
        except OSError as gone:
            log.info("looking failed: %s", type(gone).__name__)
            raise isolated.Refused(isolated.GONE) from None

    async def _worked(self, function: Callable[..., Any], arguments: Sequence[Any], about: str, ear: Listener) -> Any:
        """The answer of a worker, or why files that stay as they are will never give one."""

        async def turn_of(turn: Slot) -> Any:
            return await run_sync(lambda: self._in_worker(function, arguments, about, ear, turn), limiter=CapacityLimiter(1))

        try:
            return await self._turns.taken(turn_of)
        except (Busy, Crowded):
            raise isolated.Refused(BUSY) from None
        except Stopped as stopped:
            return isolated.Refused(f"The run could not be read: {stopped}.")

    async def once(self, function: Callable[..., Any], *arguments: Any, ctx: Context[Any, Any] | None = None) -> Any:
        """What a function of :mod:`rl_advisor.workers.isolated` answers about its arguments alone; neither they nor the answer are kept.

        Raises:
            isolated.Refused: why there is no answer.
        """
        found = await self._worked(function, arguments, "pasted text", Listener(ctx))
        if isinstance(found, isolated.Refused):
            raise isolated.Refused(*found.args)
        return found

    async def worked(self, function: Callable[..., Any], path: str) -> Any:
        """What a function of :mod:`rl_advisor.workers.isolated` answers about a path that was found below the folders; it is not kept.

        Raises:
            isolated.Refused: why there is no answer.
        """
        found = await self._worked(function, [path], path, Listener(None))
        if isinstance(found, isolated.Refused):
            raise isolated.Refused(*found.args)
        return found

    def _in_worker(self, function: Callable[..., Any], arguments: Sequence[Any], about: str, ear: Listener, turn: Slot) -> Any:
        def wanted() -> None:
            from_thread.check_cancelled()
            turn.go_on()

        asked = (isolated.fenced, [str(r) for r in self.roots], f"{function.__module__}:{function.__qualname__}")
        how: dict[str, Any] = {"wanted": wanted, "meter": turn.has_taken, "came": turn.came}
        return in_worker(*asked, *arguments, limits=LIMITS, about=about, ear=ear, raises=(isolated.Refused,), **how)

    def _keep(self, key: Hashable, answer: Any) -> None:
        self._kept[key] = answer
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    def said(self, error: Exception) -> str:
        """An error's message without where the folders lie."""
        text = str(error.args[0]) if error.args else "The run could not be read."
        for root in self.roots:
            text = text.replace(f"{root}/", "").replace(str(root), ".")
        return readable(text, 1200)

    def listed(self, limit: int) -> dict[str, Any]:
        """The runs below all folders, newest first."""
        found = sorted(
            (p for root in self.roots for p in run_folders.runs_below(root)), key=lambda p: (run_folders.changed(p), str(p)), reverse=True
        )
        return tools.listing([(called(self.roots, p), p) for p in found[:limit]], len(found))
