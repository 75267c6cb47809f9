"""Rows out of JSON lines of strangers, and a way to read a row without decoding the long text in it."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from rl_advisor.reading.parsing.bytes_in import byte_lines, json_object

LONGEST = 16 << 20
"""Longest line read, in bytes; a longer one counts as corrupt."""
Row = dict[str, Any]


def json_lines(path: Path) -> Iterator[tuple[int, bytes | None]]:
    """Line number (from 0) and line; None for one longer than LONGEST. Blank lines count but are not given."""
    for number, line in enumerate(byte_lines(path, LONGEST + 1)):
        if not line.isspace():
            yield number, line if len(line) <= LONGEST else None


def decoded(line: bytes) -> Row | None:
    """The object a line holds, or None."""
    return json_object(line) or None


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
        start, stop = line.find(self.start) + len(self.start), line.rfind(self.end)
        if not len(self.start) <= start <= stop:
            return None
        if self.next and (line[stop + len(self.end) :].strip() or line.find(self.next, start) >= 0):
            return None
        with suppress(orjson.JSONDecodeError):
            row = orjson.loads(line[:start] + line[stop:])
            return (row, stop - start) if isinstance(row, dict) and tuple(row) == self.names else None
        return None


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
        brief = cut.brief(line)
        if brief and brief[0] == {**row, name: ""}:
            return cut
    return None
