"""The page on many runs, complete in one file: counts, a table that draws only what is on the screen, curves, what the runs share."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rl_advisor.output.wording import plain
from rl_advisor.reports.html.page import locked
from rl_advisor.reports.html.words import text
from rl_advisor.triage.row import Row
from rl_advisor.triage.table import HEAD, cells, saved
from rl_advisor.triage.urgency import CLASSES, SAID

HEADS = (
    ("run", "run"),
    ("", "outcome"),
    ("verdict", "verdict"),
    ("call", "call"),
    ("why", "what broke first"),
    ("keep", "keep"),
    ("step", "step"),
    ("age", "age"),
    ("saves", "stopping saves"),
)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
LONGEST = 160
MOST_ON_PAPER = 2_000
"""Rows of the plain table."""


def page(rows: Sequence[Row], common: str = "", reports: Mapping[str, str] | None = None) -> str:
    """The page as HTML text; ``reports`` says where the report of a run lies, ``common`` is ready HTML of what the runs have in common."""
    counts, title = Counter(row["urgency"] for row in rows), f"{len(rows):,} runs{_below(rows)}"
    chips = "".join(
        f'<li class="u-{name}"><button type="button" data-kind="{n}" aria-pressed="false"><b>{counts[name]:,}</b>{SAID[name]}</button></li>'
        for n, name in enumerate(CLASSES)
        if counts[name]
    )
    heads = "".join(
        f'<div role="columnheader" class="cell"{f" data-by={by!r} aria-sort=" + repr("none") if by else ""}>'
        f"{f'<button type=button>{said}</button>' if by else f'<span class=note>{said}</span>'}</div>"
        for by, said in HEADS
    )
    lede = "".join(f'<p class="lede">{text(line, LONGEST)}</p>' for line in saved(rows))
    body = (
        f'<main id="main" class="wide"><header class="verdict"><h1><span class="word">{title}</span></h1>{lede}'
        f'<ul class="counts">{chips}</ul></header><section aria-label="Runs"><div class="finding-bar">'
        '<label for="find">Find</label><input id="find" type="search" placeholder="name, cause, verdict, framework" autocomplete="off">'
        '<label for="view">Show</label><select id="view"><option value="rows">table</option>'
        '<option value="tiles">curves side by side</option></select>'
        '<span class="shown" role="status"></span></div>'
        f'<div class="rows" role="table" aria-label="Runs, most urgent first" tabindex="0"><div class="head" role="row">{heads}</div>'
        f'<div class="space" role="rowgroup"></div></div><div class="detail" aria-live="polite"></div>'
        f"<noscript>{_paper(rows)}</noscript></section>{common}</main>"
    )
    data = {"kinds": list(CLASSES), "columns": columns(rows, reports or {})}
    return locked(title, "open", body, data, styles=("report.css", "triage.css"), scripts=("triage.js",))


def _below(rows: Sequence[Row]) -> str:
    """Below which folder they lie, by its name."""
    places = {Path(str(row["where"])).absolute().parent for row in rows if row.get("where") and "://" not in str(row["where"])}
    shared = os.path.commonpath(places) if places else ""
    return f" below {text(Path(shared).name, 60)}" if Path(shared).name else ""


def _paper(rows: Sequence[Row]) -> str:
    """The rows as a plain table, for browsers without scripts; the page's script lays it out when it is printed."""
    body = "".join(
        "<tr>" + "".join(f"<td>{text(cell, LONGEST)}</td>" for cell in cells(row, LONGEST, LONGEST)) + "</tr>"
        for row in rows[:MOST_ON_PAPER]
    )
    left = len(rows) - MOST_ON_PAPER
    more = f"<p class=note>{left:,} more are in the file of rows.</p>" if left > 0 else ""
    return f'<table class="paper"><thead><tr>{"".join(f"<th>{h}</th>" for h in HEAD)}</tr></thead><tbody>{body}</tbody></table>{more}'


def columns(rows: Sequence[Row], reports: Mapping[str, str]) -> dict[str, list[Any]]:
    """What the page's script needs of every run, a list a field."""
    found = [_fields(row, reports) for row in rows]
    names = _fields({"run": "", "where": "", "urgency": "sound"}, {})
    return {name: [fields[name] for fields in found] for name in names}


def _fields(row: Row, reports: Mapping[str, str]) -> dict[str, Any]:
    cost, curve = row.get("cost") or {}, row.get("outcome") or {}
    y = [v for v in curve.get("y", ()) if v is not None]
    p = row.get("p")
    return {
        "run": row["run"],
        "where": row["where"],
        "kind": CLASSES.index(row["urgency"]),
        "verdict": plain(row.get("verdict") or "not judged"),
        "p": None if p is None else min(99, max(1, round(100 * p))),
        "call": row.get("call") or "",
        "why": (row.get("why") or "")[:LONGEST] if row["urgency"] != "sound" else "",
        "do": (row.get("do") or "")[:LONGEST] if row["urgency"] != "sound" else "",
        "keep": row.get("best_checkpoint"),
        "step": row.get("step"),
        "planned": row.get("planned_steps"),
        "age": row.get("age_s"),
        "saves": row.get("saves_gpu_hours"),
        "burnt": cost.get("gpu_hours_after_break"),
        "framework": row.get("framework") or "",
        "error": row.get("error") or "",
        "outcome": curve.get("raw", ""),
        "low": min(y, default=None),
        "high": max(y, default=None),
        "curve": encoded(y),
        "broke": _share(row.get("broke_at"), curve.get("x", ())),
        "report": reports.get(row["run"], ""),
    }


def encoded(values: Sequence[float]) -> str:
    """A curve as a letter a point, 0 at its lowest and z at its highest."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return "".join(_DIGITS[round(35 * (v - low) / (high - low))] if high > low else "h" for v in values)


def _share(step: float | None, steps: Sequence[float]) -> float | None:
    """Where on the way from the first to the last step a step lies, in percent."""
    if step is None or len(steps) < 2 or not steps[0] < steps[-1]:
        return None
    return round(min(100.0, max(0.0, 100 * (step - steps[0]) / (steps[-1] - steps[0]))), 1)
