"""Which words tell two sets of texts apart, and does a text still have the word order of the texts of the start."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from math import log
from typing import NamedTuple

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.text.measures import words

_PRIOR = 100.0
"""Words of the prior."""
_FEWEST_WORDS = 200
_FEWEST_PAIRS = 8
_LONGEST = 400


class Word(NamedTuple):
    """A word, and the z value of its log odds ratio between two sets of texts."""

    word: str
    z: float


def telling_words(first: Sequence[str], second: Sequence[str]) -> list[Word]:
    """Words by how much more the second set uses them, strongest first; negative ones belong to the first set.

    Log odds with an informative Dirichlet prior of a hundred words that looks like both sets together (Monroe, Colaresi, Quinn 2008).
    A word counts once a text, so that one text that repeats it a thousand times does not lead. Raises TooFewPoints for an empty set.
    """
    a, b = _documents(first), _documents(second)
    if not a or not b:
        raise TooFewPoints("a set of texts is empty")
    every = a + b
    na, nb, n = a.total(), b.total(), every.total()
    found = []
    for word, count in every.items():
        p = _PRIOR * count / n
        ya, yb = a[word] + p, b[word] + p
        delta = log(yb / (nb + _PRIOR - yb)) - log(ya / (na + _PRIOR - ya))
        found.append(Word(word[:40], round(delta / (1 / ya + 1 / yb) ** 0.5, 1)))
    return sorted(found, key=lambda w: (-w.z, w.word))


def _documents(texts: Sequence[str]) -> Counter[str]:
    return Counter(word for text in texts for word in set(words(text)))


def word_order(baseline: Sequence[str]) -> Callable[[str], float]:
    """A function that says how much of the baseline's word order a text has.

    It is the mean log likelihood of its word pairs by the baseline's pairs, less that of the same words shuffled: near 0 for a word salad
    of whatever words, above it for text that goes on as the baseline does. Pairs with a word that the baseline never used are left out; NaN
    when fewer than 8 remain. Raises TooFewPoints when the baseline has fewer than 200 words.
    """
    single: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for text in baseline:
        tokens = words(text)
        single.update(tokens)
        pairs.update(pairwise(tokens))
    total = single.total()
    if total < _FEWEST_WORDS:
        raise TooFewPoints(f"{total} words in the first samples, {_FEWEST_WORDS} needed")

    def fit(tokens: Sequence[str]) -> float:
        return sum(log((pairs[x, y] / (2 * single[y] / total) + 1) / (single[x] + 2)) for x, y in pairwise(tokens)) / (len(tokens) - 1)

    def score(text: str) -> float:
        known = [t for t in words(text) if t in single][:_LONGEST]
        if len(known) < _FEWEST_PAIRS:
            return np.nan
        return fit(known) - fit([known[i] for i in _shuffle(len(known))])

    return score


@cache
def _shuffle(count: int) -> tuple[int, ...]:
    return tuple(np.random.default_rng(count).permutation(count).tolist())
