"""CRC-32C, the checksum of record files. It is linear: what each byte adds depends only on how many bytes follow it."""

from functools import cache

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]
_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8
_BLOCK = 64
_MANY = 64
"""Blocks from which numpy takes them at once."""
_ONES = 0xFFFFFFFF


@cache
def _byte_table() -> Words:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(_POLYNOMIAL), table >> 1).astype(np.uint32)
    return table


@cache
def _byte_list() -> list[int]:
    return [int(x) for x in _byte_table()]


_table = [_byte_table()[None]]
"""What a byte adds to the checksum, by how many bytes follow it: one table, made longer when a longer record comes."""


def shares(count: int) -> Words:
    """Return what a byte adds to the checksum, by how many bytes follow it: at least (count, 256)."""
    known = _table[0]
    if len(known) < count:
        rows = np.empty((max(_BLOCK, 2 * count), 256), np.uint32)
        rows[: len(known)] = known
        step = _byte_table()
        for k in range(len(known), len(rows)):
            rows[k] = step[rows[k - 1] & 0xFF] ^ (rows[k - 1] >> 8)
        _table[0] = rows
    return _table[0]


def linear_rows(rows: npt.NDArray[np.uint8], behind: int = 0) -> Words:
    """Return what every row of a (records, bytes) matrix adds to its record's checksum where ``behind`` bytes follow it."""
    length = rows.shape[1]
    table = shares(length + behind)
    total = np.zeros(len(rows), np.uint32)
    for k in range(length):
        total ^= table[length + behind - 1 - k].take(rows[:, k])
    return total


def _advance(crc: int, data: bytes) -> int:
    table = _byte_list()
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc


def checksum(data: bytes) -> int:
    """Return CRC-32C of one piece of bytes."""
    whole = len(data) // _BLOCK
    crc = _ONES
    if whole >= _MANY:
        parts = linear_rows(np.frombuffer(data, np.uint8, whole * _BLOCK).reshape(whole, _BLOCK)).tolist()
        first, second, third, fourth = (shares(_BLOCK)[_BLOCK - 1 - k].tolist() for k in range(4))
        for part in parts:
            crc = first[crc & 0xFF] ^ second[crc >> 8 & 0xFF] ^ third[crc >> 16 & 0xFF] ^ fourth[crc >> 24] ^ part
        data = data[whole * _BLOCK :]
    return _advance(crc, data) ^ _ONES


def masked(crc: int) -> int:
    """Return the form in which record files store a checksum."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & _ONES


def unmasked(stored: Words) -> Words:
    """Return the checksums behind their stored form."""
    bare = stored - np.uint32(_MASK_DELTA)
    return (bare >> np.uint32(17)) | (bare << np.uint32(15))
