"""Templates over an answer: `{a.b}` is a value of it, `{a:how}` one said in a way of its own; what is not there leaves its part out.

Pages of the terminal (``cli/pages.toml``), briefs for programs (``answers/briefs.toml``) and what figures mean (``answers/sentences.toml``)
are rows of them.
"""

import operator
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from rl_advisor.answers.context import unrecorded
from rl_advisor.discovery import table
from rl_advisor.output import Answer
from rl_advisor.output.layout import more, number, pairs, said, spark
from rl_advisor.output.wording import counted, listed, plain, raw, seconds_of, value

Scope = Sequence[Any]
"""Where values are looked for: the row, what is around it, the answer."""
_VALUE = re.compile(r"\{([\w.]++)(?::([^{}]++))?\}")
_CONDITION = re.compile(r"^(!?)([\w. ]+)(?:(!=|[<>=])(.+))?$")
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {"<": operator.lt, ">": operator.gt}
LISTED, LONGEST, SHORT = 20, 90, 220


SPOKEN: Mapping[str, Callable[[Any], str]] = {
    "percent": lambda share: f"{100 * share:.0f} %",
    "plain": plain,
    "two": value,
    "line": lambda text: " ".join(str(text).split()),
    "lines": "\n".join,
    "capital": str.capitalize,
    "some": lambda amount: value(amount) if amount else "",
    "none": lambda amount: str(amount or "none"),
    "few": lambda rows: listed(rows, 4),
    "time": seconds_of,
    "hours": lambda hours: seconds_of(3600 * hours),
    "raw": raw,
    "share": lambda share: value(share, "share"),
    "unrecorded": unrecorded,
    "whole": lambda amount: f"{amount:.0f}",
    "count": lambda rows: str(len(rows)),
    "list": lambda rows: "; ".join(map(said, rows)),
    "name": lambda name: name if isinstance(name, str) else "",
    "short": lambda text: textwrap.shorten(said(text), LONGEST, placeholder=" ..."),
    "span": lambda ends: " to ".join(map(number, ends)),
    "spark": lambda points: spark([p[1] if isinstance(p, list) else p for p in points]),
    "between": lambda ends: f"[{', '.join(map(raw, ends))}]",
    "cut": lambda text: said(text)[:SHORT],
    "side": lambda weight: "for" if weight >= 0 else "against",
    "unsaved": lambda risk: risk.partition("No checkpoint")[0].strip(),
    "parts": lambda parts: pairs(parts) if len(parts) > 1 else "",
}
"""How a value may be said, where not as itself."""


_sentences = partial(table, __file__, "sentences.toml")


def sentences(kind: str, answer: Answer) -> list[str]:
    """What the rows of a kind say of an answer, in their order; a row whose values are not there says nothing."""
    lines = []
    for entry in _sentences()[kind]:
        for row in rows_of(entry, [answer]):
            with suppress(Missing):
                lines.append(templated(entry["text"], [picked(entry.get("with", {}), row), *row]))
    return lines


def case(kind: str, answer: Answer) -> Answer:
    """The first row of a kind that holds for an answer, with its texts filled in."""
    entry = next(entry for entry in _sentences()[kind] if rows_of(entry, [answer]))
    return {name: text if isinstance(text, bool) else templated(text, [answer]) for name, text in entry.items() if name != "when"}


class Missing(LookupError):  # noqa: N818 - it names what happened
    """A value is not there, so its line is not either."""


def rows_of(entry: Answer, scope: Scope) -> Sequence[Scope]:
    """The scope of each row that an entry speaks of: ``each`` of a list, ``when`` it holds, by ``sort``, the first ``most``."""
    rows: list[Answer] = [{}]
    if "each" in entry:
        found = _found(entry["each"], scope) or ()
        every = found if isinstance(found, list | tuple) else [found]
        named = found.items() if isinstance(found, Mapping) and not entry.get("use") else [("", row) for row in every]
        rows = [{"key": key, "it": row, "nr": nr} | (row if isinstance(row, dict) else {}) for nr, (key, row) in enumerate(named, 1)]
    if "sort" in entry:
        rows = sorted(rows, key=lambda row: -row[entry["sort"]])
    held = [[row, *scope] for row in rows if all(_holds(condition, [row, *scope]) for condition in entry.get("when", ()))]
    return held[: entry.get("most")]


def picked(fields: Answer, scope: Scope) -> Answer:
    """A value for each name: one that a path finds, a template filled, or either for each row of a list; what is not there is left out."""
    made: Answer = {}
    for name, entry in fields.items():
        with suppress(Missing):
            made[name] = _picked(entry, scope)
    return made


def _picked(entry: Any, scope: Scope) -> Any:
    if isinstance(entry, str) and "{" not in entry:
        return found_at(entry, scope)
    if isinstance(entry, str | list):
        return templated(entry, scope)
    made = [picked(entry["fields"], row) if "fields" in entry else _picked(entry["text"], row) for row in rows_of(entry, scope)]
    return made if "each" in entry else made[0] if made else None


def _holds(condition: str, scope: Scope) -> bool:
    """Whether a value is there (``!``: is not), is (``=``) or is not (``!=``) what is said, or lies below or above a number."""
    ((denied, path, sign, wanted),) = _CONDITION.findall(condition)
    value = _found(path, scope)
    if sign in _SIGNS:
        return value is not None and _SIGNS[sign](value, float(wanted))
    return (said(value) == wanted) == (sign == "=") if sign else bool(value) != bool(denied)


def templated(template: str | Sequence[str], scope: Scope) -> str:
    """The line with its values; of a list of parts those whose values are there."""
    if isinstance(template, str):
        return _VALUE.sub(lambda m: _spoken(found_at(m[1], scope), m[2]), template)
    parts = []
    for part in template:
        with suppress(Missing):
            parts.append(templated(part, scope))
    return "".join(parts)


def _spoken(found: Any, how: str | None) -> str:
    if how is None:
        return said(found)
    if how.startswith("?"):
        return how[1:]
    if how.startswith("n "):
        return counted(found, how[2:])
    if how.startswith("in "):
        return said(found_at(f"{how[3:]}.{found}", [_sentences()]))
    if how.startswith("of"):
        rows = [plain(said(row[how[3:]])) if how[3:] else said(row) for row in found[:LISTED]]
        return ", ".join(rows) + more(found, LISTED)
    if not (told := SPOKEN[how](found)):
        raise Missing
    return told


def found_at(path: str, scope: Scope) -> Any:
    """The value at a path.

    Raises:
        Missing: it is not there, or empty.
    """
    found = _found(path, scope)
    if found is None or found is False or (isinstance(found, str | list | tuple | dict) and not found):
        raise Missing
    return found


def _found(path: str, scope: Scope) -> Any:
    first, *rest = path.split(".")
    found = next((held[first] for held in scope if isinstance(held, Mapping) and first in held), None)
    for part in rest:
        found = found.get(part) if isinstance(found, Mapping) else None
    return found
