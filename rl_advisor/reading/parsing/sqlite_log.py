"""A SQLite database with the rows that still stand in its write-ahead log, put together in memory: nothing is created beside it."""

import struct
from pathlib import Path

from rl_advisor.reading.parsing import confined_files

LARGEST, LONGEST = 256 << 20, 64 << 20
"""Bytes of a database that is put together in memory, and of its log."""
_HEAD, _FRAME = 32, 24
_MAGIC = {0x377F0682: "<", 0x377F0683: ">"}
_JOURNAL = slice(18, 20)
"""Where a database says that it has a log; one in memory may not."""


def whole(base: bytes, log: bytes) -> bytes:
    """The database after all that was committed to its log; pages behind the first damaged frame do not count."""
    if len(log) < _HEAD or (order := _MAGIC.get(struct.unpack(">I", log[:4])[0])) is None:
        return _alone(bytearray(base))
    size, salts = struct.unpack(">I", log[8:12])[0], log[16:24]
    sums = _summed(log[:24], (0, 0), order)
    if not 512 <= size <= 65536 or sums != struct.unpack(">II", log[24:32]):
        return _alone(bytearray(base))
    pages: dict[int, bytes] = {}
    done, pending, end = bytearray(base), pages, 0
    for at in range(_HEAD, len(log) - _FRAME - size + 1, _FRAME + size):
        head, page = log[at : at + _FRAME], log[at + _FRAME : at + _FRAME + size]
        number, committed = struct.unpack(">II", head[:8])
        sums = _summed(page, _summed(head[:8], sums, order), order)
        if head[8:16] != salts or sums != struct.unpack(">II", head[16:24]) or not 0 < number * size <= LARGEST:
            break
        pending[number] = page
        if committed:
            end = min(committed * size, LARGEST)
            done.extend(bytes(max(0, end - len(done))))
            for place, held in pending.items():
                done[(place - 1) * size : place * size] = held
            pending.clear()
    return _alone(done[:end] if end else done)


def _alone(base: bytearray) -> bytes:
    base[_JOURNAL] = b"\x01\x01"
    return bytes(base)


def _summed(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    """The checksum of SQLite's logs, carried on."""
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second


def read(path: Path) -> tuple[bytes, bytes] | None:
    """The bytes of the database and of its log; None where there is no log, or too much of either."""
    if not 0 < size(path) <= LONGEST or path.stat().st_size > LARGEST:
        return None
    with confined_files.opened(path) as base, confined_files.opened(_beside(path)) as written:
        return base.read(LARGEST), written.read(LONGEST)


def size(path: Path) -> int:
    """Bytes of the database's log; 0 where it has none."""
    log = _beside(path)
    return log.stat().st_size if log.is_file() else 0


def _beside(path: Path) -> Path:
    return path.with_name(path.name + "-wal")
