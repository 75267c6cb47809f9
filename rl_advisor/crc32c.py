"""CRC-32C, the checksum of TensorBoard's record files, of one record and of many records at once."""

from functools import cache

import numpy as np
import numpy.typing as npt

_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8
_BLOCK = 64


@cache
def _byte_table() -> npt.NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(_POLYNOMIAL), table >> 1).astype(np.uint32)
    return table


@cache
def tables(count: int) -> npt.NDArray[np.uint32]:
    """The share of a byte in the checksum, by how many bytes follow it: (count, 256)."""
    step = _byte_table()
    rows = np.empty((count, 256), np.uint32)
    rows[0] = step
    for k in range(1, count):
        rows[k] = step[rows[k - 1] & 0xFF] ^ (rows[k - 1] >> 8)
    return rows


def checksum_rows(rows: npt.NDArray[np.uint8], start: int = 0xFFFFFFFF) -> npt.NDArray[np.uint32]:
    """CRC-32C of every row of a (records, bytes) matrix; the checksum is linear, so it is one table look-up a byte column."""
    length = rows.shape[1]
    if length < 4:
        return np.array([_plain(row.tobytes(), start) for row in rows], np.uint32)
    shares = tables(-(-length // _BLOCK) * _BLOCK)
    head = np.frombuffer(np.uint32(start).tobytes(), np.uint8)
    total = np.zeros(len(rows), np.uint32)
    for k in range(length):
        column = rows[:, k] ^ head[k] if k < 4 else rows[:, k]
        total ^= shares[length - 1 - k][column]
    return np.invert(total)


def _plain(data: bytes, start: int = 0xFFFFFFFF) -> int:
    table = _byte_table().tolist()
    crc = start
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def checksum(data: bytes) -> int:
    """CRC-32C of one piece of bytes."""
    whole = len(data) // _BLOCK
    if whole < 2:
        return _plain(data)
    blocks = np.frombuffer(data, np.uint8, whole * _BLOCK).reshape(whole, _BLOCK)
    shift = tables(_BLOCK)[_BLOCK - 4 :]
    shares = (~checksum_rows(blocks, 0)).tolist()
    crc = 0xFFFFFFFF
    by_byte = [row.tolist() for row in shift]
    for share in shares:
        crc = by_byte[3][crc & 0xFF] ^ by_byte[2][crc >> 8 & 0xFF] ^ by_byte[1][crc >> 16 & 0xFF] ^ by_byte[0][crc >> 24] ^ share
    return _plain(data[whole * _BLOCK :], crc)


def masked(crc: int) -> int:
    """The form in which record files store a checksum."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF
