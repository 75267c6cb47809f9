"""The fast path: trainers log the same tags at every step, so a file is one cycle of records over and over.

The first cycle is decoded by hand. Those behind it are compared with it as one (cycles, bytes) matrix; where everything but
clock, step, value and checksum is the same bytes, the columns are read straight out of that matrix.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from rl_advisor.reading.parsing.event_files.crc32c import constant, linear_rows, pair_shares, shares, unmasked
from rl_advisor.reading.parsing.event_files.record import FRAME, HEAD, Record, decode, frame_length
from rl_advisor.reading.parsing.wire import BadRecordError, Data

_LONGEST = 5_000
_WIDEST = 8
_FEW = 1 << 11
"""Numbers for which large tables do not pay."""
Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Cycle:
    """The records of one step. Places count from the start of the cycle and have one entry a record."""

    tags: tuple[str, ...]
    size: int
    template: Bytes
    fixed: Bytes
    """Bits of the template that every cycle shares."""
    start: Places
    length: Places
    time: Places
    step: Places
    value: Places
    width: int
    kind: str


@dataclass(frozen=True, eq=False)
class Columns:
    """What stands in some cycles: steps (cycles,), values and times (records, cycles)."""

    step: npt.NDArray[np.float64]
    value: npt.NDArray[np.float64]
    time: npt.NDArray[np.float64]


def find_cycle(data: Data, at: int, end: int) -> Cycle | None:
    """Return the cycle that starts here, or None when the records up to the first repeated tag are not all alike."""
    events: list[tuple[int, int, Record]] = []
    seen: set[str] = set()
    place = at
    while place < end and len(events) < _LONGEST:
        length = frame_length(data, place)
        behind = place + FRAME + length
        if length < 0 or behind > end:
            return None
        try:
            event = decode(data, place + HEAD, place + HEAD + length)
        except BadRecordError:
            return None
        if not _plain(event):
            return None
        tag = event.values[0].tag
        if seen and tag == events[0][2].values[0].tag:
            return _cycle(data, at, place, events)
        if tag in seen or (events and not _alike(event, events[0][2])):
            return None
        seen.add(tag)
        events.append((place - at, length, event))
        place = behind
    return None


def _plain(event: Record) -> bool:
    return len(event.values) == 1 and event.values[0].at >= 0 and event.time_at >= 0 and event.step_width <= _WIDEST


def _alike(one: Record, other: Record) -> bool:
    return one.step == other.step and one.step_width == other.step_width and one.values[0].kind == other.values[0].kind


def _cycle(data: Data, at: int, end: int, events: list[tuple[int, int, Record]]) -> Cycle:
    start = np.array([e[0] for e in events], np.intp)
    length = np.array([e[1] for e in events], np.intp)
    first = events[0][2]
    width, kind = first.step_width, first.values[0].kind
    inside = start + HEAD
    time, step, value = (
        inside + np.array(places, np.intp)
        for places in zip(*((e[2].time_at, e[2].step_at, e[2].values[0].at) for e in events), strict=True)
    )
    fixed = np.full(end - at, 0xFF, np.uint8)
    for places, count, bits in ((time, 8, 0), (step, width, 0x80), (value, np.dtype(kind).itemsize, 0), (inside + length, 4, 0)):
        for k in range(count):
            fixed[places + k] = bits
    template = np.frombuffer(data, np.uint8, end - at, at).copy()
    tags = tuple(e[2].values[0].tag for e in events)
    return Cycle(tags, end - at, template, fixed, start, length, time, step, value, width, kind)


@dataclass(frozen=True, eq=False)
class Stretch:
    """``count`` cycles that stand in ``buffer`` behind ``at``."""

    buffer: Bytes
    at: int
    cycle: Cycle
    count: int

    def gather(self, places: Places, kind: str) -> npt.NDArray[Any]:
        """Return (records, cycles) of the numbers of that type at those places, aligned or not."""
        size = np.dtype(kind).itemsize
        shape = (self.count, self.cycle.size - size + 1)
        overlapping: npt.NDArray[Any] = np.ndarray(shape, kind, self.buffer, self.at, (self.cycle.size, 1))
        return overlapping[:, places].T

    def steps(self) -> npt.NDArray[np.uint64]:
        """Return (records, cycles) of the steps as they are written, cut to their width; zeros when none is written."""
        width = self.cycle.width
        if not width:
            return np.zeros((1, self.count), np.uint64)
        return self.gather(self.cycle.step, "<u8") & np.uint64((1 << 8 * width) - 1)


def repeats(buffer: Bytes, at: int, cycle: Cycle, most: int) -> Stretch:
    """Return the cycles, at most ``most``, that stand behind ``at`` without a break."""
    count = min((buffer.size - at) // cycle.size, most)
    total, rows_at_once = 0, max(1, (1 << 18) // cycle.size)
    while total < count:
        rows = min(rows_at_once, count - total)
        begin = at + total * cycle.size
        block = buffer[begin : begin + rows * cycle.size].reshape(rows, cycle.size) ^ cycle.template
        block &= cycle.fixed
        broken = np.flatnonzero(block.max(axis=1))
        if broken.size:
            return Stretch(buffer, at, cycle, total + int(broken[0]))
        total += rows
    return Stretch(buffer, at, cycle, total)


def columns(stretch: Stretch, *, verified: bool) -> Columns:
    """Read the cycles; fewer come back when a step differs inside a cycle or, if ``verified``, a checksum is wrong."""
    cycle = stretch.cycle
    time, value, raw = stretch.gather(cycle.time, "<u8"), stretch.gather(cycle.value, cycle.kind), stretch.steps()
    right = (raw == raw[0]).all(axis=0)
    if verified:
        right &= _intact(stretch, time, value, raw[0])
    wrong = np.flatnonzero(~right)
    kept = int(wrong[0]) if wrong.size else stretch.count
    return Columns(_varints(raw[0][:kept], cycle.width), value[:, :kept].astype(np.float64), time[:, :kept].view(np.float64))


def _varints(raw: npt.NDArray[np.uint64], width: int) -> npt.NDArray[np.float64]:
    value = np.zeros(raw.shape, np.uint64)
    for k in range(width):
        value |= (raw >> np.uint64(8 * k) & np.uint64(0x7F)) << np.uint64(7 * k)
    return value.astype(np.float64)


def _intact(stretch: Stretch, time: npt.NDArray[Any], value: npt.NDArray[Any], step: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Return which cycles have right data checksums throughout.

    The checksum is linear: that of a record is that of the template with every varying byte zeroed, plus a table entry for
    each varying byte that depends on how many bytes follow it.
    """
    cycle = stretch.cycle
    stored = unmasked(stretch.gather(cycle.start + HEAD + cycle.length, "<u4").astype(np.uint32, copy=False))
    expected = np.empty(stored.shape, np.uint32)
    step_bytes = step.view(np.uint8).reshape(stretch.count, 8)
    for shape in _shapes(cycle):
        rows = shape.rows
        expected[rows] = shape.base[:, None] ^ _step_share(step_bytes, shape.step_to_end, cycle.width)
        _add_share(expected, rows, time, shape.time_to_end)
        _add_share(expected, rows, value, shape.value_to_end)
    right: npt.NDArray[np.bool_] = (expected == stored).all(axis=0)
    return right


