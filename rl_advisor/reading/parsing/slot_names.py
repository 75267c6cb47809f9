"""What the numbers of a printed line are called: the names in the text around them, and which of them count.

A line comes as the texts between its numbers, which lines that repeat have in common, so that each form of a line is looked at once.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rl_advisor.reading.parsing.metric_table import step_columns

TOTAL = " /"
"""Ends the name of what a measure is of (``correct=3/4``); one that never changes is left out."""
BARE = "step i/n"
"""The name of a count that has none (``12/50``)."""
LONGEST_NAME = 100
LOOKED_AT = 200
"""Characters before a number in which its name is looked for."""
_MARKS = " \t,;.()[]{}|'\"-+"
SHORTEST = 3
"""Letters of each word of a name that no mark stands behind."""
_WORD = r"[^\W\d][\w./%@#&+-]*"
SEEN = LOOKED_AT
"""No pattern of this module is asked about a longer text."""
_PIECE = re.compile(
    r"[|│┃,;\t\[\]{}(<>•✨📊⏱]|(?:^|\s)[^\w\s\"'`]+(?=\s)|(?<=[^\W\d]{5})\. |^ ?[a-z%]{0,3}\. "
    r"|: (?=\S)| {2,}(?=[^\s:=])"
)
"""What parts two things said in a line."""
_SEPARATED = re.compile(rf"({_WORD}(?: [\w(%.#/&@+-]+\)?){{0,4}}?)['\"`]?\)?\s*(?:->|:=|[:=|│┃])\s*$")
_WINDOW = re.compile(r" ?[a-z]{0,12} ?\w{0,12}\)\s*[:=|]\s*")
"""What stands behind the number of a note that belongs to a name."""
_NOTE = re.compile(r" ?\(([^()]{2,40})\)(\s*[:=|]\s*)$")
"""A note behind a name: ``acc (higher is better):`` says nothing more, ``reward (mean):`` which of them."""
_TIME = re.compile(r" (?:m?s|secs?|s/it|it/s)\.? (?=[^\W\d]{3})")
"""The unit of the number before, where the next name follows without a mark."""
_IS = re.compile(rf"({_WORD}(?: {_WORD}){{0,3}}) is $")
_BARE = re.compile(rf"({_WORD}(?: {_WORD}){{0,3}})")
_TWO = re.compile(r"(\w+)/(\w+) (\w+)")
"""Two numbers of one thing: ``mean/median reward 1.5/2.0``."""
_DRESSED = re.compile(r"(?:\b(?:np|numpy|torch|jnp)\.)?(?:\b[a-z]\w*\()?[\['\"`(\s$]*$")
"""Brackets, quotes and type names that stand around a number: ``np.float64(``, ``tensor([``."""
_UNIT = re.compile(r"(?:%|[µmun]?s|min|h|[kKMBG]i?B?|it/s|s/it|it|fps|FPS|x|°?C|W|px|d|e|ep|steps?|tok)?(?![^\W_])")
_AFTER = re.compile(r"[\s,;:|│┃)\]}'\"`%±<>]|[-\u2013]\s|$|\.(?:\s|$)|\+/-")
_COUNTERS = (
    r"step|steps|it|epoch|epochs|episode|episodes|ep|eps|iter|iteration|iterations|itr|update|updates|frame|frames|round|generation"
    r"|batch|rollout|cycle|timestep|timesteps|t_env"
)
_COUNT = re.compile(rf"(?i)(?:^|[^\w/])((?:[a-z]+[ _]){{0,3}}?(?:{_COUNTERS}))\s*[#\[(]*\s*$")
_COUNTER = re.compile(
    rf"(?i)(?:(?:global|total|train|training|env|rollout|step|num|#|no|outer|current|grpo|ppo|dqn|rl)[ _])*(?:{_COUNTERS})"
)
_TELLING = re.compile(r"(?i)rew|return|score|loss|rate|length|entropy|acc|avg|\b(?:kl|lr)\b")
_LEVELS = re.compile(r"^(?:(?:\[?(?:INFO|DEBUG|WARNING|ERROR|TRACE)\]?|and|with|the|at|in|is|of|a)[ :]+)+", re.IGNORECASE)
_OF = re.compile(r"([^\W\d][\w ./-]{0,40}?) ?[:=]?$")
_CLOSING = re.compile(r"[^\s:=]{0,4}(?:\t|\s*(?:$|[|│┃,;()\[\]{}]|[^\w\s] |and ))")
_NEXT = re.compile(r"[^\s:=]{0,4} +[^\W\d][\w./ -]{0,40} ")
"""Another bare name before the next number."""
_ENDLESS = re.compile(r"(?i) (?:is|are|was|than|to|by|of|for|in|at|and|or|the|a|an|from|with|has|after|about)$")
_SOURCE = re.compile(r"(?i).*\.(?:py|pyx|cc?|cpp|cu|hp*|rs|go|js|ts|java|cs)")
"""A file of a program, behind which the number of a line stands."""
_PARTS = {"mean", "std", "min", "max", "avg", "p", "v", "median"}
"""Names that say nothing without what they are of."""
_NOT_NAMES = {
    "sec",
    "it",
    "s",
    "eta",
    "line",
    "port",
    "pid",
    "seed",
    "version",
    "gpu",
    "rank",
    "cuda",
    "time",
    "date",
    "id",
    "eof",
    "vs",
    "to",
    "at",
}


@dataclass(frozen=True)
class Slot:
    """One number of a line: where it stands among the line's numbers, its name, and which number is the total of the count."""

    at: int
    name: str
    counts: bool = False
    total: int = -1
    loose: bool = False
    """Whether it is a name only where its line comes back: words before a number may be prose."""


def slots(texts: Sequence[str]) -> tuple[Slot, ...]:
    """The named numbers of a line, given the texts before, between and behind its numbers."""
    found: dict[str, Slot] = {}
    skip = -1
    for at, (ahead, after) in enumerate(pairwise(texts)):
        before = ahead
        total = after.strip().lower() in ("/", "of") and at + 2 < len(texts)
        if _WINDOW.match(after) and before.endswith("("):
            continue
        if at and _WINDOW.fullmatch(before) and texts[at - 1].endswith(" ("):  # ``reward (100 ep): 22.6``
            before = texts[at - 1][:-2] + ": "
        elif at == 1 and before.strip() in (":", "->") and not after.strip(" ,;|") and _COUNT.search(texts[0][-LOOKED_AT:]):
            before = "value: "  # ``Episode 12: 9.0``
        if at == skip or not (total or before.strip(_MARKS)) or not _ends_there(after):
            continue
        listed = at + 2 < len(texts) and ((before.endswith("[") and after.startswith(",")) or after.isspace())
        name, counts, loose = _called(before[-LOOKED_AT:], after[:LOOKED_AT], total)
        if listed and not counts:
            continue
        if total:
            skip = at + 1
            if two := _TWO.fullmatch(name):
                found.setdefault(f"{two[2]} {two[3]}", Slot(at + 1, f"{two[2]} {two[3]}"))
                name = f"{two[1]} {two[3]}"
            elif name and not counts:  # ``correct=3/4``: both are numbers of a measure
                found.setdefault(name + TOTAL, Slot(at + 1, name + TOTAL))
        if name == BARE and name in found:  # ``[1/1](12/500)``: which of them counts the rows is told by their numbers
            name = f"{BARE} {at}"
        if name and name not in found:
            found[name] = Slot(at, name, counts, at + 1 if total else -1, loose)
    return tuple(sorted(found.values(), key=lambda slot: slot.at))


def _ends_there(after: str) -> bool:
    """Whether a number ends where it is thought to: not glued to a word, and no share of a progress bar."""
    unit = _UNIT.match(after)
    rest = after[unit.end() :] if unit else after
    return bool(_AFTER.match(rest) or rest.startswith("/")) and not after.startswith("%|")


@lru_cache(maxsize=1 << 15)
def _called(before: str, after: str, total: bool) -> tuple[str, bool, bool]:
    """The name that the text before a number gives it, whether that is one of a count, and whether it is loose."""
    share = after.startswith("%")
    if (count := _COUNT.search(before)) and not share:
        return _counter(count[1]), True, False
    if total and (not before.strip() or before.rstrip()[-1:] in "|])[(" or before.endswith("  ")):
        return BARE, True, False
    name, loose = _said(before, after)
    return name, bool(name) and not share and bool(step_columns([name]) or _COUNTER.fullmatch(name)), loose


def _counter(words: str) -> str:
    """What is counted: the longest known name that the words end in, else their last."""
    parts = words.split()
    tails = (" ".join(parts[i:]) for i in range(len(parts)))
    return next((tail for tail in tails if step_columns([tail])), parts[-1])


def _said(before: str, after: str) -> tuple[str, bool]:
    """The name that stands before a mark, before ``is``, or alone before a number, empty for none; and whether it is loose."""
    noted = _NOTE.sub(lambda n: f"/{n[1]}{n[2]}" if n[1].isalpha() else n[2], _TIME.sub(" ", before, count=1))
    bare = _DRESSED.sub("", noted)
    tail = _last_said(bare)
    if match := _SEPARATED.search(tail):
        return _clean(match[1], bare), False
    if (said := _IS.search(before)) and _TELLING.search(said[1]):
        return _clean(said[1], bare), False
    closes, goes_on = _CLOSING.match(after) is not None, _NEXT.fullmatch(after) is not None
    if not (before[-1:] in (" ", "\t") and (closes or goes_on) and _BARE.fullmatch(tail)):
        return "", False
    telling = _TELLING.search(tail) is not None
    return _clean(tail, bare), not ((closes or telling) and (telling or min(map(len, tail.split())) >= SHORTEST))


def _last_said(text: str) -> str:
    """The last of the things that a text says, with the mark behind its name."""
    end = len(text.rstrip(" :=|│┃'\"`-\u2013>"))
    cut = max((m.end() for m in _PIECE.finditer(text, 0, end)), default=0)
    return text[cut:].lstrip()


def _clean(name: str, before: str) -> str:
    """The name without quotes and levels; what says nothing alone gets the word before its bracket."""
    name = _LEVELS.sub("", name.strip(" '\"`*-•#")).strip()
    if name.lower() in _PARTS:
        above = max(before.rfind(bracket) for bracket in "({[")
        of = _OF.search(" ".join(before[max(0, above - LONGEST_NAME) : above].split()))
        name = f"{of[1].strip()}/{name}" if above >= 0 and of and not re.search(r"[)}\]]", before[above:]) else name
    dull = (
        len(name) > LONGEST_NAME or name.endswith("...") or name.lower() in _NOT_NAMES or _ENDLESS.search(name) or _SOURCE.fullmatch(name)
    )
    return "" if dull or (len(name) == 1 and name.isascii() and name not in "rR") else name
