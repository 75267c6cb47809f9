"""One record of an event file, decoded by hand: the clock, the step, the scalars and texts in it, and where they stand."""

import struct
from typing import NamedTuple

import numpy as np

from rl_advisor.reading.parsing.event_files.crc32c import checksum, masked
from rl_advisor.reading.parsing.wire import BYTES, EIGHT, FOUR, VARINT, Data, fields, inside, varint

HEAD, FRAME = 12, 16
"""Bytes before the data of a record, and all bytes of a record that are not data."""
_FIXED = {1: ("<f4", 5), 2: ("<f8", 6)}
"""TensorProto type -> numpy type, and the field that holds such values one by one. Scalars are never written as others."""
_STRING, _CONTENT, _STRINGS = 7, 4, 8
_SCALAR_PLUGINS = (b"", b"scalars")
_WIDEST_STEP = 8
"""Bytes of a step that has a layout; negative ones take ten."""


class Value(NamedTuple):
    """One value of an event: a number, or a text, or neither when it is an image, a histogram or the like."""

    tag: str = ""
    number: float | None = None
    text: bytes | None = None
    at: int = -1
    """Where the number stands, behind the start of the record's data; -1 when its bytes are no plain number."""
    kind: str = ""
    """The numpy type of the number that stands there."""


class Layout(NamedTuple):
    """Where in a record's data stands what differs between records of one kind."""

    time: int
    step: int
    width: int
    """Bytes of the step; 0 where none is written."""
    numbers: tuple[tuple[int, str], ...]
    """Place and numpy type of each value."""


class Record(NamedTuple):
    """One record: the wall time, the step, the values; and the layout, None where something in it has no fixed place."""

    time: float
    step: int
    values: list[Value]
    layout: Layout | None


def frame_length(data: Data, at: int) -> int:
    """Length of the data of the record that starts here, or -1 where its own checksum says that none does."""
    head = bytes(data[at : at + 8])
    right = len(data) - at >= HEAD and masked(checksum(head)) == int.from_bytes(data[at + 8 : at + HEAD], "little")
    return int.from_bytes(head, "little") if right else -1


def intact(data: Data, start: int, end: int) -> bool:
    """Whether the data between ``start`` and ``end`` fits the checksum behind it."""
    return masked(checksum(bytes(data[start:end]))) == int.from_bytes(data[end : end + 4], "little")


def decode(data: Data, start: int, end: int) -> Record:
    """Decode the event in ``data[start:end]``.

    Raises:
        BadRecordError: the bytes are no event.

    """
    time, step, width, values = 0.0, 0, 0, list[Value]()
    time_at = step_at = -1
    for number, wire, a, b in fields(data, start, end):
        if number == 1 and wire == EIGHT:
            time, time_at = struct.unpack_from("<d", data, a)[0], a - start
        elif number == 2 and wire == VARINT:
            step, step_at, width = varint(data, a, b)[0], a - start, b - a
            step -= step >> 63 << 64  # it has a sign
        elif number == 5 and wire == BYTES:
            values += [_value(data, c, d, start) for c, d in inside(data, a, b, 1)]
    fixed = time_at >= 0 and width <= _WIDEST_STEP and values and all(v.at >= 0 for v in values)
    return Record(time, step, values, Layout(time_at, step_at, width, tuple((v.at, v.kind) for v in values)) if fixed else None)


def _value(data: Data, at: int, end: int, start: int) -> Value:
    tag, plugin, found = "", b"", Value()
    for field, wire, a, b in fields(data, at, end):
        if field == 1 and wire == BYTES:
            tag = bytes(data[a:b]).decode("utf-8", "replace")
        elif field == 2 and wire == FOUR:
            found = Value("", struct.unpack_from("<f", data, a)[0], None, a - start, "<f4")
        elif field == 9 and wire == BYTES:
            plugin = next((bytes(data[c:d]) for c, d in inside(data, a, b, 1, 1)), b"")
        elif field == 8 and wire == BYTES:
            found = _tensor(data, a, b, start)
    if found.number is not None and plugin not in _SCALAR_PLUGINS:
        return Value(tag)
    return found._replace(tag=tag)


def _tensor(data: Data, at: int, end: int, start: int) -> Value:
    """Return the single number, or the first text, of a TensorProto; neither when it holds several numbers."""
    kind = 0
    places: dict[int, tuple[int, int, int]] = {}
    for field, wire, a, b in fields(data, at, end):
        if field == 1 and wire == VARINT:
            kind = varint(data, a, b)[0]
        else:
            places.setdefault(field, (wire, a, b))
    if kind == _STRING and _STRINGS in places:
        _, a, b = places[_STRINGS]
        return Value("", None, bytes(data[a:b]))
    if kind in _FIXED:
        dtype, field = _FIXED[kind]
        for wire, a, b in (places[f] for f in (_CONTENT, field) if f in places):
            if wire != VARINT and b - a == np.dtype(dtype).itemsize:
                return Value("", float(np.frombuffer(data, dtype, 1, a)[0]), None, a - start, dtype)
    return Value()
