"""Connections over HTTP that ask nothing, or do not end what they ask, are dropped; no more are held than the system has descriptors."""

from typing import Any
from weakref import WeakKeyDictionary

ASK_WITHIN_S = 10.0
"""Seconds from connecting to the end of the first request's headers, and in which a body must come."""
MOST_BODIES = 16
"""Bodies that may be on their way at a time, of 4 MiB each: with one more the one begun first is dropped."""
_KEPT_FREE = 128
"""Descriptors for everything else: files, workers, the listener."""


def descriptors() -> int:
    """How many connections may be open, after asking the system for as many descriptors as it gives."""
    try:
        import resource
    except ImportError:
        return 512
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 8192 if most == resource.RLIM_INFINITY else min(most, 8192)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    except (ValueError, OSError):
        wanted = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return int(max(16, wanted - _KEPT_FREE))


def patient() -> Any:
    """The web server's protocol with these three bounds."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    most = descriptors()
    coming: WeakKeyDictionary[Any, None] = WeakKeyDictionary()

    class Patient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        """One connection."""

        def connection_made(self, transport: Any) -> None:
            """Begin to wait for a request; a connection too many is closed at once."""
            super().connection_made(transport)
            if len(self.connections) > most:
                transport.abort()
                return
            self._late: Any = None
            self.loop.call_later(ASK_WITHIN_S, self._look)

        def data_received(self, data: bytes) -> None:
            """Take what came, and note whether more of a body is to come."""
            super().data_received(data)
            if self.cycle is None or not self.cycle.more_body:
                coming.pop(self, None)
                return
            coming.setdefault(self)
            for first in list(coming)[:-MOST_BODIES]:
                del coming[first]
                first.transport.abort()

        def _look(self) -> None:
            """Drop it when no request has begun, or when the body of one did not come between two looks."""
            if self.transport.is_closing():
                return
            late = self.cycle if self.cycle is not None and self.cycle.more_body else None
            if self.cycle is None or (late is not None and late is self._late):
                self.transport.abort()
                return
            self._late = late
            self.loop.call_later(ASK_WITHIN_S, self._look)

    return Patient
