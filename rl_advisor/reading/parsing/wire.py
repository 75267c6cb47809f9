"""The fields of a protobuf message, walked by hand: what event files and W&B run files are made of."""

from collections.abc import Iterator

Data = bytes | memoryview
VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5
"""Wire types."""


class BadRecordError(ValueError):
    """The bytes are no message."""


def varint(data: Data, at: int, end: int) -> tuple[int, int]:
    """Return the number that starts here and where it ends."""
    value = shift = 0
    while at < end and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise BadRecordError("a number does not end")


def fields(data: Data, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield field number, wire type, start and end of every field.

    Raises:
        BadRecordError: the bytes are no message.

    """
    while at < end:
        key, at = varint(data, at, end)
        wire = key & 7
        if wire == VARINT:
            size = varint(data, at, end)[1] - at
        elif wire == BYTES:
            size, at = varint(data, at, end)
        elif wire in (EIGHT, FOUR):
            size = 8 if wire == EIGHT else 4
        else:
            raise BadRecordError(f"wire type {wire}")
        if at + size > end:
            raise BadRecordError("a field is longer than its record")
        yield key >> 3, wire, at, at + size
        at += size


def inside(data: Data, at: int, end: int, *path: int) -> Iterator[tuple[int, int]]:
    """Yield where the messages or texts begin and end that lie under these field numbers, one inside the other; raises as ``fields``."""
    for number, wire, a, b in fields(data, at, end):
        if number == path[0] and wire == BYTES:
            yield from inside(data, a, b, *path[1:]) if path[1:] else ((a, b),)
