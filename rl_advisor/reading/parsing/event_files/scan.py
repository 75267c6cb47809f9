"""The path for records in no fixed order: find where they start by pattern, sort them by shape, decode each shape at once.

A record starts with its length (the upper half zero), a checksum of the length, and, in its data, the key of the wall
time. Records of one length whose bytes agree everywhere but in clock, step, value and checksum are of one shape: one of
them is decoded by hand, the others by numpy.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rl_advisor.reading.parsing.event_files.crc32c import constant, head_checksums, linear_rows, unmasked
from rl_advisor.reading.parsing.event_files.record import FRAME, HEAD, Record, decode
from rl_advisor.reading.parsing.wire import BadRecordError, Data

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.intp]
_TIME_KEY = 0x09
_MIXERS = np.frombuffer(os.urandom(1 << 14), np.uint64) | np.uint64(1)
"""Odd factors of the hash by which shapes are told apart; drawn anew so that no file can be made to collide."""
_WIDEST = 8 * _MIXERS.size
_FEWEST = 8
_MOST_LAYOUTS = 32
"""Places at which values stand in records of one length; each is looked for among all of them. Writers have a few."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Points of one tag: the record each came from (by its place in the window), steps, values, times."""

    tag: str
    record: Places
    step: npt.NDArray[np.float64]
    value: npt.NDArray[np.float64]
    time: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Marks:
    """Everything in a window that looks like a record: where it starts, how long its data are, and where chains of them end."""

    start: Places
    size: Places
    ends: Places
    """Indices of the records behind which no other follows at once."""

    def behind(self, at: int) -> int:
        """Return the index of the first record that does not start before ``at``."""
        return int(np.searchsorted(self.start, at))

    def chain(self, at: int, end: int) -> slice:
        """Return the records that follow each other from ``at`` on without a break and end by ``end``."""
        first = self.behind(at)
        if first >= self.start.size or self.start[first] != at:
            return slice(0)
        last = int(self.ends[np.searchsorted(self.ends, first)])
        fits = self.start[last] + self.size[last] + FRAME <= end
        return slice(first, last + int(fits))


def find_marks(buffer: Bytes) -> Marks:
    """Return everything in the window that looks like a record, by its key, its length and the checksum of its length."""
    if buffer.size < FRAME + 1:
        none = np.empty(0, np.intp)
        return Marks(none, none, none)
    marks = np.flatnonzero(buffer[HEAD:-4] == _TIME_KEY)
    lengths = _load(buffer, marks, "<u8").astype(np.uint64, copy=False)
    small = lengths < np.uint64(1 << 24)
    marks, lengths = marks[small], lengths[small]
    right = unmasked(_load(buffer, marks + 8, "<u4").astype(np.uint32, copy=False)) == head_checksums(lengths)
    starts, sizes = marks[right], lengths[right].astype(np.intp)
    follows = np.zeros(starts.size, bool)
    follows[:-1] = starts[:-1] + sizes[:-1] + FRAME == starts[1:]
    return Marks(starts, sizes, np.flatnonzero(~follows))


def _load(buffer: Bytes, places: Places, kind: str) -> npt.NDArray[np.generic]:
    """Return the numbers of that type at those places, aligned or not."""
    size = np.dtype(kind).itemsize
    overlapping: npt.NDArray[np.generic] = np.ndarray(max(buffer.size - size + 1, 0), kind, buffer, 0, (1,))
    return overlapping[places]


