"""Does a text repeat itself: loops at its end, repeated n-grams and identical units, all independent of length."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from rl_advisor.features.text.measures import bounded, ngrams

_SUFFIX = 12
_LONGEST = 400
_WORDS, _WINDOW, _VARIED = 4, 100, 50
"""Words of an n-gram, and of a window in which n-grams come back, or in which words differ."""


def tail_loop(text: str) -> float:
    """The share of a text that the exact loop it ends in takes, 0 where it ends in none.

    A loop needs three periods, 48 characters, and letters or digits in its period: a ruler of dashes is none.
    """
    text = bounded(text).rstrip()
    size = len(text)
    before = text.rfind(text[-_SUFFIX:], 0, size - 1) if size > _SUFFIX else -1
    period = size - _SUFFIX - before
    if before < 0 or period > _LONGEST or not any(c.isalnum() for c in text[-period:]) or len(set(text[-period:])) < 2:
        return 0.0
    length = period
    while length < size and text[-length - 1] == text[period - length - 1]:
        length += 1
    return length / size if length >= max(48, 3.0 * period) else 0.0


def repeated_share(tokens: Sequence[str]) -> float:
    """Share of n-grams that occurred before in the same window of tokens, mean over windows; NaN below a quarter window."""
    if len(tokens) < max(_WINDOW // 4, 2 * _WORDS):
        return np.nan
    return float(np.mean([again(ngrams(tokens[s : s + _WINDOW], _WORDS)) for s in _starts(len(tokens), _WINDOW)]))


def variety(tokens: Sequence[str]) -> float:
    """Different words over words in windows of tokens, mean over windows; NaN for fewer tokens than one window."""
    if len(tokens) < _VARIED:
        return np.nan
    return float(np.mean([len(set(tokens[s : s + _VARIED])) / _VARIED for s in _starts(len(tokens), _VARIED)]))


def _starts(count: int, window: int) -> list[int]:
    """Where half overlapping windows begin; a text shorter than one is a single window."""
    return sorted({*range(0, max(count - window, 0) + 1, window // 2), max(count - window, 0)})


def again(items: Sequence[object]) -> float:
    """The share of items that were there before; NaN for none."""
    return 1 - len(set(items)) / len(items) if items else np.nan


def first_again(items: Sequence[object]) -> int:
    """The place of the first item that was there before; -1 for none."""
    return next((i for i, item in enumerate(items) if items.index(item) < i), -1)


def identical_run(items: Sequence[object]) -> int:
    """Length of the longest run of equal neighbours; 0 for none."""
    return max((len([*alike]) for _, alike in groupby(items)), default=0)
