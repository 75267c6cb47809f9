"""Rows out of JSON lines of strangers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
