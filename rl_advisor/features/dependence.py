"""Do answers still depend on the question: does the response most like a response answer the same one."""

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.series import Floats
from rl_advisor.features.text.measures import words

_BUCKETS = 4096


@dataclass(frozen=True)
class Likeness:
    """How often the response most like a response answers the same prompt."""

    accuracy: float
    chance: float
    n: int
    """Responses compared."""


def own_group(responses: Sequence[str], groups: Sequence[object]) -> Likeness:
    """How often the response most like a response answers the same prompt, ties shared evenly.

    It needs no word in common with the prompt: short answers that differ from prompt to prompt score high, one template for all scores at
    chance. At most the first 256 responses. Raises TooFewPoints below 4 groups with two responses.
    """
    numbers: dict[str, int] = {}  # a name may be a whole prompt
    names = np.array([numbers.setdefault(str(g), len(numbers)) for g in groups[:256]])
    kept = np.array([(names == n).sum() > 1 for n in names], bool)
    names, texts = names[kept], [t for t, k in zip(responses, kept, strict=False) if k]
    if np.unique(names).size < 4:
        raise TooFewPoints(f"{np.unique(names).size} groups of several responses, 4 needed")
    counts = _counts(texts)
    rows = counts * (np.log((1 + len(texts)) / (1 + (counts > 0).sum(axis=0))) + 1e-3)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    near = np.round(rows @ rows.T, 9)
    np.fill_diagonal(near, -1.0)
    same = names[:, None] == names[None, :]
    np.fill_diagonal(same, val=False)
    best = near == near.max(axis=1, keepdims=True)
    return Likeness(
        float(((best & same).sum(axis=1) / best.sum(axis=1)).mean()), float(same.sum(axis=1).mean() / (len(texts) - 1)), len(texts)
    )


def _counts(texts: Sequence[str]) -> Floats:
    """Texts as rows of hashed word and word-pair counts, damped; columns that no text has are left out."""
    rows = np.zeros((len(texts), _BUCKETS))
    for row, text in zip(rows, texts, strict=True):
        tokens, found = words(text), dict[int, float]()
        for word, n in Counter([*tokens, *map(" ".join, pairwise(tokens))]).items():
            place = zlib.crc32(word.encode("utf-8", "replace")) % _BUCKETS
            found[place] = found.get(place, 0.0) + (1 + log(n))
        row[list(found)] = list(found.values())
    return rows[:, rows.any(axis=0)]
