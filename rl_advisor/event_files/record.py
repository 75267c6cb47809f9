"""One record of an event file, decoded by hand: the clock, the step, the scalars and texts in it, and where they stand."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from rl_advisor.event_files.crc32c import checksum, masked

Data = bytes | memoryview
HEAD, FRAME = 12, 16
"""Bytes before the data of a record, and all bytes of a record that are not data."""
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5
_FIXED = {1: ("<f4", "f", 4, 5), 2: ("<f8", "d", 8, 6), 3: ("<i4", "i", 4, 0), 9: ("<i8", "q", 8, 0), 19: ("<f2", "e", 2, 0)}
"""TensorProto type -> numpy type, struct letter, bytes, and the field that holds such values one by one."""
_VARINT_FIELDS = {3: 7, 4: 7, 9: 10, 10: 11}
_STRING, _CONTENT, _STRINGS = 7, 4, 8
_SCALAR_PLUGINS = ("", "scalars")


class BadRecordError(ValueError):
    """The bytes of a record are no event."""


@dataclass(frozen=True)
class Value:
    """One value of an event: a number, or a text, or neither when it is an image, a histogram or the like."""

    tag: str
    number: float | None = None
    text: bytes | None = None
    at: int = -1
    """Where the number stands, behind the start of the record's data; -1 when its bytes are no plain number."""
    kind: str = ""
    """The numpy type of the number that stands there."""


@dataclass(frozen=True)
class Event:
    """One record. Places count from the start of its data; -1 means that it is not written."""

    time: float
    step: int
    values: list[Value]
    time_at: int
    step_at: int
    step_width: int


def frame_length(data: Data, at: int) -> int:
    """Length of the data of the record that starts here, or -1 where its own checksum says that none does."""
    head = bytes(data[at : at + 8])
    right = len(data) - at >= HEAD and masked(checksum(head)) == int.from_bytes(data[at + 8 : at + HEAD], "little")
    return int.from_bytes(head, "little") if right else -1


def intact(data: Data, start: int, end: int) -> bool:
    """Whether the data between ``start`` and ``end`` fits the checksum behind it."""
    return masked(checksum(bytes(data[start:end]))) == int.from_bytes(data[end : end + 4], "little")


def _varint(data: Data, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while at < end and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise BadRecordError("a number does not end")


def _fields(data: Data, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """(field number, wire type, start, end) of every field."""
    while at < end:
        key, at = _varint(data, at, end)
        wire = key & 7
        if wire == _VARINT:
            size = _varint(data, at, end)[1] - at
        elif wire == _BYTES:
            size, at = _varint(data, at, end)
        elif wire in (_EIGHT, _FOUR):
            size = 8 if wire == _EIGHT else 4
        else:
            raise BadRecordError(f"wire type {wire}")
        if at + size > end:
            raise BadRecordError("a field is longer than its record")
        yield key >> 3, wire, at, at + size
        at += size


def decode(data: Data, start: int, end: int) -> Event:
    """Decode the event in ``data[start:end]``.

    Raises:
        BadRecordError: the bytes are no event.

    """
    time, step, values = 0.0, 0, []
    time_at = step_at = -1
    width = 0
    for number, wire, a, b in _fields(data, start, end):
        if number == 1 and wire == _EIGHT:
            time, time_at = struct.unpack_from("<d", data, a)[0], a - start
        elif number == 2 and wire == _VARINT:
            step, step_at, width = _signed(_varint(data, a, b)[0]), a - start, b - a
        elif number == 5 and wire == _BYTES:
            values += [_value(data, c, d, start) for n, w, c, d in _fields(data, a, b) if n == 1 and w == _BYTES]
    return Event(time, step, values, time_at, step_at, width)


def _signed(value: int) -> int:
    return value - (value >> 63 << 64)


def _value(data: Data, at: int, end: int, start: int) -> Value:
    tag, plugin, found = "", "", Value("")
    for field, wire, a, b in _fields(data, at, end):
        if field == 1 and wire == _BYTES:
            tag = bytes(data[a:b]).decode("utf-8", "replace")
        elif field == 2 and wire == _FOUR:
            found = Value("", struct.unpack_from("<f", data, a)[0], None, a - start, "<f4")
        elif field == 9 and wire == _BYTES:
            plugin = _plugin(data, a, b)
        elif field == 8 and wire == _BYTES:
            found = _tensor(data, a, b, start)
    if found.number is not None and plugin not in _SCALAR_PLUGINS:
        return Value(tag)
    return Value(tag, found.number, found.text, found.at, found.kind)


def _plugin(data: Data, at: int, end: int) -> str:
    for field, wire, a, b in _fields(data, at, end):
        if field == 1 and wire == _BYTES:
            names = [bytes(data[c:d]) for n, w, c, d in _fields(data, a, b) if n == 1 and w == _BYTES]
            return names[0].decode("utf-8", "replace") if names else ""
    return ""


def _tensor(data: Data, at: int, end: int, start: int) -> Value:
    """Return the single number, or the first text, of a TensorProto; neither when it holds several numbers."""
    kind = 0
    places: dict[int, tuple[int, int, int]] = {}
    for field, wire, a, b in _fields(data, at, end):
        if field == 1 and wire == _VARINT:
            kind = _varint(data, a, b)[0]
        else:
            places.setdefault(field, (wire, a, b))
    if kind == _STRING and _STRINGS in places:
        _, a, b = places[_STRINGS]
        return Value("", None, bytes(data[a:b]))
    if kind in _FIXED:
        dtype, letter, size, field = _FIXED[kind]
        for wire, a, b in (places[f] for f in (_CONTENT, field) if f in places):
            if wire != _VARINT and b - a == size:
                return Value("", float(struct.unpack_from("<" + letter, data, a)[0]), None, a - start, dtype)
    wire, a, b = places.get(_VARINT_FIELDS.get(kind, -1), (_VARINT, 0, 0))
    if b > a:
        value, behind = _varint(data, a, b)
        return Value("", float(_signed(value))) if behind == b else Value("")
    return Value("")
