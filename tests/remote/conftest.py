"""Stores that really answer, on this machine: an S3 server, a web server, and servers that replay what true ones answered."""

import functools
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from rl_advisor.reading.remote import copies

Serve = Callable[[type[BaseHTTPRequestHandler]], str]
KEY = "ab12" * 10


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and lists it, and says nothing about it."""

    def log_message(self, *_: object) -> None:
        """Nothing."""


def forget() -> None:
    """Remove all copies now."""
    for _, room, _ in copies._copies.values():
        room.cleanup()
    copies._copies.clear()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server with a handler; its address."""
    servers = []

    def start(handler: type[BaseHTTPRequestHandler]) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def web(serve: Serve) -> Callable[[Path], str]:
    """Serve a folder over HTTP; its address."""
    return lambda folder: serve(functools.partial(Quiet, directory=str(folder)))


@pytest.fixture(autouse=True)
def _no_copies_left() -> Iterator[None]:
    yield
    forget()
