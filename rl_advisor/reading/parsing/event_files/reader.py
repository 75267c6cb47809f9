"""Reads an event file window by window: chains of records, and behind damage on from the next thing that looks like a record."""

import zlib
from collections import defaultdict
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.event_files.alike import Known, Places, Window
from rl_advisor.reading.parsing.event_files.record import FRAME, HEAD, frame_length
from rl_advisor.reading.parsing.unpacked import unzipped

Floats = npt.NDArray[np.float64]
Piece = tuple[Floats, Floats, Floats]
"""Steps, values and wall times."""
MAX_TEXT = 1 << 20
MAX_TEXTS = 2_000
MAX_HOLES = 1_000
_WINDOW = 1 << 21
_PIECE = 1 << 17
_LONGEST = 1 << 28
MOST_PACKED = 30
"""Times its size to which a packed event file may unpack: clocks and checksums differ in every record."""


class Events:
    """What an event file holds, in the order of writing: points and texts by tag, and what could not be read."""

    def __init__(self, size: int) -> None:
        """Nothing is read yet; no record can end behind ``size``."""
        self._size, self._base = size, 0
        """``_base``: where in the file the window starts."""
        self._known: Known = {}
        self._pieces: dict[str, list[Piece]] = defaultdict(list)
        self.texts: dict[str, str] = {}
        """The first of each tag, cut at MAX_TEXT, of at most MAX_TEXTS tags."""
        self.holes: list[tuple[int, int, str]] = []
        """(first byte, byte behind the last, why) of what could not be read."""

    def scalars(self) -> dict[str, Piece]:
        """Take the steps, values and wall times of every tag out, each in the order of writing."""
        joined = {}
        while self._pieces:
            tag, pieces = self._pieces.popitem()
            joined[tag] = pieces[0] if len(pieces) == 1 else tuple(np.concatenate(column) for column in zip(*pieces, strict=True))
        return dict(reversed(joined.items()))  # type: ignore[arg-type]

    def read(self, stream: IO[bytes]) -> None:
        """Read to the end."""
        rest, last = b"", False
        while not last:
            pieces, last = _pieces(stream, max(_WINDOW, len(rest)))
            data = b"".join((rest, *pieces))
            used = self._read_window(data, last=last)
            self._base += used
            rest = data[used:]

    def _read_window(self, data: bytes, *, last: bool) -> int:
        """Decode what is whole in the window; return how many of its bytes are done with."""
        window, size = Window(data, self._known), len(data)
        starts, sizes = window.find_records()
        keep = self._base + starts + sizes + FRAME <= self._size
        starts, sizes = starts[keep], sizes[keep]
        ends = starts + sizes + FRAME
        chain_ends = np.flatnonzero(np.append(starts[1:], -1) != ends)
        chains: list[tuple[Places, Places]] = []
        holes: list[tuple[int, int, str]] = []
        at = 0
        while at < size:
            first = int(np.searchsorted(starts, at))
            if first < starts.size and starts[first] == at:
                behind = int(chain_ends[np.searchsorted(chain_ends, first)]) + 1
                behind -= int(ends[behind - 1] > size)
                if behind > first:
                    chains.append((starts[first:behind], sizes[first:behind]))
                    at = int(ends[behind - 1])
                    continue
            length = frame_length(data, at)
            end = at + FRAME + length
            possible = 0 <= length <= _LONGEST and self._base + end <= self._size
            if possible and end <= size:
                chains.append((np.array([at]), np.array([length])))
            elif not last and (possible or (length < 0 and size - at < HEAD)):
                break
            else:
                end, why = self._next_record(starts, at, size, last=last, headed=length >= 0)
                holes.append((at, end, why))
            at = end
        self._keep(window, chains, holes)
        return at

    @staticmethod
    def _next_record(starts: Places, at: int, size: int, *, last: bool, headed: bool) -> tuple[int, str]:
        """Where the next record starts behind damage, and what to call the damage."""
        later = int(np.searchsorted(starts, at + 1))
        if later < starts.size:
            return int(starts[later]), "damaged"
        if not last:
            return max(at + 1, size - FRAME), "damaged"
        return size, "half-written" if headed or size - at < HEAD else "damaged"

    def _keep(self, window: Window, chains: list[tuple[Places, Places]], holes: list[tuple[int, int, str]]) -> None:
        """Add what the records of these chains hold, in the order of writing."""
        if chains:
            for tag, found in window.read(*(np.concatenate(column) for column in zip(*chains, strict=True))).items():
                place, step, value, time = (np.concatenate(column) for column in zip(*found, strict=True)) if len(found) > 1 else found[0]
                order = np.argsort(place, kind="stable") if len(found) > 1 else slice(None)
                self._pieces[tag].append((step[order], value[order], time[order]))
        for _, record in sorted(window.odd, key=lambda item: item[0]):
            for said in record.values:
                if said.text is not None and len(self.texts) < MAX_TEXTS:
                    self.texts.setdefault(said.tag, said.text[:MAX_TEXT].decode("utf-8", "replace"))
        for start, end, why in sorted(holes + [(start, end, "damaged") for start, end in window.bad]):
            first = self._base + start
            if self.holes and self.holes[-1][1:] == (first, why):  # neighbours become one
                first = self.holes.pop()[0]
            if len(self.holes) < MAX_HOLES:
                self.holes.append((first, self._base + end, why))


def read_events(path: Path) -> Events:
    """Read a whole event file; what is damaged or half-written becomes a hole, and reading goes on behind it."""
    packed = path.suffix == ".gz"
    found = Events(1 << 62 if packed else path.stat().st_size)
    with unzipped(path, MOST_PACKED) if packed else confined_files.opened(path) as stream:
        found.read(stream)
    return found


def _pieces(stream: IO[bytes], wanted: int) -> tuple[list[bytes], bool]:
    """So many bytes, and whether these are the last; a torn packed file ends where it can no longer be unpacked."""
    pieces, size = [], 0
    try:
        while size < wanted and (piece := stream.read(min(_PIECE, wanted - size))):
            pieces.append(piece)
            size += len(piece)
    except (EOFError, zlib.error, OSError):
        return [*pieces, b"\0"], True  # no record starts with it: the tear becomes a hole
    return pieces, size < wanted