@dataclass(frozen=True, eq=False)
class _Shape:
    """Records of a cycle that share their tables: how far from the end of the data clock, step and value start."""

    rows: list[int]
    base: npt.NDArray[np.uint32]
    """Checksums of the records with all varying bytes zero."""
    time_to_end: int
    step_to_end: int
    value_to_end: int


@lru_cache(maxsize=2)
def _shapes(cycle: Cycle) -> list[_Shape]:
    end = cycle.start + HEAD + cycle.length
    found: dict[tuple[int, ...], list[int]] = {}
    for k, key in enumerate(np.stack([cycle.length, end - cycle.time, end - cycle.step, end - cycle.value], axis=1).tolist()):
        found.setdefault(tuple(key), []).append(k)
    return [_Shape(rows, _base(cycle, rows, length), *places) for (length, *places), rows in found.items()]


def _base(cycle: Cycle, rows: list[int], length: int) -> npt.NDArray[np.uint32]:
    inside = (cycle.start[rows] + HEAD)[:, None] + np.arange(length)
    still = np.where(cycle.fixed[inside] == 0xFF, cycle.template[inside], 0).astype(np.uint8)
    return linear_rows(still) ^ np.uint32(constant(length))


def _step_share(step_bytes: Bytes, to_end: int, width: int) -> npt.NDArray[np.uint32]:
    total = np.zeros(len(step_bytes), np.uint32)
    for k in range(width):
        total ^= shares(to_end)[to_end - 1 - k][step_bytes[:, k]]
    return total


def _add_share(expected: npt.NDArray[np.uint32], rows: list[int], numbers: npt.NDArray[Any], to_end: int) -> None:
    """Add the table entries of numbers that start ``to_end`` bytes before the end of their record's data."""
    mine = np.ascontiguousarray(numbers[rows])
    if mine.size < _FEW:
        single = mine.view(np.uint8).reshape(*mine.shape, -1)
        behind = to_end - 1 - np.arange(single.shape[2])
        expected[rows] ^= np.bitwise_xor.reduce(shares(to_end)[behind, single], axis=2)
        return
    pairs = mine.view("<u2").reshape(*mine.shape, -1)
    for k in range(pairs.shape[2]):
        expected[rows] ^= pair_shares(to_end - 2 * k - 2)[pairs[:, :, k]]
