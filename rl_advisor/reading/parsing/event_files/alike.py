"""Records that are written alike are read at once: where clock, step, values and checksum stand is learnt from one of them.

What the checksum says without the share of those bytes depends on the other bytes alone: records of one length in which it is the same
have the same tags, and are whole. So nothing but what differs is looked at, and a byte that all share is put right where it is damaged.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from rl_advisor.reading.parsing.event_files.crc32c import checksum, linear_rows, unmasked
from rl_advisor.reading.parsing.event_files.record import FRAME, HEAD, Layout, Record, decode, intact
from rl_advisor.reading.parsing.wire import BadRecordError

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.intp]
Points = tuple[Places, npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""Where in the window the records stand, their steps, values and wall times."""
Known = dict[tuple[int, Layout, int], tuple[str, ...]]
"""The tags of records by length, layout, and what the checksum says of the bytes that do not change."""
_TIME_KEY = 0x09
_WIDEST = 1 << 14
"""Bytes of records that are looked at many at once."""
_FEWEST = 4
_MOST_LAYOUTS = 16
"""Layouts of records of one length; each is looked for among all of them. Writers have a few."""


class Window:
    """The whole records of a piece of a file."""

    def __init__(self, data: bytes, known: Known) -> None:
        """``known`` is what the windows before have shown; it grows."""
        self.data, self.buffer, self.known = data, np.frombuffer(data, np.uint8), known
        self.odd: list[tuple[int, Record]] = []
        """Records that were read by themselves, by place."""
        self.bad: list[tuple[int, int]] = []
        """First byte, and the one behind the last, of records whose checksum is wrong."""
        self._decoded: dict[int, Record | None] = {}

    def find_records(self) -> tuple[Places, Places]:
        """Where starts what looks like a record, by its key, its length and the checksum of its length; and how long its data are."""
        places = np.flatnonzero(self.buffer[HEAD:-4] == _TIME_KEY)
        lengths = _numbers(self.buffer, places, "<u8")
        small = np.flatnonzero(lengths < 1 << 24)
        places, lengths = places[small], lengths[small]
        head = linear_rows(lengths[:, None].view(np.uint8)[:, :3], 5) ^ np.uint32(checksum(bytes(8)))
        right = unmasked(_numbers(self.buffer, places + 8, "<u4")) == head
        return places[right], lengths[right].astype(np.intp)

    def read(self, starts: Places, sizes: Places) -> dict[str, list[Points]]:
        """The points of each tag in the records that stand there."""
        found: dict[str, list[Points]] = {}
        order = np.argsort(np.minimum(sizes, _WIDEST + 1).astype(np.uint16), kind="stable")  # small numbers: sorted by their digits
        for group in np.split(order, np.flatnonzero(np.diff(sizes[order])) + 1):
            if group.size:
                for tag, points in self._of_length(starts[group], int(sizes[group[0]])):
                    found.setdefault(tag, []).append(points)
        for place, record in self.odd:
            for value in (v for v in record.values if v.number is not None):
                point = np.array([[record.step], [value.number], [record.time]], np.float64)
                found.setdefault(value.tag, []).append((np.array([place]), *point))
        return found

    def _of_length(self, places: Places, length: int) -> Iterator[tuple[str, Points]]:
        """The points of records of one length: by layout, one after the other, the rest by itself."""
        rows = _numbers(self.buffer, places + HEAD, f"V{length + 4}").view(np.uint8).reshape(places.size, -1) if length <= _WIDEST else None
        left = np.arange(places.size)
        for _ in range(_MOST_LAYOUTS):
            while left.size and ((record := self._record(int(places[left[0]]), length)) is None or record.layout is None):
                self._by_itself(places[left[:1]], length)
                left = left[1:]
            if left.size < _FEWEST or rows is None or record is None or record.layout is None:
                break
            layout = record.layout
            same = _same_step(rows, layout, int(left[0]))[left]
            later, now = [left[~same]], left[same]
            for rest, group, (step, time, *values) in _alike(rows[now] if now.size < len(rows) else rows, layout):
                if tags := self._tags(int(places[now[group[0]]]), length, layout, rest):
                    for tag, value in zip(tags, values, strict=True):
                        yield tag, (places[now[group]], step, value, time)
                else:
                    later.append(now[group])
            left = np.sort(np.concatenate(later))
        self._by_itself(places[left], length)

    def _record(self, place: int, length: int) -> Record | None:
        """The record that stands there, decoded; None where it is damaged."""
        if place not in self._decoded:
            start, end = place + HEAD, place + HEAD + length
            try:
                record = decode(self.data, start, end)
            except BadRecordError:
                record = None
            if record and any(v.number is not None or v.text is not None for v in record.values) and not intact(self.data, start, end):
                record = None
            self._decoded[place] = record
        return self._decoded[place]

    def _by_itself(self, places: Places, length: int) -> None:
        for place in places.tolist():
            if (record := self._record(place, length)) is None:
                self.bad.append((place, place + length + FRAME))
            else:
                self.odd.append((place, record))

    def _tags(self, place: int, length: int, layout: Layout, rest: int) -> tuple[str, ...]:
        """The tags of a group of records, one of which stands there; none where that one is damaged or has another layout."""
        key = length, layout, rest
        if key not in self.known:
            record = self._record(place, length)
            if record is None or record.layout != layout:
                return ()
            self.known[key] = tuple(value.tag for value in record.values)
        return self.known[key]


