"""Metrics in one JSON document: lists of equal length, lists of rows, maps from steps to values, of one run or of several."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor.reading.parsing.bytes_in import PACK_ERRORS, bare_name, document, head, parse_json
from rl_advisor.reading.parsing.columns import number
from rl_advisor.reading.parsing.flat_config import flat
from rl_advisor.reading.parsing.json_tables import FEWEST, Content, Table, runs_in
from rl_advisor.reading.parsing.metric_table import MEASURED, of_a_trainer, part_of, step_columns
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import UNSAID, Curve, Floats, Gap, Run
from rl_advisor.run_reference import chosen, listed

if TYPE_CHECKING:
    pass

FORMAT = "columns"
GENERAL = True
SIZE_LIMIT = 256_000_000
_NUMBERS = re.compile(rb'\[\s*(?:-?\d|NaN|null|-?Infinity)|\{\s*"(?:dtype|py/object)"')
_ROWS = re.compile(rb"\[\s*\{")
_MAP = re.compile(rb'"\d{1,12}"\s*:\s*(?:-?\d|NaN|null)')
_COUNTER = re.compile(rb'(?i)"[\w/. ]{0,40}(?:step|episode|iter|epoch|update|frame|generation)[\w/. ]{0,40}"\s*:')


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether its beginning has numbers in lists, rows or maps, under a name that counts them or one that only trainers write."""
    if not bare_name(path).endswith(".json"):
        return False
    start = head(path, 65_536).lstrip()
    if start[:1] not in (b"{", b"["):
        return False
    if start.startswith(b"[") and not _rows(start):
        return False
    holds = _NUMBERS.search(start) or _ROWS.search(start) or _MAP.search(start)
    return holds is not None and (ask.last_resort or _COUNTER.search(start) is not None or _of_a_trainer(start))


def _rows(start: bytes) -> bool:
    """Whether a list begins with an object whose text is short: a row of metrics, or a run, and no sample."""
    try:
        row, _ = json.JSONDecoder().raw_decode(start[1:].decode("utf-8", "replace").lstrip())
    except (ValueError, RecursionError):
        return len(start) >= 65_536 and start[1:].lstrip().startswith(b"{")
    return isinstance(row, dict) and not any(isinstance(v, str) and len(v) > 120 for v in row.values())


def _of_a_trainer(start: bytes) -> bool:
    """Whether a list of numbers, or a field of a row, has a name that only trainers write."""
    names = [name.decode("utf-8", "replace") for name in re.findall(rb'"([^"]{1,80})"\s*:\s*\[\s*(?:-?\d|NaN|null)', start)]
    return of_a_trainer(names, [*names, *names])


def read(path: Path, ask: Request = WHOLE) -> Run:
    """Each column as a curve over the steps that its table names, else over the order of the rows; one run of several."""
    try:
        found = parse_json(document(path, SIZE_LIMIT))
    except (ValueError, OverflowError, *PACK_ERRORS) as error:
        return Run(gaps=(Gap(path.name, f"damaged, or no columns of numbers: {error}"[:300]),), formats=(FORMAT,))
    if isinstance(found, dict) and (series := _series(found, path.name)):
        return Run(curves=series, formats=(FORMAT,))
    runs = runs_in(found)
    ranked = sorted(runs, key=lambda name: -max((table.rows for table in runs[name].tables), default=0))
    likely = ask.last_resort and any(MEASURED.search(name) for name in (path.stem, *(runs[ranked[0]].names if ranked else ())))
    if not ranked or not (likely or _counts(runs[ranked[0]].tables)):
        return Run()
    name = chosen(ranked, ask.run)
    part = _part(runs[name], path.name, ask.run if name == "" else "")
    several = listed(ranked, name, path.name) if name else part
    return replace(part, place=several.place, others=several.others, gaps=(*several.gaps, *part.gaps), formats=(FORMAT,))


def _counts(tables: Sequence[Table]) -> bool:
    """Whether a table counts its rows, or has the names of a trainer."""
    return any(step_columns(list(t.columns)) or of_a_trainer(list(t.columns), [*t.columns, *t.columns]) for t in tables if t.counted)


def _part(content: Content, source: str, run: str) -> Run:
    """The tables of one run together: what has no steps lies on those of a table of the same length, or is left out."""
    import pandas as pd

    parts = [(table, part_of(pd.DataFrame(table.columns), source, lambda c, t=table: f"{t.prefix}{c}", run)) for table in content.tables]  # type: ignore[misc]
    parts = [(table, part) for table, part in parts if part.curves]
    counted = [part for _, part in parts if part.axis == "step"]
    base = max(counted or [part for _, part in parts], key=_points, default=Run())
    steps = {t.rows: c.step for t, part in parts if part.axis == "step" for c in part.curves.values() if c.step.size == t.rows}
    curves: dict[str, Curve] = {}
    odd = 0
    for table, part in parts:
        for name, curve in part.curves.items():
            free = name if name not in curves else f"{table.prefix}{name} ({table.rows})"
            if part.axis == base.axis:
                curves[free] = replace(curve, name=free, raw=free)
            elif table.rows in steps and curve.step.size == table.rows:
                curves[free] = replace(curve, name=free, raw=free, step=steps[table.rows])
            else:
                odd += 1
    gaps: tuple[Gap, ...] = (Gap(source, f"{odd} lists are not as long as {_counter(content.tables)}; left out"),) if odd else ()
    gaps += tuple(gap for _, part in parts for gap in part.gaps)
    return replace(base, curves=curves, gaps=gaps, config=flat(content.settings))


def _points(part: Run) -> int:
    return max((curve.step.size for curve in part.curves.values()), default=0)


def _counter(tables: Sequence[Table]) -> str:
    return next((step_columns(list(table.columns))[0] for table in tables if step_columns(list(table.columns))), UNSAID)


def _series(found: dict[Any, Any], source: str) -> dict[str, Curve]:
    """The curves of an object in which every value has its own steps.

    Sacred's metrics.json has two lists in an object, its info.json a list and one of the same name with ``_T``, tensorboardX's
    summary.json rows of time, step and value.
    """
    curves: dict[str, Curve] = {}
    for raw, value in found.items():
        name, time = str(raw), None
        if isinstance(value, dict):
            step, values = value.get("steps"), value.get("values")
        elif isinstance(value, list) and f"{name}_T" in found:
            step, values = found[f"{name}_T"], [v.get("value") if isinstance(v, dict) else v for v in value]
        elif isinstance(value, list) and value and all(isinstance(row, list) and len(row) == 3 for row in value):
            time, step, values = ([row[i] for row in value] for i in range(3))
            name = _tag(name)
        else:
            continue
        if isinstance(step, list) and isinstance(values, list) and len(step) == len(values) and _is_column(step) and _is_column(values):
            seconds = _numbers(time) if time is not None and _is_column(time) else None
            curves[name] = Curve(name, name, source, _numbers(step), _numbers(values), seconds)
    return curves


def _tag(name: str) -> str:
    """The tag at the end of a path; a group of scalars has the tag twice."""
    parts = re.split(r"(?:^|/)logs/", name)[-1].split("/")
    half = len(parts) // 2
    return "/".join(parts[:half] if len(parts) > 1 and parts[:half] == parts[half:] else parts)


def _is_column(values: list[Any]) -> bool:
    return len(values) >= FEWEST and all(v is None or isinstance(v, int | float) for v in values)


def _numbers(values: list[Any]) -> Floats:
    return np.array([np.nan if (v := number(value)) is None else v for value in values])
