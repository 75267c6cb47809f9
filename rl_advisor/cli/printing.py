"""Answers as plain text for a terminal: what matters first, no decoration that a pipe would choke on. The lines stand in ``pages.toml``."""

import re
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from rl_advisor.answers.context import said as on_record
from rl_advisor.answers.terminal import answer_page, look_of_terminal
from rl_advisor.gpu.sentence import seconds_of
from rl_advisor.output.layout import Answer, anything, filled, gaps, more, number, page_width, pairs, said, spark, table
from rl_advisor.output.wording import counted, plain

Scope = Sequence[Any]
"""Where values are looked for: the row, what is around it, the answer."""
_VALUE = re.compile(r"\{([\w.]++)(?::([^{}]++))?\}")
COLUMNS, LISTED, LONGEST = 8, 20, 90


def _source(row: Answer) -> str:
    """A file, or several of a kind, with what was taken from there."""
    counts = [f"{number(row[what])} {what}" for what in ("files", "metrics", "samples") if what in row]
    return f"{row['from']} ({', '.join(counts)})" if counts else str(row["from"])


def _evaluated(protocol: Answer) -> str:
    """The evaluation protocol and what of it is not known."""
    known = ", ".join(f"{part} {said(str(value))}" for part, value in protocol.items() if part != "missing")
    missing = f"; not given: {', '.join(protocol['missing'])}" if protocol["missing"] else ""
    return known + missing if known else "not logged"


SPOKEN: Mapping[str, Callable[[Any], str]] = {
    "percent": lambda share: f"{100 * share:.0f} %",
    "plain": plain,
    "time": seconds_of,
    "hours": lambda hours: seconds_of(3600 * hours),
    "whole": lambda amount: f"{amount:.0f}",
    "count": lambda rows: str(len(rows)),
    "list": lambda rows: "; ".join(map(said, rows)),
    "name": lambda name: name if isinstance(name, str) else "",
    "short": lambda text: textwrap.shorten(said(text), LONGEST, placeholder=" ..."),
    "span": lambda ends: " to ".join(map(number, ends)),
    "spark": lambda points: spark([p[1] if isinstance(p, list) else p for p in points]),
    "record": on_record,
    "sources": lambda rows: "; ".join(map(_source, rows[:12])) + more(rows, 12),
    "evaluated": _evaluated,
    "parts": lambda parts: pairs(parts) if len(parts) > 1 else "",
}
"""How a value may be said, where not as itself."""


class _Missing(LookupError):  # noqa: N818 - it names what happened
    """A value is not there, so its line is not either."""


def text(kind: str, answer: Answer, *, whole: bool = False) -> str:
    """The answer of a command as text; ``whole`` leaves nothing out of a judgement."""
    if kind in ("load", "assess") and isinstance(answer.get("runs"), list):
        lines = [f"{len(answer['runs'])} runs lie here, worst first; name one to read it.", "", *_lines("judged", [answer])]
    elif kind == "assess":
        lines = list(answer_page(answer, look_of_terminal(), whole=whole))
    elif kind not in _pages():
        lines = list(anything(answer))
    else:
        lines = [*_lines(kind, [answer | (_PREPARED[kind](answer) if kind in _PREPARED else {})]), *_by_step(answer), *gaps(answer)]
    lines += [f"{alias}: {said(words)}" for alias, words in answer.get("names_as_written", {}).items()]
    return "\n".join(lines).strip("\n")


@cache
def _pages() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    return tomllib.loads(Path(__file__).with_name("pages.toml").read_text(encoding="utf-8"))


def _lines(page: str, scope: Scope) -> Iterable[str]:
    for entry in _pages()[page]:
        with suppress(_Missing):
            head = ["", f"== {_filled(entry['head'], scope)}"] if "head" in entry else [""] if "blank" in entry else []
            body = list(_body(entry, scope))
            yield from (*head, *(line for line in body if line)) if body else ()


def _body(entry: Mapping[str, Any], scope: Scope) -> Iterable[str]:
    """The lines of an entry: one for each of its rows."""
    rows = [row for row in _rows(entry, scope) if all(_holds(condition, [row, *scope]) for condition in entry.get("when", ()))]
    rows = rows[: entry.get("most", len(rows))]
    if columns := entry.get("table"):
        cells = [tuple(_filled([cell], [row, *scope]) for _, cell in columns) for row in rows]
        kept = [i for i in range(len(columns)) if any(row[i] for row in cells)]
        yield from table([tuple(columns[i][0] for i in kept)], [tuple(row[i] for i in kept) for row in cells])
        return
    for row in rows:
        with suppress(_Missing):
            if "use" in entry:
                yield from _lines(entry["use"], [row, *scope])
            elif "quote" in entry:
                quoted = said(_value(entry["quote"], [row, *scope])).splitlines()
                yield from (f"   {entry['mark']}| {line}" for q in quoted for line in textwrap.wrap(q, page_width() - 6) or [""])
            else:
                yield from filled(_filled(entry["text"], [row, *scope])) if entry["text"] else [""]


