"""Messages of Thrift's compact protocol, walked by hand: the footer of Parquet, of which the library dies where it is damaged.

Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from typing import Any

from rl_advisor.reading.parsing.wire import BadRecordError, Data, varint

DEEPEST = 32
TRUE, FALSE, TEXT, LIST, SET, STRUCT = 1, 2, 8, 9, 10, 12
NUMBERS = (4, 5, 6)
SIZES = {TRUE: 1, FALSE: 1, 3: 1, 7: 8}
"""Bytes of yes, no, a byte, and a number with a point."""


def message(data: Data, at: int = 0, deep: int = 0) -> tuple[dict[int, Any], int]:
    """Return the fields of the message that starts here, by their numbers, and where it ends.

    Raises:
        BadRecordError: the bytes are no message.

    """
    if deep > DEEPEST:
        raise BadRecordError("messages within messages without end")
    found: dict[int, Any] = {}
    number, end = 0, len(data)
    while at < end:
        head, at = data[at], at + 1
        if not head:
            return found, at
        if head >> 4:
            number += head >> 4
        else:
            number, at = _number(data, at)
        found[number], at = (None, at) if head & 15 in (TRUE, FALSE) else _value(data, at, head & 15, deep)
    raise BadRecordError("a message does not end")


def _number(data: Data, at: int) -> tuple[int, int]:
    value, at = varint(data, at, len(data))
    return value >> 1 ^ -(value & 1), at


def _value(data: Data, at: int, kind: int, deep: int) -> tuple[Any, int]:
    if kind in NUMBERS:
        return _number(data, at)
    if kind == STRUCT:
        return message(data, at, deep + 1)
    if kind in (LIST, SET) and at < len(data):
        size, each, at = data[at] >> 4, data[at] & 15, at + 1
        if size == 15:
            size, at = varint(data, at, len(data))
        items = []
        for _ in range(size):
            item, at = _value(data, at, each, deep + 1)
            items.append(item)
        return items, at
    if kind == TEXT:
        size, at = varint(data, at, len(data))
    elif kind in SIZES:
        size = SIZES[kind]
    else:
        raise BadRecordError(f"a value of kind {kind}")
    if at + size > len(data):
        raise BadRecordError("a value is longer than its message")
    return None, at + size
