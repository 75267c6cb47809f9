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
def _shares(count: int) -> Words:
    """What a byte adds to the checksum, by how many bytes follow it: (count, 256)."""
    rows = np.empty((count, 256), np.uint32)
    rows[0] = np.arange(256)
    for _ in range(8):
        rows[0] = np.where(rows[0] & 1, (rows[0] >> 1) ^ np.uint32(_POLYNOMIAL), rows[0] >> 1)
    for k in range(1, count):
        rows[k] = rows[0][rows[k - 1] & 0xFF] ^ (rows[k - 1] >> 8)
    return rows


@cache
def _list(behind: int) -> list[int]:
    """The same where so many bytes follow, for one byte at a time."""
    return _shares(_BLOCK)[behind].tolist()  # type: ignore[no-any-return]


def linear_rows(rows: npt.NDArray[np.uint8], behind: int = 0) -> Words:
    """Return what every row of a (records, bytes) matrix adds to its record's checksum where ``behind`` bytes follow it."""
    length = rows.shape[1]
    table = _shares(max(_BLOCK, 1 << (length + behind - 1).bit_length()))  # few sizes
    total = np.zeros(len(rows), np.uint32)
    for k in range(length):
        total ^= table[length + behind - 1 - k].take(rows[:, k])
    return total


def checksum(data: bytes) -> int:
    """Return CRC-32C of one piece of bytes."""
    whole, crc = len(data) // _BLOCK, _ONES
    if whole >= _MANY:
        parts = linear_rows(np.frombuffer(data, np.uint8, whole * _BLOCK).reshape(whole, _BLOCK)).tolist()
        first, second, third, fourth = (_list(_BLOCK - 1 - k) for k in range(4))
        for part in parts:
            crc = first[crc & 0xFF] ^ second[crc >> 8 & 0xFF] ^ third[crc >> 16 & 0xFF] ^ fourth[crc >> 24] ^ part
        data = data[whole * _BLOCK :]
    last = _list(0)
    for byte in data:
        crc = last[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ _ONES


def masked(crc: int) -> int:
    """Return the form in which record files store a checksum."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & _ONES


def unmasked(stored: Words) -> Words:
    """Return the checksums behind their stored form."""
    bare = stored - np.uint32(_MASK_DELTA)
    return (bare >> np.uint32(17)) | (bare << np.uint32(15))
