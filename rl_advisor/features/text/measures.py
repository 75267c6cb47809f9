"""What one text is like: its words, whether it says anything, whether it copies, whether it stays in one script."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np

_WORD = re.compile(r"\w+|[^\w\s]")
_LETTERS = re.compile(r"[^\W\d_]")
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]{0,30})>")
_BOX = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]{0,200}\}){0,400})\}")
_COPIED, _LETTERED = 4, 2_000
"""Words of an n-gram that is copied, and characters of a text whose letters are looked at."""
CHARS = 20_000
"""Characters of a text that are looked at; a longer one counts by its first and last half of that."""


def bounded(text: str, most: int = CHARS) -> str:
    """The text, or its head and tail when it is longer than ``most`` characters."""
    return text if len(text) <= most else text[: most // 2] + " " + text[-(most // 2) :]


def words(text: str) -> list[str]:
    """Lower-case words and single punctuation marks in their order."""
    return _WORD.findall(bounded(text).lower())


def ngrams(tokens: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """Every run of ``n`` tokens."""
    return list(zip(*(tokens[i:] for i in range(n)), strict=False))


def is_empty(text: str) -> bool:
    """Whether there is no letter and no digit in it."""
    return not any(c.isalnum() for c in text)


def copied_share(asked_words: Sequence[str], said: Sequence[str]) -> float:
    """Share of the response's n-grams that stand in the prompt too; NaN for a response of fewer than twice as many words."""
    if len(said) < 2 * _COPIED:
        return np.nan
    asked = set(ngrams(asked_words, _COPIED))
    runs = ngrams(said, _COPIED)
    return sum(run in asked for run in runs) / len(runs)


def fields(text: str) -> list[tuple[str, str]]:
    """Marked fields as (name, body): tags that are opened and closed, in the order they close, then LaTeX boxes."""
    text = bounded(text)
    opened: dict[str, int] = {}
    found = []
    for tag in _TAG.finditer(text):
        name = tag[2].lower()
        if not tag[1]:
            opened[name] = tag.end()
        elif name in opened:
            found.append((name, text[opened.pop(name) : tag.start()].strip()))
    return found + [("boxed", m[1].strip()) for m in _BOX.finditer(text)]


def empty_fields(text: str) -> bool:
    """Whether it has marked fields and one of them holds nothing, or a placeholder such as ``...``, ``N/A`` or ``answer``."""
    return any(is_empty(body) or body.lower() in _PLACEHOLDERS for _, body in fields(text))


_PLACEHOLDERS = frozenset(
    {"n/a", "na", "none", "null", "todo", "tbd", "answer", "your answer", "your answer here", "placeholder", "x", "xxx"}
)


def repeated_fields(text: str) -> int:
    """How often the most frequent marked field occurs; 0 without any."""
    return max(Counter(name for name, _ in fields(text)).values(), default=0)


def scripts(text: str) -> Counter[str]:
    """How many letters belong to each script (LATIN, CYRILLIC, CJK, ...), by the first word of their Unicode names."""
    text = text[:_LETTERED]
    if text.isascii():
        return Counter({"LATIN": n} if (n := sum(map(str.isalpha, text))) else {})
    return Counter(unicodedata.name(c, "UNKNOWN").split(" ", 1)[0].split("-", 1)[0] for c in _LETTERS.findall(text))


def foreign_share(prompt: str, response: str) -> float:
    """Share of the response's letters in scripts that the prompt does not use; NaN when either has no letters."""
    if prompt.isascii() and response.isascii():  # most pairs
        return 0.0 if any(map(str.isalpha, prompt[:_LETTERED])) and any(map(str.isalpha, response[:_LETTERED])) else np.nan
    asked, said = scripts(prompt), scripts(response)
    if not asked or not said:
        return np.nan
    return sum(n for script, n in said.items() if script not in asked) / said.total()


def distinct_share(texts: Sequence[str]) -> float:
    """Share of different texts among several, spacing and case aside; 1 when no two are the same. NaN below two."""
    if len(texts) < 2:
        return np.nan
    return len({" ".join(t.lower().split()) for t in texts}) / len(texts)


def final_answer(text: str) -> str:
    """The short answer a text ends with: the last box or ``answer`` field, or the numbers at its very end; empty when there is none."""
    marked = [body for name, body in fields(text) if name in ("boxed", "answer", "final_answer", "final", "solution", "result")]
    if marked:
        return " ".join(marked[-1].lower().split())[:200]
    found = _ENDING.search(text.rstrip()[-200:])
    return "".join(found[0].split()).strip(".,") if found else ""


_ENDING = re.compile(r"-?\d(?:[\d\s.,/:-]{0,60}\d)?(?=[\s.,)\]}*$%]*+$)")
_LONG = 8
"""Words from which a response says more than its answer."""
_ONE_ANSWER = re.compile(r"[($]{0,2}(?:[a-e]|-?\d[\d.,]*+(?:/\d++)?(?:(?:[\s,;]++-?|(?<=,)-)\d[\d.,]*+(?:/\d++)?){0,50})[)$%]{0,2}")
"""A number, several of them, or the letter of a choice."""


def single_answer(response: str) -> str:
    """What a response ends with, when it is a number, several, or a letter; else empty.

    A long response of little but numbers does not end in an answer: it is a string of them, cut anywhere.
    """
    answer = final_answer(response)
    soup = len(response.split()) > _LONG and 2 * len("".join(answer.split())) > len("".join(response.split()))
    return answer if not soup and _ONE_ANSWER.fullmatch(answer) else ""
