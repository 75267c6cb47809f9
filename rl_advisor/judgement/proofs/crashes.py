"""Tracebacks and the trainer's own warnings in words: what they mean and what to do. Their text stays data."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from rl_advisor.discovery import table
from rl_advisor.finding import Cause, Finding, Outcome
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

_FRAME = re.compile(r'File "([^"\n]{1,300})", line (\d{1,7}), in ([^\n]{1,120})')
_ERROR = re.compile(
    r"(?m)^(?:\([^)\n]{1,80}\) |\[[^\]\n]{1,40}\]:? ?|E  +)?"
    r"((?:[A-Za-z_]\w{0,60}\.){0,6}(?:[A-Z]\w{0,60})?(?:Error|Exception|Interrupt|Died|NotFound)\w{0,20}\b[^\n]{0,400})"
)
_LIBRARY = re.compile(r"(?:site|dist)-packages|pip_prebundle|/lib/python\d|^<")
MOST, LINE = 400_000, 2_000
"""Characters of a text that are read, from its end, and of a line that may be a warning."""
_PLACE = re.compile(r"[\w./<>-]{1,120}:\d{1,7} in [\w<>.]{1,60}")
"""A place in code and nothing else, such as an order to whoever reads it."""


def crash_in(text: str) -> Finding | None:
    """The last crash that a text tells of, about its error and its place (both untrusted); None where there is none that is known."""
    found = list(_ERROR.finditer(text[-MOST:]))
    for row in _rows("crash", found[-1][1]) if found else ():
        frames = list(_FRAME.finditer(text[-MOST:][: found[-1].start()][-20_000:]))
        own = [f for f in frames if not _LIBRARY.search(f[1])] or frames
        where = f"{'/'.join(own[-1][1].split('/')[-2:])}:{own[-1][2]} in {own[-1][3]}" if own else ""
        return _finding("crash", row, found[-1][1], where if _PLACE.fullmatch(where) else "")
    return None


def warnings_in(text: str) -> list[Finding]:
    """What the trainer itself warns of, once for each kind; the line is untrusted."""
    found: dict[str, Finding] = {}
    for line in text[-MOST:].splitlines():
        for row in _rows("warning", line) if len(line) < LINE else ():
            found.setdefault(row["means"], _finding("warnings", row, line))
    return list(found.values())


def crash_of(run: Run) -> Finding | None:
    """The last crash among a run's events; None where there is none."""
    told = [e.text for e in run.events if e.kind in ("error", "out_of_memory", "non_finite")]
    return next((crash for text in reversed(told) if (crash := crash_in(text)) is not None), None)


def warned_of(run: Run) -> list[Finding]:
    """What the trainer warns of among a run's events."""
    return warnings_in("\n".join(e.text for e in run.events if e.kind == "warning"))


def _finding(kind: str, row: Mapping[str, str], line: str, where: str = "") -> Finding:
    """What a line means: a crash by its kind of error and its place, a warning by what it says."""
    link, error = Link(row["link"]), line.strip()[:300]
    named = re.split(r"[:\s(]", error, maxsplit=1)[0]
    because = "the trainer prints it" if kind == "warnings" else f"{named} at {where}" if where else named
    causes = (Cause(link, row["means"], because, row["do"]),)
    return Finding(kind, link, Outcome.PRESENT, row["means"], seen_in=kind, causes=causes, about=(error, where))


def _rows(kind: str, text: str) -> Iterator[Mapping[str, str]]:
    """The rows of a kind whose pattern a text shows, in the order of their file."""
    return (row for pattern, row in _patterns(kind) if pattern.search(text))


@cache
def _patterns(kind: str) -> list[tuple[re.Pattern[str], Mapping[str, str]]]:
    rows = table(__file__, "crashes.toml" if kind == "crash" else "warnings.toml")[kind]
    return [(re.compile(row["pattern"], re.IGNORECASE), row) for row in rows]
