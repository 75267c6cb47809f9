"""Do answers still depend on the question: can the right prompt be found from a response among many."""

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.series import Floats
from rl_advisor.features.text.measures import words

_BUCKETS = 4096
_FEWEST = 8


@dataclass(frozen=True)
class Retrieval:
    """How often a response's own prompt is the nearest of all."""

    accuracy: float
    chance: float
    n: int
    """Responses compared; each stands before this many different prompts."""


def retrieval(prompts: Sequence[str], responses: Sequence[str], most: int = 128) -> Retrieval:
    """Accuracy of finding each response's prompt by word overlap weighted by rarity (TF-IDF), ties shared evenly.

    One response a different prompt, at most ``most`` of them. A low accuracy means nothing by itself (an answer of one number shares no
    word with its question): compare with the run's own start. Raises TooFewPoints below 8 different prompts.
    """
    pairs = list(dict(zip(prompts, responses, strict=True)).items())[:most]
    if len(pairs) < _FEWEST:
        raise TooFewPoints(f"{len(pairs)} different prompts, {_FEWEST} needed")
    asked, said = np.split(_counts([*(p for p, _ in pairs), *(r for _, r in pairs)]), 2)
    rare = np.log((1 + len(pairs)) / (1 + (asked > 0).sum(axis=0))) + 0.0
    scores = _unit(said * rare) @ _unit(asked * rare).T
    own = np.diag(scores)[:, None]
    better, ties = (scores > own + 1e-9).sum(axis=1), (np.abs(scores - own) <= 1e-9).sum(axis=1)
    return Retrieval(float(np.where(better == 0, 1.0 / ties, 0.0).mean()), 1.0 / len(pairs), len(pairs))


def own_group(responses: Sequence[str], groups: Sequence[object], most: int = 256) -> Retrieval:
    """How often the response most like a response answers the same prompt, ties shared evenly.

    It needs no word in common with the prompt: short answers that differ from prompt to prompt score high, one template for all scores at
    chance. At most the first ``most`` responses. Raises TooFewPoints below 4 groups with two responses.
    """
    numbers: dict[str, int] = {}  # a name may be a whole prompt
    names = np.array([numbers.setdefault(str(g), len(numbers)) for g in groups[:most]])
    kept = np.array([(names == n).sum() > 1 for n in names], bool)
    names, texts = names[kept], [t for t, k in zip(responses, kept, strict=False) if k]
    if np.unique(names).size < 4:
        raise TooFewPoints(f"{np.unique(names).size} groups of several responses, 4 needed")
    counts = _counts(texts)
    rows = _unit(counts * (np.log((1 + len(texts)) / (1 + (counts > 0).sum(axis=0))) + 1e-3))
    near = np.round(rows @ rows.T, 9)
    np.fill_diagonal(near, -1.0)
    same = names[:, None] == names[None, :]
    np.fill_diagonal(same, val=False)
    best = near == near.max(axis=1, keepdims=True)
    return Retrieval(
        float(((best & same).sum(axis=1) / best.sum(axis=1)).mean()), float(same.sum(axis=1).mean() / (len(texts) - 1)), len(texts)
    )


def _counts(texts: Sequence[str]) -> Floats:
    """Texts as rows of hashed word and word-pair counts, damped; columns that no text has are left out."""
    rows = np.zeros((len(texts), _BUCKETS))
    for row, text in zip(rows, texts, strict=True):
        tokens, found = words(text), dict[int, float]()
        for word, n in Counter([*tokens, *map(" ".join, pairwise(tokens))]).items():
            place = zlib.crc32(word.encode("utf-8", "replace")) % _BUCKETS
            found[place] = found.get(place, 0.0) + _damped(n)
        row[list(found)] = list(found.values())
    return rows[:, rows.any(axis=0)]


@cache
def _damped(count: int) -> float:
    return float(1 + np.log(count))


def _unit(rows: Floats) -> Floats:
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = np.divide(rows, size, out=np.zeros_like(rows), where=size > 0)
    return unit
