"""CRC-32C, the checksum of record files: of one record, and of many records at once because it is linear."""

from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]
_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8
_BLOCK = 64
_FEW = 1 << 15
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


@lru_cache(maxsize=128)
def pair_shares(behind: int) -> Words:
    """Return what two neighbouring bytes add, read as one little-endian number, when ``behind`` bytes follow the second: (65536,)."""
    table = shares(behind + 2)
    first, second = table[behind + 1], table[behind]
    both: Words = (second[:, None] ^ first[None, :]).ravel()
    return both


def linear_rows(rows: npt.NDArray[np.uint8]) -> Words:
    """Return the linear part of the checksum of every row of a (records, bytes) matrix."""
    length = rows.shape[1]
    table = shares(length)
    if rows.size < _FEW:
        few: Words = np.bitwise_xor.reduce(table[np.arange(length)[::-1], rows], axis=1)
        return few
    total = np.zeros(len(rows), np.uint32)
    for k in range(length):
        total ^= table[length - 1 - k][rows[:, k]]
    return total


@cache
def constant(length: int) -> int:
    """Return what turns the linear part into the checksum: the checksum of ``length`` zero bytes."""
    table, crc = _byte_list(), _ONES
    for _ in range(length):
        crc = table[crc & 0xFF] ^ (crc >> 8)
    return crc ^ _ONES


def _advance(crc: int, data: bytes) -> int:
    table = _byte_list()
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc


def checksum(data: bytes) -> int:
    """Return CRC-32C of one piece of bytes."""
    whole = len(data) // _BLOCK
    crc = _ONES
    if whole >= 2:
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


def head_checksums(lengths: npt.NDArray[np.uint64]) -> Words:
    """Return CRC-32C of lengths below 2**24, each written as eight bytes."""
    table = shares(8)
    low, middle, high = lengths & np.uint64(0xFF), lengths >> np.uint64(8) & np.uint64(0xFF), lengths >> np.uint64(16) & np.uint64(0xFF)
    found: Words = table[7][low] ^ table[6][middle] ^ table[5][high] ^ np.uint32(constant(8))
    return found
