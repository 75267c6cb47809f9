"""A file that its server may send for elsewhere: redirects are followed to public addresses alone, by the same scheme, without the key."""

import ipaddress
import socket
from collections.abc import Callable
from email.message import Message
from http.client import HTTPConnection, HTTPSConnection, responses
from typing import IO, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener, getproxies

_PATIENCE_S = 60


def opened(url: str, home: str, headers: dict[str, str]) -> IO[bytes]:
    """The answer to a request for ``url``; ``headers`` go to the host of ``home`` alone, which is also the only one that may be private.

    Raises:
        OSError: it leads to a private address or another scheme, or was refused.
    """
    named = urlsplit(home)
    asked = Request(url)  # noqa: S310 - the scheme is that of what a person named
    if urlsplit(url).scheme != named.scheme:
        raise OSError("it is sent by another scheme than the server's")
    if urlsplit(url).netloc == named.netloc:
        for name, value in headers.items():
            asked.add_unredirected_header(name, value)
    trusted = {named.hostname, *(urlsplit(proxy).hostname for proxy in getproxies().values())}
    try:
        return build_opener(_SameScheme, *_handlers(trusted)).open(asked, timeout=_PATIENCE_S)  # type: ignore[no-any-return]
    except HTTPError as refusal:
        refusal.close()
        # Its own words may hold what it was sent, and whatever else it wants to be read.
        raise OSError(f"the server answered {refusal.code} {responses.get(refusal.code, '')}".strip()) from None


class _SameScheme(HTTPRedirectHandler):
    """Follows redirects from https to https and from http to http."""

    def redirect_request(  # noqa: PLR0913, PLR0917, RUF100 - the signature is the library's
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> Request | None:
        """The next request, without what was meant for the named server."""
        if urlsplit(newurl).scheme != req.type:
            raise OSError("it redirects to another scheme")
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def _handlers(trusted: set[str | None]) -> tuple[HTTPHandler, HTTPSHandler]:
    """What opens connections to the trusted hosts, and to others at public addresses."""

    def dial(address: tuple[str, int], *rest: Any, **options: Any) -> socket.socket:
        host, port = address
        if host not in trusted:
            found = [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
            if not found or not all(ipaddress.ip_address(place).is_global for place in found):
                raise OSError("it redirects to an address that is not public")
            host = found[0]  # the one that was looked at, whatever the name stands for by now
        return socket.create_connection((host, port), *rest, **options)

    class Plain(HTTPHandler):
        def http_open(self, req: Request) -> Any:
            return self.do_open(_dialling(HTTPConnection, dial), req)

    class Secure(HTTPSHandler):
        def https_open(self, req: Request) -> Any:
            return self.do_open(_dialling(HTTPSConnection, dial), req)

    return Plain(), Secure()


def _dialling(kind: type[HTTPConnection], dial: Callable[..., socket.socket]) -> Any:
    def made(host: str, **options: Any) -> HTTPConnection:
        connection = kind(host, **options)
        connection._create_connection = dial  # type: ignore[attr-defined]  # noqa: SLF001 - the library has no other place for it
        return connection

    return made