def _rows(entry: Mapping[str, Any], scope: Scope) -> list[Mapping[str, Any]]:
    if "each" not in entry:
        return [{}]
    try:
        found = _value(entry["each"], scope)
    except _Missing:
        return []
    named = found.items() if isinstance(found, Mapping) and not entry.get("use") else [("", row) for row in _list(found)]
    rows: list[Mapping[str, Any]] = [
        {"key": key, "it": row, "nr": nr} | (row if isinstance(row, dict) else {}) for nr, (key, row) in enumerate(named, 1)
    ]
    return sorted(rows, key=lambda row: -row[entry["sort"]]) if "sort" in entry else rows


def _list(found: Any) -> Sequence[Any]:
    return found if isinstance(found, list | tuple) else [found]


def _holds(condition: str, scope: Scope) -> bool:
    """Whether a value is there (``!``: is not), or is (``=``), or is not (``!=``), what is said."""
    if "=" in condition:
        path, _, wanted = condition.replace("!=", "=").partition("=")
        return (said(_found(path, scope)) == wanted) != ("!=" in condition)
    return bool(_found(condition.lstrip("!"), scope)) != condition.startswith("!")


def _filled(template: str | Sequence[str], scope: Scope) -> str:
    """The line with its values; of a list of parts those whose values are there."""
    if isinstance(template, str):
        return _VALUE.sub(lambda m: _spoken(_value(m[1], scope), m[2]), template)
    parts = []
    for part in template:
        with suppress(_Missing):
            parts.append(_filled(part, scope))
    return "".join(parts)


def _spoken(value: Any, how: str | None) -> str:
    if how is None:
        return said(value)
    if how.startswith("?"):
        return how[1:]
    if how.startswith("of"):
        rows = [plain(said(row[how[3:]])) if how[3:] else said(row) for row in value[:LISTED]]
        return ", ".join(rows) + more(value, LISTED)
    if not (told := SPOKEN[how](value)):
        raise _Missing
    return told


def _value(path: str, scope: Scope) -> Any:
    found = _found(path, scope)
    if found is None or found is False or (isinstance(found, str | list | dict) and not found):
        raise _Missing
    return found


def _found(path: str, scope: Scope) -> Any:
    first, *rest = path.split(".")
    found = next((held[first] for held in scope if isinstance(held, Mapping) and first in held), None)
    for part in rest:
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _checked(answer: Answer) -> Answer:
    told = {kind: [c for c in answer["checks"] if c["outcome"] == kind] for kind in ("fault", "note", "fine", "not_given")}
    return told | {"faults": counted(len(told["fault"]), "fault") if told["fault"] else "no fault", "noted": str(len(told["note"]))}


def _idle(answer: Answer) -> Answer:
    """Idle stretches counted by their place in the step."""
    stretches: dict[str, list[float]] = {}
    for stretch in answer["idle"]:
        if "start" in stretch:
            stretches.setdefault(stretch.get("where", "somewhere"), []).append(stretch["seconds"])
    return {"places": [{"where": w, "count": len(s), "least": min(s), "most": max(s), "all": sum(s)} for w, s in stretches.items()]}


def _sampled(answer: Answer) -> Answer:
    """The samples, of which a part of the reward is named where there are several."""
    nothing = answer["responses"]["count"] and not any(f["outcome"] == "present" for f in answer["says"])
    return {"nothing": nothing, "rewards": [answer["reward"]]}


def _compared(answer: Answer) -> Answer:
    """The runs with their levels as words, the best first where they are many; then the settings of each variant."""
    from rl_advisor.answers.compare import spelled, spelled_levels

    many = len(answer["variants"]) > len(answer["between"]) + 1
    rows = sorted(answer["runs"], key=lambda row: -(row.get("final") or float("-inf"))) if many else answer["runs"]
    told = [", ".join(f"{key} {spelled(x)}" for key, x in list(v["settings"].items())[:COLUMNS]) for v in answer["variants"]]
    variants = [v | {"differs": differs or "no setting differs"} for v, differs in zip(answer["variants"], told, strict=True)]
    return {"runs": [row | {"levels": spelled_levels(row)} for row in rows], "variants": [] if many else variants}


_PREPARED: Mapping[str, Callable[[Answer], Answer]] = {"check": _checked, "gpu": _idle, "samples": _sampled, "compare": _compared}


def _by_step(answer: Answer) -> Iterable[str]:
    """Text statistics at no more than eight steps, first and last among them, those that ever differ."""
    rows = answer.get("statistics", {}).get("steps", []) if "responses" in answer else []
    if not rows:
        return
    rows = [rows[round(i * (len(rows) - 1) / (min(len(rows), COLUMNS) - 1 or 1))] for i in range(min(len(rows), COLUMNS))]
    names = [n for n in dict.fromkeys(k for r in rows for k in r) if n != "step" and len({r.get(n) for r in rows}) > 1]
    yield ""
    yield from table([("by step", *(number(r["step"]) for r in rows))], [(n, *(number(r.get(n, "")) for r in rows)) for n in names])
