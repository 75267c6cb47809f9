"""The page on many runs, complete in one file: counts, a table that draws only what is on the screen, what broke first, what they share."""

import os
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rl_advisor.answers.document.blocks import Lines, Section, Table
from rl_advisor.answers.reports.html.page import locked, section
from rl_advisor.answers.reports.html.parts import html_of
from rl_advisor.answers.reports.html.words import text
from rl_advisor.output.wording import listed, plain, value
from rl_advisor.tools.triage.common import FAILED, common, sentences
from rl_advisor.tools.triage.row import Row
from rl_advisor.tools.triage.table import HEAD, cells, saved
from rl_advisor.tools.triage.urgency import CLASSES, SAID

HEADS = {
    "run": "run",
    "curve": "outcome",
    "verdict": "verdict",
    "call": "call",
    "why": "what broke first",
    "best_checkpoint": "keep",
    "step": "step",
    "age_s": "age",
    "saves_gpu_hours": "stopping saves",
}
"""The columns of the table by what the script knows them as."""
_AS_THEY_ARE = (*("run", "where", "call", "best_checkpoint", "step", "planned_steps", "age_s", "saves_gpu_hours", "framework", "error"),)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
LONGEST = 160


def page(rows: Sequence[Row], reports: Mapping[str, str] | None = None) -> str:
    """The page as HTML text; ``reports`` says where the report of a run lies."""
    counts, shared = Counter(row["urgency"] for row in rows), common(rows)
    title = f"{len(rows):,} runs{_below(rows)}, {time.strftime('%Y-%m-%d %H:%M')}"
    chips = "".join(
        f'<li class="u-{name}"><button type="button" data-kind="{n}" aria-pressed="false"><b>{counts[name]:,}</b>{SAID[name]}</button></li>'
        for n, name in enumerate(CLASSES)
        if counts[name]
    )
    heads = "".join(
        f'<div role="columnheader" class="cell" data-by="{by}" aria-sort="none"><button type="button">{said}</button></div>'
        for by, said in HEADS.items()
    )
    lede = "".join(f'<p class="lede">{text(line, LONGEST)}</p>' for line in saved(rows))
    paper = html_of(Table("Runs", HEAD, [cells(row, LONGEST, LONGEST) for row in rows]))
    body = (
        f'<main id="main" class="wide"><header class="verdict"><h1><span class="word">{title}</span></h1>{lede}'
        f'<ul class="counts">{chips}</ul></header><section aria-label="Runs"><div class="finding-bar">'
        '<label for="find">Find</label><input id="find" type="search" placeholder="name, cause, verdict, framework" autocomplete="off">'
        '<label for="view">Show</label><select id="view"><option value="rows">table</option>'
        '<option value="tiles">curves side by side</option></select>'
        '<span class="shown" role="status"></span></div>'
        f'<div class="rows" role="table" aria-label="Runs, most urgent first" tabindex="0"><div class="head" role="row">{heads}</div>'
        f'<div class="space" role="rowgroup"></div></div><div class="detail" aria-live="polite"></div>'
        f'<noscript><div class="paper">{paper}</div></noscript></section>'
        f"{''.join(section(part) for part in _parts(rows, shared))}</main>"
    )
    data = {"kinds": CLASSES, "columns": columns(rows, reports or {})}
    return locked(title, "open", body, data, styles=("report.css", "triage.css"), scripts=("triage.js",))


def _below(rows: Sequence[Row]) -> str:
    """Below which folder they lie, by its name."""
    places = {Path(str(row["where"])).absolute().parent for row in rows if row.get("where") and "://" not in str(row["where"])}
    shared = os.path.commonpath(places) if places else ""
    return f" below {text(Path(shared).name, 60)}" if Path(shared).name else ""


def _parts(rows: Sequence[Row], shared: Row) -> list[Section]:
    """What failed by what broke first, and what the runs have in common; a part that has nothing to say is left out."""
    by: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["urgency"] in FAILED and row["cause"]:
            by[plain(row["cause"])].append(row)
    causes = [
        [cause, str(len(own)), value(sum(row.get("saves_gpu_hours") or 0.0 for row in own)), listed([row["run"] for row in own], 3)]
        for cause, own in sorted(by.items(), key=lambda item: -len(item[1]))
    ]
    first = Table("What broke first", ("what broke first", "runs", "GPU hours that stopping saves", "look at first"), causes)
    told = sentences(shared)
    parts = ("causes", "Failing runs by what broke first", first, causes), ("common", "What the runs have in common", Lines(told), told)
    return [Section(key, title, [block]) for key, title, block, holds in parts if holds]


def columns(rows: Sequence[Row], reports: Mapping[str, str]) -> dict[str, list[Any]]:
    """What the page's script needs of every run, a list a field."""
    found = [_fields(row, reports) for row in rows]
    names = _fields({"run": "", "urgency": "sound"}, {})
    return {name: [fields[name] for fields in found] for name in names}


def _fields(row: Row, reports: Mapping[str, str]) -> dict[str, Any]:
    curve, p = row.get("outcome") or {}, row.get("p")
    y = [v for v in curve.get("y", ()) if v is not None]
    told = {name: (row.get(name) or "")[:LONGEST] if row["urgency"] != "sound" else "" for name in ("why", "do")}
    return {name: row.get(name) for name in _AS_THEY_ARE} | {
        **told,
        "kind": CLASSES.index(row["urgency"]),
        "verdict": plain(row.get("verdict") or "not judged"),
        "p": None if p is None else min(99, max(1, round(100 * p))),
        "burnt": row.get("cost", {}).get("gpu_hours_after_break"),
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
