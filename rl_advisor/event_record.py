"""One record of a TensorBoard file, decoded by hand: the clock, the step, and the scalars and texts in it."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5
_FORMATS = {1: ("f", 5), 2: ("d", 6), 3: ("i", 7), 9: ("q", 10), 4: ("B", 7), 10: ("?", 11), 19: ("e", 13)}
"""Number of a TensorProto type -> its struct letter, and the field that holds its values one by one."""
_STRING = 7


class BadRecordError(ValueError):
    """The bytes of a record are no event."""


@dataclass(frozen=True)
class Value:
    """One value of an event: a number, or a text, or neither when it is an image, a histogram or the like."""

    tag: str
    plugin: str
    number: float | None
    text: bytes | None


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while at < end and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise BadRecordError("a number does not end")


def _fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """(field number, wire type, start, end) of every field; a varint's start is its value."""
    while at < end:
        key, at = _varint(data, at, end)
        wire = key & 7
        if wire == _VARINT:
            value, at = _varint(data, at, end)
            yield key >> 3, wire, value, at
            continue
        if wire == _BYTES:
            size, at = _varint(data, at, end)
        elif wire in (_EIGHT, _FOUR):
            size = 8 if wire == _EIGHT else 4
        else:
            raise BadRecordError(f"wire type {wire}")
        if at + size > end:
            raise BadRecordError("a field is longer than its record")
        yield key >> 3, wire, at, at + size
        at += size


def event(data: bytes, at: int, end: int) -> tuple[float, int, list[Value]]:
    """Wall time, step and values of the event in ``data[at:end]``.

    Raises:
        BadRecordError: the bytes are no event.

    """
    time, step, values = 0.0, 0, []
    for number, wire, a, b in _fields(data, at, end):
        if number == 1 and wire == _EIGHT:
            time = struct.unpack_from("<d", data, a)[0]
        elif number == 2 and wire == _VARINT:
            step = a - (a >> 63 << 64)
        elif number == 5 and wire == _BYTES:
            values += [_value(data, c, d) for n, w, c, d in _fields(data, a, b) if n == 1 and w == _BYTES]
    return time, step, values


def _value(data: bytes, at: int, end: int) -> Value:
    tag, plugin, number, text = "", "", None, None
    for field, wire, a, b in _fields(data, at, end):
        if field == 1 and wire == _BYTES:
            tag = data[a:b].decode("utf-8", "replace")
        elif field == 2 and wire == _FOUR:
            number = struct.unpack_from("<f", data, a)[0]
        elif field == 9 and wire == _BYTES:
            plugin = _plugin(data, a, b)
        elif field == 8 and wire == _BYTES:
            number, text = _tensor(data, a, b)
    return Value(tag, plugin, number, text)


def _plugin(data: bytes, at: int, end: int) -> str:
    for field, wire, a, b in _fields(data, at, end):
        if field == 1 and wire == _BYTES:
            names = [data[c:d] for n, w, c, d in _fields(data, a, b) if n == 1 and w == _BYTES]
            return names[0].decode("utf-8", "replace") if names else ""
    return ""


def _tensor(data: bytes, at: int, end: int) -> tuple[float | None, bytes | None]:
    """The single number, or the first text, of a TensorProto; neither when it holds several numbers."""
    kind = 0
    held: dict[int, bytes | int] = {}
    for field, wire, a, b in _fields(data, at, end):
        if field == 1 and wire == _VARINT:
            kind = a
        elif wire == _BYTES and field not in held:
            held[field] = data[a:b]
        elif wire == _VARINT:
            held[field] = a
        elif wire in (_FOUR, _EIGHT):
            held[field] = data[a:b]
    if kind == _STRING:
        text = held.get(8)
        return None, text if isinstance(text, bytes) else None
    return _number(kind, held), None


def _number(kind: int, held: dict[int, bytes | int]) -> float | None:
    if kind not in _FORMATS:
        return None
    letter, own_field = _FORMATS[kind]
    size = struct.calcsize("<" + letter)
    content = held.get(4)
    if isinstance(content, bytes) and len(content) == size:
        return float(struct.unpack("<" + letter, content)[0])
    single = held.get(own_field)
    if own_field in (5, 6):
        return float(struct.unpack("<" + letter, single)[0]) if isinstance(single, bytes) and len(single) == size else None
    return _integer(single, letter)


def _integer(single: bytes | int | None, letter: str) -> float | None:
    """The one varint of a packed or plain field, read as the tensor's type."""
    if isinstance(single, bytes):
        value, at = _varint(single, 0, len(single)) if single else (0, -1)
        if at != len(single):
            return None
        single = value
    if single is None:
        return None
    if letter == "e":
        return float(struct.unpack("<e", struct.pack("<H", single & 0xFFFF))[0])
    return float(single - (single >> 63 << 64))
