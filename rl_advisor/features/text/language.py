"""Which of some languages of one script a text is written in, by its commonest small words; code, formulas and names have none of them."""

import json
import re
from collections import Counter
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

_CODE = re.compile(r"```.{0,20000}?(?:```|\Z)|`[^`\n]{1,200}`|\$[^$\n]{1,300}\$|\\[a-zA-Z]+|https?://\S+", re.DOTALL)
_CODE_LINE = re.compile(
    r"^[ \t]*(?:def|for|if|while|return|import|from|class|el(?:se|if)|try|except|with|print|public|const|let|var|#include|@)\b[^\n]*$|"
    r"^[^\n]*(?:[;{}]|\)\s*:|[=!<>]=|\w\(\w*\)|\w = )[ \t]*[^\n.?!]*$",
    re.MULTILINE,
)
_LETTERS = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_WINDOW = 40
_SHARE, _DIFFERENT, _LEAD = 0.15, 3, 1.5


@cache
def _small_words() -> dict[str, tuple[str, ...]]:
    """Each small word with the languages that have it among their commonest."""
    found: dict[str, tuple[str, ...]] = {}
    for name, listed in json.loads(Path(__file__).with_suffix(".json").read_text("utf-8")).items():
        for word in listed.split():
            found[word] = (*found.get(word, ()), name)
    return found


def language(words: list[str]) -> str:
    """The language whose small words lead, or nothing: a share of the words, several different ones, half as many again as any other's."""
    small = _small_words()
    counts, kinds = (Counter(name for word in some for name in small.get(word, ())) for some in (words, {*words}))
    best = sorted(counts, key=lambda name: (-counts[name], name))[:2]
    if not best or counts[best[0]] < _SHARE * len(words) or kinds[best[0]] < _DIFFERENT:
        return ""
    return best[0] if len(best) < 2 or counts[best[0]] >= _LEAD * counts[best[1]] else ""


def prose(text: str) -> list[str]:
    """The lower-case words of a text without its code, formulas and addresses."""
    return [word.lower() for word in _LETTERS.findall(_CODE_LINE.sub(" ", _CODE.sub(" ", text)))]


@lru_cache(maxsize=8)
def _of(prompt: str) -> str:
    """The language of a prompt, which several responses answer."""
    return language(prose(prompt))


def other_language_share(prompt: str, response: str) -> float:
    """Share of a response's windows of 40 words, of those whose language is plain, in another one than the prompt's.

    NaN where the prompt's language, or that of every window, is not plain: short, or code, names and numbers.
    """
    asked = _of(prompt)
    if not asked:
        return np.nan
    words = prose(response)
    starts = range(0, max(len(words) - _WINDOW // 2, 1), _WINDOW)
    told = [found for start in starts if (found := language(words[start : start + _WINDOW]))]
    return sum(found != asked for found in told) / len(told) if told else np.nan
