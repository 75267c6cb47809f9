"""The server put together, and started on standard input or on an address of this machine."""

import base64
import gc
import ipaddress
import os
import socket
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.caching import CacheHint
from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import Icon

from rl_advisor import __version__
from rl_advisor.output import shipped
from rl_advisor.output.errors import UsageError
from rl_advisor.server.confinement import roots_of, stores_of
from rl_advisor.server.connections import patient
from rl_advisor.server.dispatch import Dispatcher
from rl_advisor.server.following import Following
from rl_advisor.server.guides import offer_completions, offer_prompts, offer_resources
from rl_advisor.server.handlers import tools_of
from rl_advisor.server.picture import pictures
from rl_advisor.server.results import asked_of, labelled
from rl_advisor.server.skill import DAY_MS, Skills

KEPT_OPEN, BACKLOG = 75, 2048
"""Seconds for which an unused connection stays open, longer than clients keep theirs: one that the server closes first costs a request."""
_FIXED = CacheHint(ttl_ms=DAY_MS, scope="public")


def build(folders: Sequence[str | Path] = (".",), addresses: Sequence[str] = (), cases: Path | None = None) -> MCPServer[Any]:
    """The server over the runs below ``folders``; it connects only to what lies below ``addresses``, and writes only into ``cases``.

    Raises:
        NoSuchChoice: one of them is no folder, or no address.
    """
    desk, bus = Dispatcher(roots_of(folders), stores_of(addresses)), InMemorySubscriptionBus()
    tools = tools_of(desk, cases)
    drawn = base64.b64encode(Path(__file__).with_name("icon.svg").read_bytes()).decode()
    server: MCPServer[Any] = MCPServer(
        "rl-advisor",
        title="RL advisor",
        version=__version__,
        instructions=shipped.prompt("instructions"),
        tools=tools,
        extensions=[Skills(), pictures()],
        icons=[Icon(src=f"data:image/svg+xml;base64,{drawn}", mime_type="image/svg+xml", sizes=["any"])],
        subscriptions=bus,
        middleware=[labelled, partial(asked_of, [tool.name for tool in tools]), Following(desk, bus)],
        log_level="WARNING",
        cache_hints={"tools/list": _FIXED, "prompts/list": _FIXED, "resources/list": _FIXED, "resources/templates/list": _FIXED},
    )
    offer_prompts(server)
    offer_resources(server, desk)
    offer_completions(server, desk)
    return server


def serve(server: MCPServer[Any], where: tuple[str, int] | None = None) -> None:
    """Answer on standard input, or at an ``address``, until the client goes away.

    Raises:
        NoSuchChoice: the address is taken.
    """
    # What was loaded so far stays; left out of the collector's count, the garbage of calls is found after fewer of them.
    gc.freeze()
    if where is None:
        server.run("stdio")
        return
    import uvicorn

    host, port = where
    try:
        door = socket.create_server(where, family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=BACKLOG)
    except OSError as taken:
        raise UsageError(f"nobody can listen at {host}:{port}: {os.strerror(taken.errno or 0)}") from None
    app = server.streamable_http_app(host=host, stateless_http=True, json_response=True, transport_security=_named(port))
    uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_keep_alive=KEPT_OPEN, http=patient())).run(sockets=[door])


def _named(port: int) -> TransportSecuritySettings:
    """Only who asks for this machine at this port is answered, and only pages of this machine may ask."""
    here = ("127.0.0.1", "localhost", "[::1]")
    return TransportSecuritySettings(
        allowed_hosts=[f"{name}:{port}" for name in here], allowed_origins=[f"http://{name}:*" for name in here]
    )


def address(text: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT``; the host must be this machine, since nobody is asked who they are.

    Raises:
        NoSuchChoice: it is no such pair, or other machines could reach it.
    """
    host, colon, port = text.rpartition(":")
    host = host.strip("[]")
    if not colon or not port.isdigit() or not 0 < int(port) < 2**16:
        raise UsageError(f"--http takes HOST:PORT, for example 127.0.0.1:8000; not {text!r}")
    try:
        near = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host).is_loopback
    except ValueError:
        near = False
    if not near:
        raise UsageError(
            f"{host} could be reached by other machines, and this server asks nobody who they are; use 127.0.0.1, ::1 or localhost"
        )
    return host, int(port)
