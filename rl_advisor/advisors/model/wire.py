"""The line to a model provider: it leads to the server that was named and to no other, and an answer on it has an end."""

from collections.abc import Iterator
from typing import Any

LONGEST_ANSWER = 8 << 20
"""Bytes of one answer, with all that a stream wraps around its words: a token takes some 300, and a turn writes 8,000."""


def bounded(http: Any, seconds: float) -> Any:
    """A client of the library ``http`` that follows no redirect, and fails where an answer grows longer than any, or is packed."""

    class Stream(http.SyncByteStream):  # type: ignore[misc]
        """The bytes of an answer, counted."""

        def __init__(self, stream: Any) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            """Each piece; raises the library's ``ReadError`` behind the last that is allowed."""
            came = 0
            for piece in self._stream:
                came += len(piece)
                if came > LONGEST_ANSWER:
                    raise http.ReadError("the answer came to no end")
                yield piece

        def close(self) -> None:
            self._stream.close()

    class Transport(http.HTTPTransport):  # type: ignore[misc]
        """As the library's own, with every answer counted."""

        def handle_request(self, request: Any) -> Any:
            """The answer."""
            request.headers["Accept-Encoding"] = "identity"
            answer = super().handle_request(request)
            if answer.headers.get("Content-Encoding", "identity") != "identity":
                answer.close()
                raise http.ReadError("the answer is packed, which nobody asked for")
            answer.stream = Stream(answer.stream)
            return answer

    return http.Client(transport=Transport(), timeout=seconds, follow_redirects=False)
