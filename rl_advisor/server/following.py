"""Tells a client that listens for a run's pages when the judgement of the run changes, by the rules of ``watch``."""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated

from rl_advisor.answers import run_folders
from rl_advisor.server.dispatch import Dispatcher
from rl_advisor.tools.workers import isolated

EVERY_S, RARELY_S, MOST = 5.0, 40.0, 16
"""Seconds between two looks at a run that grows and at an idle one, and the most followed at a time; further ones stay silent."""
_PAGE = re.compile(r"run://(?P<run>.+)/[^/]+")


class Following:
    """A middleware: follows runs for as long as somebody listens."""

    def __init__(self, desk: Dispatcher, bus: InMemorySubscriptionBus) -> None:
        """Nobody listens yet."""
        self._desk, self._bus, self._free = desk, bus, MOST

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """The answer to any request; while one listens, its runs are followed beside it."""
        if ctx.method != "subscriptions/listen":
            return await call_next(ctx)
        pages: dict[str, list[str]] = defaultdict(list)
        for uri in ((ctx.params or {}).get("notifications") or {}).get("resourceSubscriptions") or ():
            if found := _PAGE.fullmatch(str(uri)):
                pages[unquote(found["run"])].append(str(uri))
        async with anyio.create_task_group() as following:
            for run, uris in pages.items():
                following.start_soon(self._follow, run, uris)
            answer = await call_next(ctx)
            following.cancel_scope.cancel()
        return answer

    async def _follow(self, run: str, uris: Sequence[str]) -> None:
        """Look at the run again and again, more rarely while nothing is written, and tell of each change."""
        if not self._free:
            return
        self._free -= 1
        seen, state, pause = "", "", EVERY_S
        try:
            while True:
                try:
                    place = await self._desk.run(run)
                    files = await self._desk.quick(partial(run_folders.digest, place, None))
                    pause = EVERY_S if files != seen else min(2 * pause, RARELY_S)
                    if files not in ("", seen):
                        seen = files
                        state, changed = await self._desk.worked(isolated.watched, {"run": str(place), "state": state})
                        for uri in uris if changed else ():
                            await self._bus.publish(ResourceUpdated(uri=uri))
                except isolated.Refused:
                    pause = RARELY_S
                await anyio.sleep(pause)
        finally:
            self._free += 1
