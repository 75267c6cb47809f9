"""A table of separated values whose rows are all alike, taken apart by numpy: eight bytes of text are looked at as one number.

Parsers of whole tables are no faster for what monitoring tools write, since they have to take the units off the text first.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    pass

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.intp]
Words = npt.NDArray[np.uint64]
LONGEST = 4096
"""Bytes of a cell that are read as text."""
_COMMA, _END, _RETURN, _SPACE, _POINT = b",\n\r ."
_WORD = 8
_ZEROS, _SIXES, _HIGH = (np.uint64(int(byte * _WORD, 16)) for byte in ("30", "06", "F0"))
_EVERY_FOURTH, _THOUSANDS, _ONES = np.uint64(0x000000FF000000FF), np.uint64(0x000F424000000064), np.uint64(0x0000271000000001)
_TENS = 10.0 ** np.arange(_WORD + 1)
_MIXERS = np.random.default_rng().integers(2**63, size=LONGEST // _WORD + 1, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
"""Odd factors of the hash by which texts are told apart; drawn anew so that no file can be made to collide."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Where the cells of some rows begin and end in their text, by column and row."""

    text: Bytes
    begin: Places
    end: Places

    def numbers(self, columns: list[int]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
        """The numbers with which the cells of these columns begin, and which cells have none or a unit of another length than theirs."""
        begin, end = self.begin[columns], self.end[columns]
        whole, count, mark = _leading(self._words(begin))
        value = whole.astype(np.float32)
        behind = begin + count
        for k in np.flatnonzero((mark == _POINT).any(axis=1)):
            pointed = mark[k] == _POINT
            part, size, next_mark = _leading(self._words(behind[k] + 1))
            value[k] = np.where(pointed, (whole[k] * _TENS[size] + part) / _TENS[size], value[k])
            mark[k] = np.where(pointed, next_mark, mark[k])
            behind[k] += pointed * (1 + size)
        unit = np.subtract(end, behind, out=behind)
        first = np.arange(len(columns)), np.argmax(count > 0, axis=1)
        right = (unit == unit[first][:, None]) & (count > 0)
        right &= (mark == _SPACE) | (unit == 0)
        return value, ~right

    def texts(self, column: int, rows: Places | slice = slice(None)) -> tuple[Places, list[str]]:
        """Which text stands in each of those rows of a column, and the texts, cut at LONGEST bytes."""
        import pandas as pd

        begin, end = self.begin[column][rows], self.end[column][rows]
        size = np.minimum(end - begin, LONGEST)
        key = size.astype(np.uint64)
        for k in range(0, int(size.max(initial=0)), _WORD):
            unused = _WORD * np.minimum(np.maximum(_WORD + k - size, 0), _WORD)
            key += (self._words(begin + k) << unused.astype(np.uint64)) * _MIXERS[k // _WORD]
        codes, found = pd.factorize(key)
        first = np.empty(len(found), np.intp)
        first[codes[::-1]] = np.arange(codes.size)[::-1]
        return codes, [self.text[begin[i] : begin[i] + size[i]].tobytes().decode("utf-8", "replace").strip() for i in first]

    def changes(self, column: int, width: int) -> tuple[Bytes, Places] | None:
        """The texts of a column where they differ from the row before, and which of them each row has; None unless all have that width."""
        begin = self.begin[column]
        if (self.end[column] - begin != width).any():
            return None
        new = np.zeros(begin.size, bool)
        new[0] = True
        for k in (*range(0, width - _WORD, _WORD), width - _WORD):
            words = self._words(begin + k)
            new[1:] |= words[1:] != words[:-1]
        return np.lib.stride_tricks.sliding_window_view(self.text, width)[begin[new]], np.cumsum(new) - 1

    def _words(self, places: Places) -> Words:
        overlapping: Words = np.ndarray(self.text.size - _WORD + 1, "<u8", self.text, 0, (1,))
        return overlapping[places]


def line_blocks(file: IO[bytes], size: int) -> Iterator[tuple[memoryview, int]]:
    """Whole lines, as many at a time as stand in ``size`` bytes: memory that is used anew for each block, and how far it is filled.

    A line that is longer comes in pieces. A packed file that is torn ends where it is torn.
    """
    held = bytearray(size + LONGEST + _WORD)
    view, filled = memoryview(held), 0
    while got := _filled(file, view[filled:size]):
        filled += got
        cut = held.rfind(b"\n", 0, filled) + 1 or (filled if filled == size else 0)
        if cut:
            yield view, cut
            view[: filled - cut] = view[cut:filled]
            filled -= cut
    if filled:
        yield view, filled


def _filled(file: IO[bytes], free: memoryview) -> int:
    try:
        return cast("io.BufferedReader", file).readinto(free)
    except (EOFError, OSError, zlib.error):
        return 0


def cells(held: memoryview, size: int, width: int) -> Cells | None:
    """The cells of the whole lines in the first ``size`` bytes, behind which more are free to be looked at.

    None unless every line has ``width`` of them, all or none behind a space.
    """
    text = np.frombuffer(held, np.uint8)
    mark, end = text[:size] == _COMMA, text[:size] == _END
    spaced = text[1 : size + 1] == _SPACE
    space = 2 if (mark & spaced).any() else 1
    if space == 2 and (mark > spaced).any():
        return None
    mark |= end
    places = np.flatnonzero(mark)
    rows = places.size // width
    if not rows or rows * width != places.size or not end[places[width - 1 :: width]].all() or np.count_nonzero(end) != rows:
        return None
    ends = np.ascontiguousarray(places.reshape(rows, width).T)
    begins = np.empty_like(ends)
    begins[1:] = ends[:-1] + space
    begins[0] = np.r_[0, ends[-1, :-1] + 1]
    ends[-1] -= text[ends[-1] - 1] == _RETURN
    return Cells(text, begins, ends)


def _leading(words: Words) -> tuple[Words, Places, Words]:
    """The number that the leading digits of eight characters make, how many they are, and the character behind them (0 behind eight).

    In place where it can be: fresh memory costs more than the arithmetic.
    """
    digit = words ^ _ZEROS
    other = digit + _SIXES
    other |= digit
    other &= _HIGH  # a bit in every byte that is no digit
    other &= -other
    other -= np.uint64(1)
    used = (np.bitwise_count(other) & np.uint8(0x78)).astype(np.uint64)
    digit <<= np.subtract(np.uint64(64), used, out=other)
    np.right_shift(digit, np.uint64(8), out=other)
    digit *= np.uint64(10)
    digit += other
    np.right_shift(digit, np.uint64(16), out=other)
    digit &= _EVERY_FOURTH
    other &= _EVERY_FOURTH
    digit *= _THOUSANDS
    other *= _ONES
    digit += other
    digit >>= np.uint64(32)
    words >>= used
    words &= np.uint64(0xFF)
    used >>= np.uint64(3)
    return digit, used.view(np.intp), words
