"""The numbers that a text holds by its own names, whoever can read them: what a reader's work is counted against."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rl_advisor.answers.explain.told import a_sentence, by_frameworks
from rl_advisor.finding import number
from rl_advisor.run import Floats, Run

NUMBER = r"[-+]?+(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?\d++)?+|[-+]?\.?(?:nan|inf(?:inity)?)\b"
_SPREAD = re.compile(
    r"(?<![\w/.])(?:(?<=\d )(?:m?s|secs?|s/it|it/s) )?"
    rf"['\"]?(?P<name>[A-Za-z][\w/.%()-]{{0,80}}+(?: [A-Za-z(][\w/().-]{{0,40}}+){{0,6}}+)['\"]?"
    rf"[ \t]{{0,60}}+(?:[:=|]|->)[ \t\['(|]{{0,60}}+(?P<number>{NUMBER})(?![-:.]?\d|\w{{4}})",
    re.IGNORECASE,
)
_PAIRS = re.compile(
    r"(?:(?<![\s,;|/])(?:[\s,;|]|/ )++)?+(?<![\w/.-])([A-Za-z][\w/.-]{0,60}+)[ \t]{1,60}+"
    rf"({NUMBER})(?=[\s,;|]|$)",
    re.IGNORECASE,
)
_NOTE = re.compile(r"(?<! ) ++\(([^()]{2,60})\)$")
_COUNTS = re.compile(
    r"(?i)(?:^|.*[_/ .])(?:steps?|iter(?:ation)?s?|epochs?|frames?|episodes?|timesteps?|pid|port|seed|rank|line|time|date|gib|ms)$"
    r"|nan(?: nan)*$"
)
"""Names that count or place a row and are no metric of it."""
LONGEST, MOST = 400_000, 400
SHOWN = 20


@dataclass(frozen=True)
class Coverage:
    """How much of what stands in a text was read and understood."""

    rows: int
    rows_present: int
    names: int
    names_present: int
    unread: tuple[str, ...]
    """Names that were not understood, with their values."""


def written(text: str) -> dict[str, Floats]:
    """Every name that a number follows, with all its numbers in order."""
    found: dict[str, list[float]] = {}
    for line in re.split(r"[\r\n]+", text[:LONGEST]):
        for name, value in _of_line(line[:20_000]):
            if name in found or len(found) < MOST:
                found.setdefault(name, []).append(value)
    return {name: np.array(values) for name, values in found.items() if not name.endswith((".py", ".pt"))}


def _of_line(line: str) -> Iterator[tuple[str, float]]:
    pairs = list(_PAIRS.finditer(line))
    if pairs and sum(len(p.group()) for p in pairs) >= len(re.sub(r"^\s*\[\d+\]", "", line).strip()) - 2:
        yield from ((p.group(1), _value(p.group(2))) for p in pairs)
        return
    spread = (
        (_NOTE.sub(lambda n: f"/{n[1]}" if n[1].isalpha() else "", m["name"]).strip(" ()"), m["number"]) for m in _SPREAD.finditer(line)
    )
    yield from ((name, _value(number)) for name, number in spread if not a_sentence(name.split()))


def _value(text: str) -> float:
    return float(text.lower().replace(".nan", "nan").replace(".inf", "inf"))


def coverage(run: Run, text: str) -> Coverage:
    """What of a text was read: rows of rows, names of names, and the rest with its values."""
    settings = {bare(k) for k in given(run)}
    rows, there = _present(run, text)
    there = {n: v for n, v in there.items() if not _among(bare(n), settings)}
    unread = {c.raw: c.value for c in run.curves.values() if not (c.explained or _COUNTS.match(c.raw))}
    understood = sum(c.explained for c in run.curves.values())
    named = tuple(f"{n} {shown(v)}" for n, v in list(unread.items())[:SHOWN])
    return Coverage(rows, max([rows, *(v.size for v in there.values())]), understood, understood + len(unread), named)


def _present(run: Run, text: str) -> tuple[int, dict[str, Floats]]:
    """The rows that were read, and the names that stand in a text with all their numbers, but for counters."""
    return max((c.step.size for c in run.curves.values()), default=0), {n: v for n, v in written(text).items() if not _COUNTS.match(n)}


def given(run: Run) -> list[str]:
    """The settings of a text; none where they hold a result, or a value is no number, because then they are what a trainer reports."""
    rows = any((isinstance(v, float) and not math.isfinite(v)) or v in (".nan", ".inf") for v in run.config.values())
    return [] if rows or any("reward/mean" in by_frameworks(k.rpartition(".")[2]) for k in run.config) else [*run.config, *run.settings]


def shown(values: Floats) -> str:
    """Values in few characters: the one, or first to last, and how many are no numbers."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return "nan" if np.isnan(values).any() else "inf"
    ends = number(finite[0]) if finite[0] == finite[-1] else f"{number(finite[0])} to {number(finite[-1])}"
    lost = values.size - finite.size
    return f"{ends} ({lost} of {values.size} not finite)" if lost else ends


def bare(name: str) -> str:
    """A name without signs and case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _among(name: str, known: set[str]) -> bool:
    """Whether a name, or one that ends in it or that it ends in, is known."""
    return name in known or any(k.endswith(name) or name.endswith(k) for k in known if min(len(k), len(name)) > 3)


def left_out(run: Run, text: str) -> dict[str, Floats]:
    """The numbers that the reader of a text left: names that it did not take, and names that have twice as many numbers as it has rows."""
    rows, there = _present(run, text)
    present = max((v.size for v in there.values()), default=0)
    known = {bare(c.raw) for c in run.curves.values()} | {bare(k) for k in given(run)}
    more = {n: v for n, v in there.items() if v.size >= max(2, 2 * rows, present / 2)}
    return more | {n: v for n, v in there.items() if not more and not _among(bare(n), known)}
