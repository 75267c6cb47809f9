"""What the numbers of a printed line are called: the names in the text around them, and which of them count.

A line comes as the texts between its numbers, which lines that repeat have in common, so that each form of a line is looked at once.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from rl_advisor.reading.parsing.learner_words import of_a_learner, speaks
from rl_advisor.reading.parsing.metric_table import step_columns
from rl_advisor.reading.parsing.printed_numbers import UNIT, times_of
from rl_advisor.vocabulary import words

TOTAL = " /"
"""Ends the name of what a measure is of (``correct=3/4``); one that never changes is left out."""
BARE = "step i/n"
"""The name of a count that has none (``12/50``)."""
LONGEST_NAME = 100
LOOKED_AT = 200
"""Characters before a number in which its name is looked for."""
SHORTEST = 3
"""Letters of each word of a name that no mark stands behind."""
MOST_BESIDE = 16
"""Numbers of one name that stand beside each other."""
_WORD = r"[^\W\d][\w./%@#&+-]*(?:'s)?"
SEEN = LOOKED_AT
"""No pattern of this module is asked about a longer text."""
_PIECE = re.compile(
    r"[|│┃,;\t\[\]{}(<>•✨📊⏱]|(?:^|\s)[^\w\s\"'`]+(?=\s)|(?:(?<=[^\W\d]{5})|(?<=\)))\. |^ ?[a-z%]{0,3}\. "
    r"|: (?=\S)| {2,}(?=[^\s:=])"
)
"""What parts two things said in a line."""
_SEPARATED = re.compile(rf"({_WORD}(?: [\w(%.#/&@+-]+\)?){{0,4}}?)['\"`]?\)?\s*(?:->|:=|[:=|│┃]|\.{{4,}}|(?<=['\"]),)\s*$")
_INSIDE = re.compile(r"((?:^|[\s|│(,])(?:max|mean|min|avg|average|median|last) |\([a-z ]{0,20})$|\w\.? $")
_NAMED = re.compile(r"(?:( [^\W\d][\w ]{0,40}| ?[a-z]{0,12} ?\w{0,12}\))\s*[:=|]|[:=]|\)(?= ))\s*$")
"""What stands around a number that is part of a name: ``mean 100 episode reward | 25.8``, ``reward (100 ep): 22.6``, ``last 10: 3.5``."""
_NOTE = re.compile(r"(?: ?[(\[]([^()\[\]]{1,40})[)\]](\s*[:=|]\s*)|(?<=\w)\(([a-z]{1,20})\)( ))$")
"""A note behind a name: ``acc (higher is better):`` says nothing more, ``reward (mean):`` which of them."""
_TIME = re.compile(r" (?:m?s|secs?|s/it|it/s)\.? (?=[^\W\d]{3})")
"""The unit of the number before, where the next name follows without a mark."""
_IS = re.compile(rf"({_WORD}(?: {_WORD}){{0,3}}) is $")
_BARE = re.compile(rf"({_WORD}(?: {_WORD}){{0,3}})")
_HEADED = re.compile(rf"({_WORD}(?: {_WORD}){{0,3}})\s*[:-]\s+[^\W\d]+\s*[:=]?\s*$")
"""What the names behind it are of: ``Reward: mean=1.2 std=0.3``, ``Steps - mean: 45``."""
_SHARED = re.compile(r"(\w+(?:/\w+)+)( \w+)?")
"""Numbers of one thing: ``mean/median reward 1.5/2.0``, ``W/D/L = 3/1/2``."""
_DRESSED = re.compile(r"(?:\b(?:np|numpy|torch|jnp)\.)?(?:\b[a-z]\w*\()?[\['\"`(\s$]*$")
"""Brackets, quotes and type names that stand around a number: ``np.float64(``, ``tensor([``."""
_AFTER = re.compile(r"[\s,;:|│┃(\[)\]}'\"`%±<>]|[-\u2013]\s|$|\.(?:\s|$)|\+/-")
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
_OF = re.compile(r"([^\W\d][\w ./-]{0,40}?)['\"]?\s?([:=]?)\s?$")
_BRACKET = re.compile(r"[()\[\]{}]")
_HELD_OUT = re.compile(r"(?i)(?<![a-z])(eval|evaluation|test|val|validation)(?![a-z])")
_BESIDE = re.compile(r"\s*[(\[]?\s*(?:±|\+/?-|=|,|\.\.)?\s*")
"""What stands between two numbers of one name: ``23.4 ± 5.1``, ``0.5 (0.4)``, ``[1, 2]``, ``12/50 = 24 %``."""
_MACHINES = re.compile(r"(?:[kKMGT]i?B?|B|[mµun]?s)(?![^\W_])")
_BEHIND = re.compile(r" ([^\W\d]\w{3,20}(?: [^\W\d]\w{3,20})?)\s*(?:$|[,;.()\]])")
"""The name of a number that stands before it: ``after 48 timesteps``."""
_CLOSING = re.compile(r"(?:[^\s:=]{0,4}|[^\s:=]{0,4} [^\W\d]{1,5}(?:/[^\W\d]{1,5})?)(?:\t|\s*(?:$|[|│┃,;()\[\]{}]|[^\w\s] |and ))")
_NEXT = re.compile(r"[^\s:=]{0,4} +[^\W\d][\w./ -]{0,40}(?: |[:=]\s*)")
"""Another bare name before the next number."""
_ENDLESS = re.compile(r"(?i)(?:^| )(?:is|are|was|than|to|by|of|for|in|at|and|or|the|a|an|from|with|has|after|about)$")
_NO_NAME = re.compile(
    r"(?i)|sec|it|s|eta|line|port|pid|hours|minutes|seconds|version|gpu|rank|cuda|time|date|id|eof|vs|to|at|.*\.\.\."
    r"|.*\.(?:py|pyx|cc?|cpp|cu|hp*|rs|go|js|ts|java|cs)"
)
"""What is not measured; a file of a program, behind which the number of a line stands."""
_PARTS = re.compile(r"(?i)mean|std|min|max|avg|p|v|median")
"""Names that say nothing without what they are of."""


@dataclass(frozen=True)
class Slot:
    """One number of a line: where it stands among the line's numbers, its name, and which number is the total of the count."""

    at: int
    name: str
    counts: bool = False
    total: int = -1
    loose: bool = False
    """Whether it is a name only where its line comes back: words before a number may be prose."""
    times: float = 1.0
    """What a letter behind the number makes of it."""
    of_machine: bool = False
    """Whether it is in bytes or seconds, which a machine spends."""
    beside: str = ""
    """The name of the number next to which it stands without one of its own."""


def slots(texts: Sequence[str]) -> tuple[Slot, ...]:
    """The named numbers of a line, given the texts before, between and behind its numbers."""
    line, done = _Line(texts), -1
    for at, (ahead, after) in enumerate(pairwise(texts)):
        line.open(ahead)
        if at > done and _ends_there(after) and not _is_inside(texts, at):
            done = line.take(at, after)
    beside = Counter(slot.beside for slot in line.found.values())
    kept = (slot for slot in line.found.values() if not slot.beside or beside[slot.beside] <= MOST_BESIDE)
    return tuple(sorted(kept, key=lambda slot: slot.at))


class _Line:
    """Names the numbers of a line one after the other."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts, self.found = texts, dict[str, Slot]()
        self.above = list[tuple[str, bool]]()
        """Of each bracket that is open the word before it, and whether a mark stands between."""
        held = _HELD_OUT.search(texts[0][-LOOKED_AT:])
        self.of = held[1] if held else ""
        """What the names that say nothing alone are of: a list before them, or an evaluation that the line tells of."""
        self.last, self.begun = "", 0

    def open(self, text: str) -> None:
        """Take in the brackets of a text."""
        for bracket in _BRACKET.finditer(text):
            if bracket[0] in ")]}":
                del self.above[-1:]
                continue
            of = _OF.search(" ".join(text[max(0, bracket.start() - LONGEST_NAME) : bracket.start()].split()))
            self.above.append((of[1].strip(), bool(of[2])) if of else ("", False))

    def take(self, at: int, after: str) -> int:
        """Name a number, and what stands behind a slash with it; where the last of these stands."""
        before, total = _before(self.texts, at), after.strip().lower() in ("/", "of") and at + 2 < len(self.texts)
        if self.last and not total and _BESIDE.fullmatch(before):
            what = "spread" if "±" in before or "-" in before else "percent" if after.lstrip().startswith("%") else ""
            self._add(at, f"{self.last}, {what or f'number {at - self.begun + 1}'}", loose=True, beside=self.last)
            return at
        listed = at + 2 < len(self.texts) and ((before.endswith("[") and after.startswith(",")) or after.isspace())
        before = f"{before[:-1].rstrip()} " if listed and before.endswith(" [") else before
        name, counts, loose = self._called(before[-LOOKED_AT:], at, total)
        if _PARTS.fullmatch(name) and (head := _HEADED.search(before[-LOOKED_AT:])):
            self.of = _clean(head[1])
        self.last, self.begun = "" if counts else name, at
        if listed and not counts:
            if name and before.endswith(("[", " ")) and "[" in self.texts[at][-2:]:
                self.of = name
                self._add(at, f"{name}, number 1", loose=True, beside=name)
            else:
                self.last = ""
            return at
        if total and (names := _shared(name, self.texts[at + 1 :])):
            for i, one in enumerate(names):
                self._add(at + i, one)
            return at + len(names) - 1
        if total and name and not counts:  # ``correct=3/4``: both are numbers of a measure
            self._add(at + 1, name + TOTAL)
        self._add(at, self._below(name), counts=counts, total=at + 1 if total else -1, loose=loose)
        return at + total

    def _add(self, at: int, name: str, **more: Any) -> None:
        if name in self.found:  # ``[1/1](12/500)``: which of them counts the rows is told by their numbers
            name = f"{name} {at}" if name == BARE else f"{name}, number {at + 1}"
        if name:
            after = self.texts[at + 1]
            self.found[name] = Slot(at, name, times=times_of(after), of_machine=_MACHINES.match(after) is not None, **more)

    def _called(self, before: str, at: int, total: bool) -> tuple[str, bool, bool]:
        """The name of a number, whether that is one of a count, and whether it is loose: by the text before it, else behind."""
        name, counts, loose = _called(before, self.texts[at + 1][:LOOKED_AT], total)
        behind = None if name or before[-1:] not in ("", " ", "(", "[") else _BEHIND.match(self.texts[at + 1 + total].lstrip("kKM"))
        return (own, bool(step_columns([own])), True) if behind and (own := _clean(behind[1])) else (name, counts, loose)

    def _below(self, name: str) -> str:
        """The name below the word before its bracket, where it says nothing alone or that word says more: ``rewards=[acc=1]``."""
        of, marked = self.above[-1] if self.above else ("", False)
        if _PARTS.fullmatch(name):
            return f"{of or self.of}/{name}".lstrip("/")
        within = name and marked and name != of and speaks(of) and not of_a_learner([name], "")
        return f"{of.split()[-1]}/{name}" if within else name


def _is_inside(texts: Sequence[str], at: int) -> bool:
    """Whether a number is part of the name of the next one."""
    ahead = texts[at][-LOOKED_AT:]
    named = _NAMED.match(texts[at + 1]) if at + 2 < len(texts) and _ends_there(texts[at + 2]) else None
    inside = _INSIDE.search(ahead)
    return bool(named and inside and (inside[1] or not (named[1] or _COUNT.search(ahead))))


def _shared(name: str, after: Sequence[str]) -> list[str]:
    """The names of numbers with ``/`` between them that share one, part by part; none where they do not."""
    shared = _SHARED.fullmatch(name)
    names = [part + (shared[2] or "") for part in shared[1].split("/")] if shared else []
    return names if [text.strip() for text in after[:-1][: len(names) - 1]] == ["/"] * (len(names) - 1) else []


def _before(texts: Sequence[str], at: int) -> str:
    """The text in which a number's name stands."""
    before = texts[at]
    if not at:
        return before
    if _is_inside(texts, at - 1):
        words = texts[at - 1]
        return (words.rpartition("(")[0] if ")" in before else words.rstrip()) + before.rpartition(")")[2]
    if at == 1 and before.strip() in (":", "->") and not texts[2].strip(" ,;|") and _COUNT.search(texts[0][-LOOKED_AT:]):
        return "c1: "  # ``Episode 12: 9.0``, as the second cell of a row without a header
    unit = UNIT.match(before)
    return before[unit.end() :] if unit else before


def _ends_there(after: str) -> bool:
    """Whether a number ends where it is thought to: not glued to a word, and no share of a progress bar."""
    unit = UNIT.match(after)
    rest = after[unit.end() :] if unit else after
    return bool(_AFTER.match(rest) or rest.startswith("/")) and not after.startswith("%|")


@lru_cache(maxsize=1 << 15)
def _called(before: str, after: str, total: bool) -> tuple[str, bool, bool]:
    """The name that the text before a number gives it, whether that is one of a count, and whether it is loose."""
    share = after.startswith("%")
    if (count := _COUNT.search(before)) and not share:
        return _counter(count[1]), True, False
    if total and (not before.strip() or before.rstrip()[-1:] in "|])[(" or (before.endswith("  ") and before.strip()[-1] not in ":=")):
        return BARE, True, False
    name, loose = _said(before, after)
    return name, bool(name) and not share and bool(step_columns([name]) or _COUNTER.fullmatch(name)), loose


def _counter(said: str) -> str:
    """What is counted: the longest known name that the words end in, else their last."""
    parts = said.split()
    tails = (" ".join(parts[i:]) for i in range(len(parts)))
    return next((tail for tail in tails if step_columns([tail])), parts[-1])


def _said(before: str, after: str) -> tuple[str, bool]:
    """The name that stands before a mark, before ``is``, or alone before a number, empty for none; and whether it is loose."""
    noted = _NOTE.sub(lambda n: f"/{n[1] or n[3]}{n[2] or n[4]}" if (n[1] or n[3]).isalpha() else n[2], _TIME.sub(" ", before, count=1))
    bare = _DRESSED.sub("", noted)
    tail = _last_said(bare)
    if match := _SEPARATED.search(tail):
        name = _clean(match[1])
        return name, len(name) == 1 and name not in "rR"
    if (said := _IS.search(before)) and _TELLING.search(said[1]):
        return _clean(said[1]), False
    closes, goes_on = _CLOSING.match(after) is not None, _NEXT.fullmatch(after) is not None
    card = len(tail) == 1 and tail.isascii() and tail not in "rR" and before.strip() == tail
    if card or not (before[-1:] in (" ", "\t") and (closes or goes_on) and _BARE.fullmatch(tail)):
        return "", False
    telling = _TELLING.search(tail) is not None or _TELLING.search(words(tail)) is not None
    return _clean(tail), not ((closes or telling) and (telling or min(map(len, tail.split())) >= SHORTEST))


def _last_said(text: str) -> str:
    """The last of the things that a text says, with the mark behind its name."""
    end = len(text.rstrip(" :=,|│┃'\"`-\u2013>"))
    cut = max((m.end() for m in _PIECE.finditer(text, 0, end)), default=0)
    return text[cut:].lstrip()


def _clean(name: str) -> str:
    """The name without quotes and levels; nothing for a word that is no name."""
    name = _LEVELS.sub("", name.strip(" '\"`*-•#")).strip()
    return "" if len(name) > LONGEST_NAME or _ENDLESS.search(name) or _NO_NAME.fullmatch(name) else name
