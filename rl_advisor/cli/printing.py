"""Answers as plain text for a terminal: what matters first, no decoration that a pipe would choke on. The lines stand in ``pages.toml``."""

import textwrap
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from rl_advisor import discovery
from rl_advisor.answers.brief import differing
from rl_advisor.answers.templates import Missing, Scope, found_at, rows_of, sentences, templated
from rl_advisor.answers.terminal import answer_page, look_of_terminal
from rl_advisor.output import Answer
from rl_advisor.output.layout import anything, filled, gaps, number, page_width, said, table
from rl_advisor.output.wording import counted, setting

COLUMNS = 8
PAGES = discovery.table(__file__, "pages.toml")
"""The lines of every page."""


def text(kind: str, answer: Answer, *, whole: bool = False) -> str:
    """The answer of a command as text; ``whole`` leaves nothing out of a judgement."""
    if kind in ("load", "assess") and isinstance(answer.get("runs"), list):
        lines = [f"{len(answer['runs'])} runs lie here, worst first; name one to read it.", "", *_lines("judged", [answer])]
    elif kind == "assess":
        lines = list(answer_page(answer, look_of_terminal(), whole=whole))
        lines += _lines("whole", [answer]) if whole else ()
    elif kind in ("case", "cases"):
        lines = sentences(kind, answer)
    elif kind not in PAGES:
        lines = list(anything(answer))
    else:
        lines = [*_lines(kind, [answer | (_PREPARED[kind](answer) if kind in _PREPARED else {})]), *_by_step(answer), *gaps(answer)]
    lines += [f"{alias}: {said(words)}" for alias, words in answer.get("names_as_written", {}).items()]
    return "\n".join(lines).strip("\n")


def _lines(page: str, scope: Scope) -> Iterable[str]:
    for entry in PAGES[page]:
        with suppress(Missing):
            head = ["", f"== {templated(entry['head'], scope)}"] if "head" in entry else [""] if "blank" in entry else []
            body = list(_body(entry, scope))
            yield from (*head, *(line for line in body if line)) if body else ()


def _body(entry: Answer, scope: Scope) -> Iterable[str]:
    """The lines of an entry: one for each of its rows."""
    rows = rows_of(entry, scope)
    if columns := entry.get("table"):
        cells = [tuple(templated([cell], row) for _, cell in columns) for row in rows]
        kept = [i for i in range(len(columns)) if any(row[i] for row in cells)]
        yield from table([tuple(columns[i][0] for i in kept)], [tuple(row[i] for i in kept) for row in cells])
        return
    for row in rows:
        with suppress(Missing):
            if "use" in entry:
                yield from _lines(entry["use"], row)
            elif "quote" in entry:
                quoted = said(found_at(entry["quote"], row)).splitlines()
                yield from (f"   {entry['mark']}| {line}" for q in quoted for line in textwrap.wrap(q, page_width() - 6) or [""])
            else:
                yield from filled(templated(entry["text"], row)) if entry["text"] else [""]


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
    """Whether no pattern shows in the samples that there are."""
    return {"nothing": answer["responses"]["count"] and not any(f["outcome"] == "present" for f in answer["says"])}


def _compared(answer: Answer) -> Answer:
    """The runs with their levels as words, the best first where they are many; then the settings of each variant."""
    from rl_advisor.answers.compare import spelled_levels

    many = len(answer["variants"]) > len(answer["between"]) + 1
    rows = sorted(answer["runs"], key=lambda row: -(row.get("final") or float("-inf"))) if many else answer["runs"]
    told = [", ".join(f"{key} {setting(x)}" for key, x in list(v["settings"].items())[:COLUMNS]) for v in answer["variants"]]
    variants = [v | {"differs": differs or "no setting differs"} for v, differs in zip(answer["variants"], told, strict=True)]
    return {"runs": [row | {"levels": spelled_levels(row)} for row in rows], "variants": [] if many else variants}


_PREPARED: Mapping[str, Callable[[Answer], Answer]] = {"check": _checked, "gpu": _idle, "samples": _sampled, "compare": _compared}


def _by_step(answer: Answer) -> Iterable[str]:
    """Text statistics at no more than eight steps, first and last among them, those that ever differ."""
    told = differing(answer.get("statistics", {}).get("steps", []) if "responses" in answer else [], COLUMNS)
    if told:
        yield ""
        yield from table([("by step", *map(number, told.pop("step")))], [(n, *map(number, column)) for n, column in told.items()])
