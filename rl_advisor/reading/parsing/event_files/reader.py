"""Reads an event file window by window: cycles where the layout repeats, else by pattern, else record by record."""

import zlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np

from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.event_files import cycle as cycles
from rl_advisor.reading.parsing.event_files import scan
from rl_advisor.reading.parsing.event_files.points import Events
from rl_advisor.reading.parsing.event_files.record import FRAME, HEAD, decode, frame_length, intact
from rl_advisor.reading.parsing.unpacked import unzipped
from rl_advisor.reading.parsing.wire import BadRecordError

_WINDOW = 1 << 21
_PIECE = 1 << 17
_LONGEST = 1 << 28
_LARGE = 1 << 16
_GZIP_ROOM = 1 << 26
MOST_PACKED = 30
"""Times its size to which a packed event file may unpack: clocks and checksums differ in every record."""
_WORTH_IT = 8
"""Cycles in a row that pay for decoding the first one by hand."""


def read_events(path: Path, *, verified: bool = True) -> Events:
    """Read a whole event file; ``verified`` also checks the data checksum of every record that is kept.

    What is damaged or half-written becomes a hole; reading goes on behind it.
    """
    return _Reader(path, verified=verified).read()


class _Reader:
    """The state of one pass over a file: the window, and which path paid off last."""

    def __init__(self, path: Path, *, verified: bool) -> None:
        self.path, self.verified = path, verified
        self.found = Events()
        self.size = _GZIP_ROOM if _packed(path) else path.stat().st_size
        self.room = bytearray(min(2 * _WINDOW, self.size + FRAME))
        self.data = memoryview(self.room)[:0]
        """The window: what of the room is filled and not done with."""
        self.base = 0
        """Where in the file the window starts."""
        self.last = False
        """Whether nothing follows the window."""
        self.cycle: cycles.Cycle | None = None
        self.patience = 0
        """Windows for which no new cycle is looked for."""
        self.failures = 0
        self.marks: scan.Marks | None = None

    def read(self) -> Events:
        with _open(self.path) as stream:
            used = 0
            while not self.last:
                self._advance(stream, used)
                used = self._window()
        return self.found

    def _advance(self, stream: IO[bytes], used: int) -> None:
        """Drop what is done with and fill the room behind the rest; fresh memory costs more than this copy."""
        rest = len(self.data) - used
        self.room[:rest] = self.data[used:]
        self.base += used
        if rest * 2 > len(self.room):
            self.data.release()
            self.room += bytes(rest + _WINDOW)
        free = memoryview(self.room)[rest : rest + _WINDOW]
        filled = _fill(stream, free)
        self.last = filled < len(free)
        free.release()
        self.data = memoryview(self.room)[: rest + filled]

    def _window(self) -> int:
        """Decode what is whole in the window; return how many of its bytes are done with."""
        at, end = 0, len(self.data)
        self.marks = None
        buffer = np.frombuffer(self.data, np.uint8)
        while at < end:
            length = frame_length(self.data, at)
            behind = at + FRAME + length
            if length < 0 or length > _LONGEST or self.base + behind > self._size():
                if length < 0 and end - at < HEAD and not self.last:
                    return at
                at = self._damaged(at, headed=length >= 0)
            elif behind > end:
                if not self.last:
                    return at
                at = self._damaged(at, headed=True)
            elif self.cycle is not None and end - at < self.cycle.size and not self.last:
                return at
            elif length > _LARGE:
                self._one(at, behind)
                at = behind
            else:
                at = self._many(buffer, at)
        return at

    def _size(self) -> int:
        return 1 << 62 if _packed(self.path) else self.size

    def _many(self, buffer: scan.Bytes, at: int) -> int:
        """Decode from a record that is whole; return where the next one starts."""
        behind = self._cycles(buffer, at)
        return behind if behind > at else self._scan(buffer, at)

    def _cycles(self, buffer: scan.Bytes, at: int) -> int:
        if self.cycle is None:
            if self.patience:
                return at
            self.cycle = cycles.find_cycle(self.data, at, len(self.data))
            if self.cycle is None:
                self._lose_patience()
                return at
        cycle, total, place = self.cycle, 0, at
        while (stretch := cycles.repeats(buffer, place, cycle, max(1, _WINDOW // cycle.size))).count:
            room = max(self.size - self.base - place, 0) // cycle.size + 1
            table = self.found.open_table(cycle.tags, max(room, stretch.count))
            fitting = replace(stretch, count=min(stretch.count, table.room()))
            columns = cycles.columns(fitting, verified=self.verified)
            if not columns.step.size:
                break
            table.add(columns.step, columns.value, columns.time)
            total += columns.step.size
            place += columns.step.size * cycle.size
        if place + cycle.size <= len(self.data):
            self.cycle = None
            if total < _WORTH_IT:
                self._lose_patience()
            else:
                self.failures = 0
        return place

    def _lose_patience(self) -> None:
        self.failures += 1
        self.patience = min(1 << self.failures, 64)

    def _scan(self, buffer: scan.Bytes, at: int) -> int:
        """Decode the unbroken chain of records behind ``at``; return where it ends."""
        self.patience = max(0, self.patience - 1)
        marks = self._marks(buffer)
        kept = marks.chain(at, len(self.data))
        starts, sizes = marks.start[kept], marks.size[kept]
        if starts.size < _WORTH_IT:
            behind = at + FRAME + frame_length(self.data, at)
            self._one(at, behind)
            return behind
        found, odd, bad = scan.batches(self.data, buffer, starts, sizes, verified=self.verified)
        by_length = dict(zip(starts.tolist(), sizes.tolist(), strict=True))
        for place in sorted(bad.tolist()):
            self.found.add_hole(self.base + place, self.base + place + by_length[place] + FRAME, "damaged")
        found += [b for place in odd.tolist() for b in self._by_hand(place, place + by_length[place] + FRAME)]
        self._keep(found)
        return int(starts[-1] + sizes[-1] + FRAME)

    def _marks(self, buffer: scan.Bytes) -> scan.Marks:
        """Return what looks like a record in this window, looked for once."""
        if self.marks is None:
            self.marks = scan.find_marks(buffer)
        return self.marks

    def _keep(self, found: Iterable[scan.Batch]) -> None:
        by_tag: dict[str, list[scan.Batch]] = {}
        for batch in sorted(found, key=lambda b: int(b.record[0])):
            by_tag.setdefault(batch.tag, []).append(batch)
        for tag, group in by_tag.items():
            step, value, time, record = (np.concatenate([getattr(b, n) for b in group]) for n in ("step", "value", "time", "record"))
            order = np.argsort(record, kind="stable") if len(group) > 1 else slice(None)
            self.found.add_piece(tag, (step[order], value[order], time[order]))

    def _one(self, at: int, behind: int) -> None:
        self._keep(self._by_hand(at, behind))

    def _by_hand(self, at: int, behind: int) -> list[scan.Batch]:
        """Decode one record of any shape."""
        try:
            event = decode(self.data, at + HEAD, behind - 4)
        except BadRecordError:
            self.found.add_hole(self.base + at, self.base + behind, "damaged")
            return []
        kept = [v for v in event.values if v.number is not None or v.text is not None]
        if kept and self.verified and not intact(self.data, at + HEAD, behind - 4):
            self.found.add_hole(self.base + at, self.base + behind, "damaged")
            return []
        for value in kept:
            if value.text is not None:
                self.found.add_text(value.tag, event.step, value.text)
        step, time, place = np.array([float(event.step)]), np.array([event.time]), np.array([at])
        return [scan.Batch(v.tag, place, step, np.array([v.number]), time) for v in kept if v.number is not None]

    def _damaged(self, at: int, *, headed: bool) -> int:
        """Note a hole from ``at`` to the next place where a record starts; return that place."""
        marks = self._marks(np.frombuffer(self.data, np.uint8))
        first = marks.behind(at + 1)
        starts, sizes = marks.start[first:], marks.size[first:]
        fits = starts[self.base + starts + sizes + FRAME <= self._size()]
        torn = self.last and (headed or len(self.data) - at < HEAD)
        if fits.size:
            behind, why = int(fits[0]), "damaged"
        else:
            behind, why = len(self.data), "half-written" if torn else "damaged"
            if not self.last:
                behind = max(at + 1, behind - FRAME)
        self.found.add_hole(self.base + at, self.base + behind, why)
        return behind


def _open(path: Path) -> IO[bytes]:
    return unzipped(path, MOST_PACKED) if _packed(path) else confined_files.opened(path)


def _packed(path: Path) -> bool:
    return path.suffix == ".gz"


def _fill(stream: IO[bytes], free: memoryview) -> int:
    """Fill the memory as far as the stream goes and return how far; a torn packed file ends where it can no longer be unpacked."""
    filled = 0
    try:
        while filled < len(free) and (piece := stream.read(min(_PIECE, len(free) - filled))):
            free[filled : filled + len(piece)] = piece
            filled += len(piece)
    except (EOFError, zlib.error, OSError):
        free[filled] = 0  # a byte that no record starts with, so that the tear becomes a hole
        filled += 1
    return filled
