"""TensorBoard record files: from bytes to the points of every tag, going on behind damage."""

import gzip
import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import numpy.typing as npt

from rl_advisor.crc32c import checksum, masked
from rl_advisor.event_record import BadRecordError, event

_WINDOW = 8 << 20
_HEAD, _FRAME = 12, 16
MAX_TEXT = 1 << 20
MAX_TEXTS = 2_000
_LONGEST = 1 << 30


@dataclass
class Points:
    """The points of one tag in the order in which they were written."""

    step: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    time: list[float] = field(default_factory=list)


@dataclass
class Events:
    """What an event file holds."""

    scalars: dict[str, Points] = field(default_factory=lambda: defaultdict(Points))
    texts: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    """Tag -> (step, text), at most MAX_TEXTS in all, each cut at MAX_TEXT."""
    holes: list[tuple[int, int, str]] = field(default_factory=list)
    """(first byte, byte behind the last, why) of what could not be read."""
    plugins: dict[str, str] = field(default_factory=dict)


def open_bytes(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked when it is gzipped."""
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def _all_bytes(path: Path) -> bytes:
    """What can be unpacked: a torn or damaged gzip file gives what stands before the damage."""
    pieces = []
    with open_bytes(path) as stream:
        try:
            while piece := stream.read(_WINDOW):
                pieces.append(piece)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            pieces.append(b"\0")
    return b"".join(pieces)


def read_events(path: Path) -> Events:
    """Everything an event file holds; damage becomes a hole."""
    found = Events()
    data = _all_bytes(path)
    at = 0
    while at < len(data):
        end, why = _frame(data, at)
        if not why:
            why = _take(found, data, at + _HEAD, end - 4)
        if why == "half-written":
            behind = _resume(data, at + 1)
            found.holes.append((at, behind, why if behind == len(data) else "damaged"))
            at = behind
        elif why:
            behind = end if why == "checksum" else _resume(data, at + 1)
            found.holes.append((at, behind, "damaged"))
            at = behind
        else:
            at = end
    return found


def _length(data: bytes, at: int) -> int:
    """Length of the record that starts here, or -1 where its own checksum says that none does."""
    head = data[at : at + 8]
    right = len(head) == 8 and masked(checksum(head)) == int.from_bytes(data[at + 8 : at + _HEAD], "little")
    return int.from_bytes(head, "little") if right else -1


def _frame(data: bytes, at: int) -> tuple[int, str]:
    """Where the record that starts here ends, and what is wrong with it."""
    if at + _HEAD > len(data):
        return len(data), "half-written"
    size = _length(data, at)
    if size < 0 or size > _LONGEST:
        return at, "length"
    end = at + _FRAME + size
    return (end, "") if end <= len(data) else (len(data), "half-written")


def _resume(data: bytes, at: int) -> int:
    """The next place behind ``at`` where a record starts; the end of the data when there is none."""
    while (mark := data.find(b"\x09", at + _HEAD)) >= 0:
        at = mark - _HEAD
        if data[at + 4 : at + 8] == b"\0\0\0\0" and 0 < _length(data, at) <= len(data) - at:
            return at
        at += 1
    return len(data)


def _take(found: Events, data: bytes, at: int, end: int) -> str:
    """Keep the values of one record; what is wrong with it, or nothing."""
    try:
        time, step, values = event(data, at, end)
    except BadRecordError:
        return "checksum"
    kept = [v for v in values if v.number is not None or v.text is not None]
    if kept and masked(checksum(data[at:end])) != int.from_bytes(data[end : end + 4], "little"):
        return "checksum"
    for value in kept:
        if value.plugin:
            found.plugins.setdefault(value.tag, value.plugin)
        if value.number is not None:
            points = found.scalars[value.tag]
            points.step.append(step)
            points.value.append(value.number)
            points.time.append(time)
        elif value.text is not None and sum(map(len, found.texts.values())) < MAX_TEXTS:
            found.texts[value.tag].append((step, value.text[:MAX_TEXT].decode("utf-8", "replace")))
    return ""


def arrays(points: Points) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Steps, values and wall times as float64."""
    return np.array(points.step, np.float64), np.array(points.value, np.float64), np.array(points.time, np.float64)