def _numbers(buffer: Bytes, places: Places, kind: str) -> npt.NDArray[Any]:
    """What of that type stands at those places, aligned or not."""
    overlapping: npt.NDArray[Any] = np.ndarray(max(buffer.size - np.dtype(kind).itemsize + 1, 0), kind, buffer, 0, (1,))
    return overlapping[places]


def _column(rows: Bytes, at: int, kind: str) -> npt.NDArray[Any]:
    """The numbers of that type that stand there in every row."""
    return np.ascontiguousarray(rows[:, at : at + np.dtype(kind).itemsize]).view(kind)[:, 0]


def _same_step(rows: Bytes, layout: Layout, one: int) -> npt.NDArray[np.bool_]:
    """Which rows write their step as this one does: not at all, or in as many bytes."""
    at, mask = (layout.step, 0x80) if layout.width else (layout.time + 8, 0xFF)
    same = np.ones(len(rows), np.bool_)
    for k in range(at, at + max(layout.width, 1)):
        same &= (rows[:, k] ^ rows[one, k]) & np.uint8(mask) == 0
    return same


def _alike(rows: Bytes, layout: Layout) -> Iterator[tuple[int, Places, list[npt.NDArray[np.float64]]]]:
    """What the checksum says of the unchanging bytes, in which rows it says that, and their steps, times and values."""
    length = rows.shape[1] - 4
    rest = unmasked(_column(rows, length, "<u4"))
    sizes = [(at, np.dtype(kind).itemsize) for at, kind in layout.numbers]
    for at, size in ((layout.time, 8), (layout.step, layout.width), *sizes):
        rest ^= linear_rows(rows[:, at : at + size], length - at - size)
    step = np.zeros(len(rows), np.uint64)
    for k in range(layout.width):
        step |= (rows[:, layout.step + k] & 0x7F).astype(np.uint64) << np.uint64(7 * k)
    keys = np.sort(rest.astype(np.uint64) << np.uint64(32) | np.arange(rest.size, dtype=np.uint64))  # an argsort, four times as fast
    order, rest = (keys & np.uint64(0xFFFFFFFF)).astype(np.intp), (keys >> np.uint64(32)).astype(np.uint32)
    columns = [step, _column(rows, layout.time, "<f8"), *(_column(rows, at, kind) for at, kind in layout.numbers)]
    columns = [column[order].astype(np.float64) for column in columns]
    for start, end in pairwise([0, *(np.flatnonzero(np.diff(rest)) + 1).tolist(), rest.size]):
        yield int(rest[start]), order[start:end], [column[start:end] for column in columns]
