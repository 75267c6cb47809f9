"""Tracebacks and the trainer's own warnings in words: what they mean and what to do. Their text stays data."""

import re
from functools import cache
from operator import itemgetter

from rl_advisor.discovery import table
from rl_advisor.finding import Cause, Finding, Outcome
from rl_advisor.vocabulary import Link

_FRAME = re.compile(r'File "([^"\n]{1,300})", line (\d{1,7}), in ([^\n]{1,120})')
_ERROR = re.compile(
    r"(?m)^(?:\([^)\n]{1,80}\) |\[[^\]\n]{1,40}\]:? ?|E  +)?"
    r"((?:[A-Za-z_]\w{0,60}\.){0,6}(?:[A-Z]\w{0,60})?(?:Error|Exception|Interrupt|Died|NotFound)\w{0,20}\b[^\n]{0,400})"
    r"|(?<![\w.])([A-Z]\w{1,60}(?:Error|Exception): ?[^\n`]{3,400})"
)
_LIBRARY = re.compile(r"(?:site|dist)-packages|pip_prebundle|/lib/python\d|^<")
_LINE = re.compile(r"[^\n]{20,400}")
MOST, LINE, LAST, LINES, PLAIN = 400_000, 2_000, 5, 100, 20
"""Characters of a text that are read, from its end, and of a line that may be a warning; errors that are weighed, or lines where none is
named, and the characters that such a line must share with a row."""
Row = dict[str, str]
_NAMED = re.compile(r"\{(\w+)\}")
_PLACE = re.compile(r"[\w./<>-]{1,120}:\d{1,7} in [\w<>.]{1,60}")
"""A place in code and nothing else, such as an order to whoever reads it."""


def crash_in(text: str) -> Finding | None:
    """The crash of which a text says most, about its error and its place (both untrusted); None where there is none that is known.

    Of its last errors, and where it names none of its last lines, that one counts of which a row explains the most characters: the more of
    what is written a row accounts for, the less does it owe to chance.
    """
    text = text[-MOST:]
    errors = [(m[1] or m[2], m.start()) for m in _ERROR.finditer(text)][-LAST:]
    lines = errors or [(m[0], m.start()) for m in _LINE.finditer(text)][-LINES:]
    told = [(*_heaviest(line, text[max(0, at - 2 * LINE) : at + 2 * LINE]), line, at) for line, at in lines]
    weight, row, error, at = max(told, key=itemgetter(0, 3), default=(0, {}, "", 0))
    if weight < (1 if errors else PLAIN):
        return None
    frames = list(_FRAME.finditer(text[:at][-20_000:]))
    own = [f for f in frames if not _LIBRARY.search(f[1])] or frames
    where = f"{'/'.join(own[-1][1].split('/')[-2:])}:{own[-1][2]} in {own[-1][3]}" if own else ""
    return _finding("crash", row, error, where if _PLACE.fullmatch(where) else "")


def warnings_in(text: str) -> list[Finding]:
    """What the trainer itself warns of, once for each kind; the line is untrusted."""
    found: dict[str, Finding] = {}
    for line in text[-MOST:].splitlines():
        for pattern, row in _patterns("warning") if len(line) < LINE else ():
            if pattern.search(line):
                found.setdefault(row["means"], _finding("warnings", row, line))
    return list(found.values())


def _finding(kind: str, row: Row, line: str, where: str = "") -> Finding:
    """What a line means: a crash by its kind of error and its place, a warning by what it says."""
    link, error = Link(row["link"]), line.strip()[:300]
    named = re.split(r"[:\s(]", error, maxsplit=1)[0]
    because = "the trainer prints it" if kind == "warnings" else f"{named} at {where}" if where else named
    causes = (Cause(link, row["means"], because, row["do"]),)
    return Finding(kind, link, Outcome.PRESENT, row["means"], seen_in=kind, causes=causes, about=(error, where))


def _heaviest(error: str, around: str) -> tuple[int, Row]:
    """The row that accounts for most of an error, and for how many characters.

    What a row asks for besides (``also``) must stand around the error and counts as well. A row for any error (``else``) answers last.
    """
    told = []
    for pattern, row in _patterns("crash"):
        also = re.search(row.get("also", ""), around, re.IGNORECASE)
        if also and not re.search(row.get("not", "$^"), error):
            told += [(1 if "else" in row else len(m[0] + also[0]), len(row["pattern"]), row, m, also) for m in pattern.finditer(error)]
    if not told:
        return 0, {}
    weight, _, row, *found = max(told, key=itemgetter(0, 1))
    said = {name: text or "" for match in found for name, text in match.groupdict().items()}
    return weight, row | {part: _NAMED.sub(lambda m: said[m[1]], row[part]) for part in ("means", "do")}


@cache
def _patterns(kind: str) -> list[tuple[re.Pattern[str], Row]]:
    rows = table(__file__, "crashes.toml" if kind == "crash" else "warnings.toml")[kind]
    return [(re.compile(row["pattern"], re.IGNORECASE), row) for row in rows]
