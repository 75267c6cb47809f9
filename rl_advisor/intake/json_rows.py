"""Rows out of JSON lines of strangers, and a way to read a row without decoding the long text in it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from rl_advisor.intake.bytes_in import whole_text

LONGEST = 16 << 20
"""Longest line read, in bytes; a longer one counts as corrupt."""


def json_lines(path: Path, longest: int | None = None) -> Iterator[tuple[int, bytes | None]]:
    """Line number (from 0) and line; None for one longer than ``longest`` (LONGEST). Blank lines count but are not given."""
    limit = LONGEST if longest is None else longest
    with path.open("rb", buffering=1 << 20) as file:
        number = 0
        while line := file.readline(limit):
            whole = line.endswith(b"\n") or len(line) < limit
            if not whole:
                yield number, None
                _skip_line(file, limit)
            elif line.strip():
                yield number, line
            number += 1


def _skip_line(file: BinaryIO, limit: int) -> None:
    while (rest := file.readline(limit)) and not rest.endswith(b"\n"):
        pass


def decoded(line: bytes) -> dict[str, Any] | None:
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
    names: tuple[str, ...]

    def brief(self, line: bytes) -> tuple[dict[str, Any], int] | None:
        """The row with an empty text, and the text's size in bytes as written; None when the line is not built like the others."""
        first, last = line.find(self.start), line.rfind(self.end)
        begin = first + len(self.start)
        if first < 0 or last < begin:
            return None
        try:
            row = orjson.loads(line[:begin] + line[last:])
        except orjson.JSONDecodeError:
            return None
        return (row, last - begin) if isinstance(row, dict) and tuple(row) == self.names else None


def cut_of(row: dict[str, Any], line: bytes, name: str) -> Cut | None:
    """How to skip the text of that name in lines like this one; None when it is no text, or the last of its row."""
    names = tuple(row)
    if not isinstance(row.get(name), str) or name == names[-1]:
        return None
    this, following = (orjson.dumps(n) for n in (name, names[names.index(name) + 1]))
    for colon, comma in ((b":", b","), (b": ", b", ")):
        cut = Cut(this + colon + b'"', b'"' + comma + following + b":", names)
        if (found := cut.brief(line)) is not None and found[0] == {**row, name: ""}:
            return cut
    return None
