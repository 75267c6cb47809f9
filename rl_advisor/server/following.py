"""Tells a client that listens for a run's pages when the judgement of the run changes, by the rules of ``watch``.

A client of today's protocol listens by one long request; one of those before subscribes, and hears for as long as it is connected.
"""

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import unquote

import anyio
from anyio.abc import TaskGroup
from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND, EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from rl_advisor.answers import run_folders
from rl_advisor.server.confinement import Outside
from rl_advisor.server.dispatch import Dispatcher
from rl_advisor.workers import isolated

EVERY_S, RARELY_S, MOST = 5.0, 40.0, 16
"""Seconds between two looks at a run that grows and at an idle one, and the most followed at a time; further ones stay silent."""
_PAGE = re.compile(r"run://(?P<run>.+)/[^/]+")


class Following:
    """A middleware: follows runs for as long as somebody listens."""

    def __init__(self, desk: Dispatcher, bus: InMemorySubscriptionBus) -> None:
        """Nobody listens yet."""
        self._desk, self._bus, self._free = desk, bus, MOST
        self._subscribed: dict[tuple[Any, str], anyio.CancelScope] = {}

    @asynccontextmanager
    async def connected(self, _: MCPServer[TaskGroup]) -> AsyncIterator[TaskGroup]:
        """Where runs are followed for as long as a client is connected."""
        async with anyio.create_task_group() as group:
            yield group
            group.cancel_scope.cancel()

    def offered(self, server: MCPServer[TaskGroup]) -> None:
        """Offer the subscriptions of earlier protocols, which the library leaves to its lower level."""
        below = server._lowlevel_server  # noqa: SLF001 - its documentation names no other way
        below.add_request_handler("resources/subscribe", SubscribeRequestParams, self._subscribe)
        below.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, self._unsubscribe)

    async def _subscribe(self, ctx: ServerRequestContext[TaskGroup, Any], params: SubscribeRequestParams) -> EmptyResult:
        session, uri, client = ctx.session, str(params.uri), _client(ctx)
        if not session.can_send_request:
            raise MCPError(METHOD_NOT_FOUND, "this connection has no way back by which a change could be told")
        found, scope = _PAGE.fullmatch(uri), anyio.CancelScope()

        async def follow(run: str) -> None:
            with scope:
                await self._follow(run, lambda: session.send_resource_updated(uri))

        if found and (client, uri) not in self._subscribed:
            self._subscribed[client, uri] = scope
            client.exit_stack.callback(self._end, client, uri)  # who is gone listens no longer
            ctx.lifespan_context.start_soon(follow, unquote(found["run"]))
        return EmptyResult()

    async def _unsubscribe(self, ctx: ServerRequestContext[TaskGroup, Any], params: UnsubscribeRequestParams) -> EmptyResult:
        self._end(_client(ctx), str(params.uri))
        return EmptyResult()

    def _end(self, client: Any, uri: str) -> None:
        if scope := self._subscribed.pop((client, uri), None):
            scope.cancel()

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
                following.start_soon(self._follow, run, partial(self._published, uris))
            answer = await call_next(ctx)
            following.cancel_scope.cancel()
        return answer

    async def _published(self, uris: Sequence[str]) -> None:
        for uri in uris:
            await self._bus.publish(ResourceUpdated(uri=uri))

    async def _follow(self, run: str, tell: Callable[[], Awaitable[None]]) -> None:
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
                        if changed:
                            await tell()
                except (Outside, isolated.Refused):
                    pause = RARELY_S
                await anyio.sleep(pause)
        finally:
            self._free += 1


def _client(ctx: ServerRequestContext[Any, Any]) -> Any:
    """The connection behind a request; its session is made anew for every request."""
    return ctx.session._connection  # noqa: SLF001 - the library's documentation names no other way
