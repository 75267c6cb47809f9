"""What is said between a caller and its worker: a letter for the kind, eight bytes for the length, and JSON or bytes."""

import socket
import struct

CALL, PROGRESS, RESULT, BYTES, ERROR = b"C", b"P", b"R", b"B", b"E"
_HEAD = struct.Struct("!cQ")


class Torn(Exception):  # noqa: N818 - it names what happened
    """The other side has gone."""


def send(channel: socket.socket, kind: bytes, payload: bytes) -> None:
    """Say it; raises ``OSError`` when nobody listens."""
    channel.sendall(_HEAD.pack(kind, len(payload)) + payload)


def receive(channel: socket.socket, longest: int) -> tuple[bytes, bytes]:
    """The kind and what was said.

    Raises:
        Torn: the other side has gone.
        OverflowError: it is longer than ``longest`` bytes.
    """
    kind, length = _HEAD.unpack(_exactly(channel, _HEAD.size))
    if length > longest:
        raise OverflowError(f"more than {longest:,} bytes")
    return kind, _exactly(channel, length)


def _exactly(channel: socket.socket, size: int) -> bytes:
    held = bytearray()
    while len(held) < size:
        more = channel.recv(min(size - len(held), 1 << 20))
        if not more:
            raise Torn
        held += more
    return bytes(held)
