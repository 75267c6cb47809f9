"""Reads a growing run again and again, at the cost of what was appended since the last time."""

from __future__ import annotations

import re
import struct
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from rl_advisor.reading import format_of, part_of, read_with
from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.bytes_in import GZIP_MAGIC, ZSTD_MAGIC
from rl_advisor.reading.parsing.request import Request
from rl_advisor.reading.restarts import behind
from rl_advisor.run import Run

START = 512
"""First bytes by which a file that was written anew is told from one that has grown."""
_COPY = 1 << 20
_LINE = re.compile(rb"(?<=\n)")
_LENGTH, _FRAME = 8, 16
"""Bytes of a record's length, and of all that stands around its data."""


@dataclass(frozen=True)
class _Seen:
    """What one file held when it was last read."""

    inode: int
    size: int
    changed: int
    start: bytes
    end: int
    """Where the last whole line, record or block ended; what follows is waited for, and of a block shown as far as it has come."""
    part: Run | None
    """What stands before that."""
    shown: Run | None


class Follower:
    """A run that is still being written; each ``read`` gives all of it and decodes only what is new.

    Lines and records that are half-written are left for the next time. Files that cannot be continued (packed ones, JSON documents,
    tables of completions) are read anew when their size or time changed.
    """

    def __init__(self, path: Path | str, *, mapping: Mapping[str, str] | None = None) -> None:
        """Nothing is read yet; ``mapping`` is that of ``read_run``."""
        self._path, self._mapping = Path(path), mapping or {}
        self._seen: dict[tuple[Path, bool], _Seen] = {}
        self.decoded = 0
        """Bytes decoded by the last ``read``."""

    def read(self) -> Run:
        """The run as it is now; raises what ``read_run`` raises."""
        self.decoded = 0
        return read_with(self._part, self._path, self._mapping)

    def _part(self, path: Path, ask: Request) -> Run | None:
        status, seen = path.stat(), self._seen.get((path, ask.last_resort))
        if seen is not None and (seen.inode, seen.size, seen.changed) == (status.st_ino, status.st_size, status.st_mtime_ns):
            return seen.shown
        with confined_files.opened(path) as file:
            start = file.read(START)
        grown = seen is not None and seen.inode == status.st_ino and status.st_size >= seen.size and start.startswith(seen.start)
        module = format_of(path, ask)
        packed = start.startswith((GZIP_MAGIC, ZSTD_MAGIC, b"\xff\xfe", b"\xfe\xff"))
        kind: str | re.Pattern[bytes] | None = None if packed or ask.last_resort else getattr(module, "APPENDED", None)
        if module is None or kind is None or (kind == "table" and not _header(path)):
            self.decoded += status.st_size if module else 0
            end, part = 0, None
            shown = part_of(path, ask)
        else:
            goes_on = seen is not None and grown and seen.part is not None and seen.part.axis != "row" and not seen.part.others
            part, begin = (seen.part, seen.end) if seen is not None and goes_on else (None, 0)
            end = _whole_end(path, kind, begin, status.st_size)
            part = part if end == begin else _joined(part, self._piece(module, path, ask, begin, end))
            last = end if isinstance(kind, str) else _whole_end(path, "lines", end, status.st_size)
            shown = part if part is not None and last == end else _joined(part, self._piece(module, path, ask, end, last))
        self._seen[path, ask.last_resort] = _Seen(status.st_ino, status.st_size, status.st_mtime_ns, start, end, part, shown)
        return shown

    def _piece(self, module: object, path: Path, ask: Request, begin: int, end: int) -> Run:
        """What the bytes from ``begin`` to ``end`` hold; a table's header is put before them."""
        self.decoded += end - begin
        read = module.read  # type: ignore[attr-defined]
        if begin == 0 and end == path.stat().st_size:
            found: Run = read(path, ask)
            return found
        with tempfile.TemporaryDirectory() as folder, confined_files.opened(path) as file:
            copy = Path(folder) / path.name
            with copy.open("wb") as out:
                if begin and getattr(module, "APPENDED", "") == "table":
                    _copied(file, out, _header(path))
                file.seek(begin)
                _copied(file, out, end - begin)
            more: Run = read(copy, ask)
        return replace(more, events=tuple(replace(event, line=0) for event in more.events)) if begin else more


def _copied(file: IO[bytes], out: IO[bytes], size: int) -> None:
    while size > 0 and (piece := file.read(min(size, _COPY))):
        out.write(piece)
        size -= len(piece)


def _header(path: Path) -> int:
    """Bytes of the lines before the first row of a table: comments and the names; 0 where there are no names."""
    with confined_files.opened(path) as file:
        while (line := file.readline(_COPY)).startswith(b"#"):
            pass
        return file.tell() if re.search(rb"[^\W\d]", line) else 0


def _whole_end(path: Path, kind: str | re.Pattern[bytes], begin: int, size: int) -> int:
    """Where the last whole line, record or block at or behind ``begin`` ends; more is looked at as long as no such place is found."""
    with confined_files.opened(path) as file:
        if kind == "records":
            return _record_end(file, begin, size)
        mark, width = kind if isinstance(kind, re.Pattern) else _LINE, _COPY
        while True:
            at = max(begin, size - width)
            file.seek(at)
            if starts := [match.start() for match in mark.finditer(file.read(size - at))]:
                return at + starts[-1]
            if at == begin:
                return begin
            width *= 4


def _record_end(file: IO[bytes], begin: int, size: int) -> int:
    at = begin
    while at + _FRAME <= size:
        file.seek(at)
        behind_it = at + _FRAME + struct.unpack("<Q", file.read(_LENGTH))[0]
        if behind_it > size:
            break
        at = behind_it
    return at


def _joined(before: Run | None, more: Run) -> Run:
    """The part with what was appended behind it."""
    import pandas as pd

    if before is None:
        return more
    tables = [t for t in (before.telemetry, more.telemetry) if len(t)]
    telemetry = pd.concat(tables, ignore_index=True) if len(tables) > 1 else (tables or [before.telemetry])[0]
    return replace(behind(before, more), telemetry=telemetry, files=before.files)