def batches(data: Data, buffer: Bytes, starts: Places, sizes: Places, *, verified: bool) -> tuple[list[Batch], Places, Places]:
    """Decode records that stand at ``starts``.

    Returns the points by tag; the starts of records that need decoding by hand; and those whose checksum is wrong.
    """
    found: list[Batch] = []
    odd: list[Places] = [np.empty(0, np.intp)]
    bad: list[Places] = [np.empty(0, np.intp)]
    order = np.argsort(sizes, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(sizes[order])) + 1):
        places, length = starts[group], int(sizes[group[0]]) if group.size else 0
        if group.size < _FEWEST or length > _WIDEST:
            odd.append(places)
            continue
        rows = np.ndarray((buffer.size - length + 1, length), np.uint8, buffer, 0, (1, 1))[places + HEAD]
        if verified:
            stored = unmasked(_load(buffer, places + HEAD + length, "<u4").astype(np.uint32, copy=False))
            right = linear_rows(rows) ^ np.uint32(constant(length)) == stored
            if not right.all():
                bad.append(places[~right])
                places, rows = places[right], rows[right]
        for item in _shapes(data, places, rows):
            (found.append if isinstance(item, Batch) else odd.append)(item)  # type: ignore[arg-type]
    return found, np.concatenate(odd), np.concatenate(bad)


def _shapes(data: Data, places: Places, rows: Bytes) -> Iterator[Batch | Places]:
    """Split records of one length into shapes; those without a shape come back as places."""
    length = rows.shape[1]
    padded = np.zeros((len(rows), -(-length // 8) * 8), np.uint8)
    padded[:, :length] = rows
    words = padded.view("<u8")
    left = np.arange(len(rows))
    for _ in range(_MOST_LAYOUTS):
        if left.size < _FEWEST:
            break
        event = _decoded(data, int(places[left[0]]), length)
        mask = _mask(event, padded.shape[1]) if event else None
        if event is None or mask is None:
            yield places[left[:1]]
            left = left[1:]
            continue
        same_width = _same_width(event, rows[left])
        now, later = left[same_width], left[~same_width]
        keys = ((words[now] & mask.view("<u8")) * _MIXERS[: words.shape[1]]).sum(axis=1)
        order = np.argsort(keys, kind="stable")
        for same in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1):
            member = now[same]
            shape = _decoded(data, int(places[member[0]]), length)
            own = _mask(shape, padded.shape[1]) if shape else None
            if shape is not None and own is not None and own.tobytes() == mask.tobytes():
                yield from _points(shape, places[member], rows[member])
            elif member[0] == left[0]:
                yield places[member]
            else:
                later = np.concatenate([later, member])
        left = later
    yield places[left]


def _same_width(event: Record, rows: Bytes) -> npt.NDArray[np.bool_]:
    """Return which rows write their step as the first row, whose event this is: not at all, or in as many bytes."""
    behind_time = min(event.time_at + 8, rows.shape[1] - 1)
    same: npt.NDArray[np.bool_] = rows[:, behind_time] == rows[0, behind_time]
    if event.step_width:
        high = rows[:, event.step_at : event.step_at + event.step_width] >= 0x80
        same = same & high[:, :-1].all(axis=1) & ~high[:, -1]
    return same


def _decoded(data: Data, at: int, length: int) -> Record | None:
    try:
        return decode(data, at + HEAD, at + HEAD + length)
    except BadRecordError:
        return None


def _mask(event: Record, size: int) -> Bytes | None:
    """Return the bits that records of this shape share, or None when the record holds something that has no fixed place."""
    if event.time_at < 0 or event.step_width > 8 or not event.values or any(v.at < 0 for v in event.values):
        return None
    mask = np.full(size, 0xFF, np.uint8)
    mask[event.time_at : event.time_at + 8] = 0
    if event.step_width:
        mask[event.step_at : event.step_at + event.step_width] = 0x80
    for value in event.values:
        mask[value.at : value.at + np.dtype(value.kind).itemsize] = 0
    return mask


def _points(shape: Record, places: Places, rows: Bytes) -> Iterator[Batch]:
    time = _column(rows, shape.time_at, "<f8")
    step = np.zeros(len(rows), np.uint64)
    for k in range(shape.step_width):
        step |= (rows[:, shape.step_at + k] & 0x7F).astype(np.uint64) << np.uint64(7 * k)
    for value in shape.values:
        yield Batch(value.tag, places, step.astype(np.float64), _column(rows, value.at, value.kind), time)


def _column(rows: Bytes, at: int, kind: str) -> npt.NDArray[np.float64]:
    return np.ascontiguousarray(rows[:, at : at + np.dtype(kind).itemsize]).view(kind)[:, 0].astype(np.float64)
