"""Rows out of JSON lines of strangers, and a way to read a row without decoding the long text in it."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import IO, Any, cast

import orjson

from rl_advisor.reading.parsing.bytes_in import open_bytes, say_torn, whole_text
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS

LONGEST = 16 << 20
"""Longest line read, in bytes; a longer one counts as corrupt."""
BLOCK = 2 << 20
"""Bytes that are read and looked at together."""
_OPENING = ord("{")
Row = dict[str, Any]


@dataclass(frozen=True)
class Block:
    """Some lines, left in the buffer they were read into, because to copy a long line costs more than to find its end.

    Good until the next block is asked for.
    """

    data: bytes | bytearray
    number: Sequence[int]
    """Of each line that is not blank, its number in the file."""
    spans: Sequence[tuple[int, int]]
    """Of each of these lines, where it begins and ends in the data."""
    too_long: int
    """Lines longer than LONGEST, which are left out."""
    lines: int
    """All of them, with those that are blank or too long."""

    def line(self, i: int) -> bytes:
        """The bytes of one line."""
        begin, end = self.spans[i]
        return bytes(self.data[begin:end])


def json_lines(path: Path) -> Iterator[tuple[int, bytes | None]]:
    """Line number (from 0) and line; None, with the number -1, for one longer than LONGEST. Blank lines count but are not given."""
    for block in blocks(path):
        yield from ((number, block.line(i)) for i, number in enumerate(block.number))
        yield from repeat((-1, None), block.too_long)


def blocks(path: Path) -> Iterator[Block]:
    """The lines of a file, about BLOCK bytes at a time. A packed file that is torn ends where it is torn."""
    data, held, number = bytearray(BLOCK), 0, 0
    with open_bytes(path) as file:
        while size := _fill(file, path, data, held):
            end = data.rfind(b"\n", held, held + size) + 1
            if end:
                yield (block := lines_of(data, number, end))
                number += block.lines
            rest = held + size - end
            data[:rest] = data[end : held + size]
            held = min(rest, LONGEST + 1)  # what a line has beyond is not needed to see that it is too long
            if 2 * held >= len(data):
                data.extend(bytes(len(data)))
    if held:
        data[held] = ord("\n")
        yield lines_of(data, number, held + 1)


def lines_of(data: bytes | bytearray, number: int, end: int) -> Block:
    """The lines that end before ``end``, the first of them having this number."""
    numbers, spans, too_long, begin, first = [], [], 0, 0, number
    while (stop := data.find(b"\n", begin, end)) >= 0:
        if stop - begin > LONGEST:
            too_long += 1
        elif data[begin] == _OPENING or data[begin:stop].strip():
            spans.append((begin, stop))
            numbers.append(number)
        number += 1
        begin = stop + 1
    return Block(data, numbers, spans, too_long, number - first)


def _fill(file: IO[bytes], path: Path, data: bytearray, held: int) -> int:
    """Read on behind what is held, until the data are full; how many bytes that were, fewer where the file ends or is torn."""
    size, reading = 0, cast("io.BufferedReader", file).readinto1
    try:
        while held + size < len(data) and (more := reading(memoryview(data)[held + size :])):
            size += more
    except PACK_ERRORS:
        say_torn(path)
    return size


def decoded(line: bytes | bytearray) -> Row | None:
    """The object a line holds, or None."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        row = _lenient(line)
    return row if isinstance(row, dict) else None


def _lenient(line: bytes | bytearray) -> Any:
    """The line by the slower standard reader, which knows NaN and Infinity and forgives bytes that are no UTF-8."""
    import json

    try:
        return whole_text(json.loads(line.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True)
class Cut:
    """Where a long text begins and ends in every line of a file.

    The marks hold unescaped quotation marks on both sides of a name, so they cannot occur inside a JSON string.
    """

    start: bytes
    end: bytes
    """What follows the text: its closing quote and the next name, or the end of the row when the text is the last of it."""
    names: tuple[str, ...]
    next: bytes = b""
    """What another field after the text would begin with; only where the text is the last."""

    def brief(self, line: bytes) -> Any:
        """The row with an empty text; None when the line is not built like the others."""
        rows, _ = self.briefs(lines_of(line + b"\n", 0, len(line) + 1))
        return rows[0] if rows else None

    def briefs(self, block: Block) -> tuple[list[Any], list[int | None]]:
        """``brief`` of each line, and the text's size in bytes as written. Rows decoded together cost half of what they cost one by one."""
        sizes: list[int | None] = []
        texts, data = [], block.data
        for begin, end in block.spans:
            start, stop = self._span(data, begin, end)
            texts.append(data[begin:start] + data[stop:end] if start <= stop else b"null")
            sizes.append(stop - start)
        return [row if isinstance(row, dict) and tuple(row) == self.names else None for row in _together(texts)], sizes

    def _span(self, data: bytes | bytearray, begin: int, end: int) -> tuple[int, int]:
        """Where the text begins and ends in the line that begins and ends there; an end before the beginning when it is not found."""
        start, stop = data.find(self.start, begin, end) + len(self.start), data.rfind(self.end, begin, end)
        found = start >= begin + len(self.start)
        if found and self.next:
            found = not data[stop + len(self.end) : end].strip() and data.find(self.next, start, end) < 0
        return (start, stop) if found else (0, -1)


def rows_of(block: Block, cut: Cut | None) -> tuple[list[Any], list[int | None]]:
    """The rows of the lines, and the size of the text that was skipped; both are None for a line that cannot be read.

    A line that the cut does not fit is read whole, and its size is None.
    """
    unknown: list[Any] = [None] * len(block.spans)
    rows, sizes = cut.briefs(block) if cut else (unknown, [*unknown])
    for i in [i for i, row in enumerate(rows) if row is None]:
        rows[i], sizes[i] = decoded(block.line(i)), None
    return rows, sizes


def _together(texts: Sequence[bytes | bytearray]) -> list[Any]:
    """The values of several JSON texts, None for one that is none. A 0 after each keeps two damaged ones from reading as one."""
    try:
        values = orjson.loads(b"[" + b",0,".join(texts) + b",0]") if texts else []
    except orjson.JSONDecodeError:
        values = []
    if len(values) == 2 * len(texts) and all(type(zero) is int for zero in values[1::2]):
        return values[::2]
    return [decoded(text) for text in texts]


def cut_of(row: Row, line: bytes, name: str) -> Cut | None:
    """How to skip the text of that name in lines like this one; None when it is no text."""
    names = tuple(row)
    if not isinstance(row.get(name), str):
        return None
    this = orjson.dumps(name)
    following = orjson.dumps(names[names.index(name) + 1]) if name != names[-1] else None
    for colon, comma in ((b":", b","), (b": ", b", ")):
        start = this + colon + b'"'
        cut = Cut(start, b'"' + comma + following + b":", names) if following else Cut(start, b'"}', names, b'"' + comma + b'"')
        if cut.brief(line) == {**row, name: ""}:
            return cut
    return None
