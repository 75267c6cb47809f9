"""Tracebacks and the trainer's own warnings in words: what they mean and what to do. Their text stays data."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

_FRAME = re.compile(r'File "([^"\n]{1,300})", line (\d{1,7}), in ([^\n]{1,120})')
_ERROR = re.compile(
    r"(?m)^(?:\([^)\n]{1,80}\) |\[[^\]\n]{1,40}\]:? ?|E  +)?"
    r"((?:[A-Za-z_]\w{0,60}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception|Interrupt|Died)\w{0,20}\b[^\n]{0,400})"
)


LINE = 2_000
"""Characters of a line that may be a warning."""
_PLACE = re.compile(r"[\w./<>-]{1,120}:\d{1,7} in [\w<>.]{1,60}")
"""A place in code and nothing else, such as an order to whoever reads it."""


@dataclass(frozen=True)
class Crash:
    """One crash as a colleague would retell it."""

    error: str
    """The error's own line; untrusted."""
    where: str
    """File and line at which it was raised; empty where the text does not say."""
    link: Link
    means: str
    do: str


def crash_in(text: str) -> Crash | None:
    """The last crash that a text tells of; None where there is none."""
    found = list(_ERROR.finditer(text[-400_000:]))
    if not found:
        return None
    return _retold(found[-1].group(1), text[-400_000:][: found[-1].start()])


def warnings_in(text: str) -> list[Crash]:
    """What the trainer itself warns of, once for each kind; the line is untrusted."""
    found: dict[str, Crash] = {}
    for line in text[-400_000:].splitlines():
        for pattern, row in _warnings() if len(line) < LINE else ():
            if row["means"] not in found and pattern.search(line):
                found[row["means"]] = Crash(line.strip()[:300], "", Link(row["link"]), row["means"], row["do"])
    return list(found.values())


def crash_of(run: Run) -> Crash | None:
    """The last crash among a run's events; None where there is none."""
    told = [e.text for e in run.events if e.kind in ("error", "out_of_memory", "non_finite")]
    return next((crash for text in reversed(told) if (crash := crash_in(text)) is not None), None)


def _retold(error: str, before: str) -> Crash | None:
    entry = next(((p, e) for p, e in _table() if p.search(error)), None)
    if entry is None:
        return None
    frames = list(_FRAME.finditer(before[-20_000:]))
    own = [f for f in frames if "site-packages" not in f.group(1)] or frames
    where = f"{'/'.join(own[-1].group(1).split('/')[-2:])}:{own[-1].group(2)} in {own[-1].group(3)}" if own else ""
    where = where if _PLACE.fullmatch(where) else ""
    return Crash(error.strip()[:300], where, Link(entry[1]["link"]), entry[1]["means"], entry[1]["do"])


def _table() -> list[tuple[re.Pattern[str], dict[str, str]]]:
    return _rows("crash")


def _warnings() -> list[tuple[re.Pattern[str], dict[str, str]]]:
    return _rows("warning")


@cache
def _rows(kind: str) -> list[tuple[re.Pattern[str], dict[str, str]]]:
    """The patterns of a kind with what they mean, in the order of their file."""
    file = {"crash": "crashes.toml", "warning": "warnings.toml"}[kind]
    rows = tomllib.loads((Path(__file__).parent / file).read_text(encoding="utf-8"))[kind]
    return [(re.compile(row["pattern"], re.IGNORECASE), row) for row in rows]
