"""Rows out of JSON lines of strangers, and a way to read a row without decoding the long text in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

import orjson

from rl_advisor.intake.bytes_in import open_bytes, whole_text

LONGEST = 16 << 20
"""Longest line read, in bytes; a longer one counts as corrupt."""
BATCH_BYTES = 1 << 20
"""Bytes of the lines that are looked at together."""
Row = dict[str, Any]


def json_lines(path: Path) -> Iterator[tuple[int, bytes | None]]:
    """Line number (from 0) and line; None for one longer than LONGEST. Blank lines count but are not given."""
    return chain.from_iterable(line_batches(path))


def line_batches(path: Path) -> Iterator[list[tuple[int, bytes | None]]]:
    """``json_lines``, as many at a time as stand in BATCH_BYTES. A packed file that is torn ends where it is torn."""
    batch: list[tuple[int, bytes | None]] = []
    size = number = 0
    with open_bytes(path) as file:
        while line := _line(file):
            if len(line) == LONGEST and not line.endswith(b"\n"):
                batch.append((number, None))
                _skip_line(file)
            elif not line.isspace():
                batch.append((number, line))
            number += 1
            size += len(line)
            if size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
    yield batch


def _line(file: IO[bytes]) -> bytes:
    try:
        return file.readline(LONGEST)
    except (EOFError, OSError):
        return b""


def _skip_line(file: IO[bytes]) -> None:
    while (rest := _line(file)) and not rest.endswith(b"\n"):
        pass


def decoded(line: bytes) -> Row | None:
    """The object a line holds, or None."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        row = _lenient(line)
    return row if isinstance(row, dict) else None


def _lenient(line: bytes) -> Any:
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

    def brief(self, line: bytes) -> tuple[Row, int] | None:
        """The row with an empty text, and the text's size in bytes as written; None when the line is not built like the others."""
        return self.briefs([line])[0]

    def briefs(self, lines: Sequence[bytes]) -> list[tuple[Row, int] | None]:
        """``brief`` of each line; they are decoded together, which costs half of decoding them one by one."""
        spans = [self._span(line) for line in lines]
        known = [(line[: span[0]] + line[span[1] :], span[1] - span[0]) for line, span in zip(lines, spans, strict=True) if span]
        rows = iter(zip(_together([text for text, _ in known]), known, strict=True))
        found: list[tuple[Row, int] | None] = []
        for span in spans:
            row, (_, size) = next(rows) if span else (None, (b"", 0))
            found.append((row, size) if isinstance(row, dict) and tuple(row) == self.names else None)
        return found

    def _span(self, line: bytes) -> tuple[int, int] | None:
        """Where the text begins and ends in a line."""
        first = line.find(self.start)
        begin = first + len(self.start)
        if not self.next:
            last = line.rfind(self.end)
            return (begin, last) if first >= 0 and begin <= last else None
        whole = line.rstrip()
        last = len(whole) - len(self.end)
        ends = whole.endswith(self.end) and begin <= last
        return (begin, last) if first >= 0 and ends and line.find(self.next, begin, last + 1) < 0 else None


def _together(texts: Sequence[bytes]) -> list[Any]:
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
        if (found := cut.brief(line)) is not None and found[0] == {**row, name: ""}:
            return cut
    return None
