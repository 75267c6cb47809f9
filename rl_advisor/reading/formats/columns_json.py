"""Metrics in one JSON document: lists of equal length, lists of rows, maps from steps to values, of one run or of several."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from rl_advisor.output.run_reference import among, chosen, listed
from rl_advisor.reading.parsing.bytes_in import bare_name, document, head, json_lines, json_object, json_values, parse_json
from rl_advisor.reading.parsing.columns import WIDEST, number, raw_curve
from rl_advisor.reading.parsing.config.values import flat
from rl_advisor.reading.parsing.json_tables import FEWEST, Content, Table, is_column, runs_in
from rl_advisor.reading.parsing.metric_table import part_of, step_columns
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.run import Curves, Floats, Gap, Run

FORMAT = "columns"
GENERAL = True
SIZE_LIMIT = 256_000_000
MOST_ROWS = 1_000_000
_ROWS = re.compile(rb"\[\s*+\{")


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether it is a JSON object or list; where nothing else could be read, whatever its name."""
    named = bare_name(path).endswith(".json") or (ask.last_resort and not bare_name(path).endswith(".ipynb"))
    return named and head(path, 64).lstrip()[:1] in (b"{", b"[")


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The curves of the document; of a damaged one those of its first list of rows, or of the lines that hold an object."""
    gaps: tuple[Gap, ...] = ()
    try:
        found = parse_json(text := document(path, SIZE_LIMIT))
    except (OverflowError, *PACK_ERRORS) as error:
        return Run(gaps=(Gap("", f"no columns of numbers: {error}"[:300]),))
    except ValueError as error:
        found = [row for _, line in islice(json_lines(path), MOST_ROWS) if line and (row := json_object(line))]
        if len(found) < FEWEST:
            begin = _ROWS.search(text)
            found = json_values(text[begin.end() - 1 :].decode("utf-8", "replace"))[0] if begin else []
            gaps = (Gap("", f"the JSON ends early or is damaged; rows before that were kept: {error}"[:300]),)
    part = _run_of(found, ask)
    return replace(part, gaps=(*gaps, *part.gaps)) if part.curves or (gaps and not ask.last_resort) else Run()


def _run_of(found: Any, ask: Request) -> Run:
    """Each column as a curve over the steps that its table names, else over the order of the rows; one run of several.

    Nothing where no table counts its rows, unless it is the last resort.
    """
    if isinstance(found, dict) and (series := _series(found)):
        return Run(curves=series)
    runs = runs_in(found)
    ranked = sorted(runs, key=lambda name: -max((table.rows for table in runs[name].tables), default=0))
    if not ranked or not (ask.last_resort or any(step_columns(list(t.columns)) for t in runs[ranked[0]].tables if t.counted)):
        return Run()
    name = chosen(ranked, ask.run)
    return among(_part(runs[name], ask.run if name == "" else ""), listed(ranked, name))


def _part(content: Content, run: str) -> Run:
    """The tables of one run together: what has no steps lies on those of a table of the same length, or is left out."""
    import pandas as pd

    parts = [(table, part_of(pd.DataFrame(_nan_said(table)), lambda c, t=table: f"{t.prefix}{c}", run)) for table in content.tables]  # type: ignore[misc]
    parts = [(table, part) for table, part in parts if part.curves]
    counted = [part for _, part in parts if part.axis == "step"]
    base = max(counted or [part for _, part in parts], key=lambda part: max(c.step.size for c in part.curves.values()), default=Run())
    steps = {t.rows: c.step for t, part in parts if part.axis == "step" for c in part.curves.values() if c.step.size == t.rows}
    curves: Curves = {}
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
    gaps: tuple[Gap, ...] = (Gap("", f"{odd} lists are not as long as the steps; left out"),) if odd else ()
    gaps += tuple(gap for _, part in parts for gap in part.gaps)
    most = number(content.settings.get("max_steps"))
    planned = int(most) if most and 0 < most < 1e15 else None  # -1 for none, by transformers' Trainer
    return replace(base, curves=curves, gaps=gaps, config=flat(content.settings), planned_steps=planned)


def _nan_said(table: Table) -> dict[str, list[Any]]:
    """The columns with a NaN that is written out as its word: what is missing is another thing."""
    return {
        name: ["nan" if v != v else v for v in values] if any(v != v for v in values) else values  # noqa: PLR0124
        for name, values in islice(table.columns.items(), WIDEST + 1)
    }


def _series(found: dict[Any, Any]) -> Curves:
    """The curves of an object in which every value has its own steps.

    Sacred's metrics.json has two lists in an object, its info.json a list and one of the same name with ``_T``, tensorboardX's
    summary.json rows of time, step and value.
    """
    curves: Curves = {}
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
        if is_column(step) and is_column(values) and len(step) == len(values):  # type: ignore[arg-type]
            seconds = _numbers(time) if is_column(time) else None
            curves[name] = raw_curve(name, _numbers(step), _numbers(values), seconds)
    return curves


def _tag(name: str) -> str:
    """The tag at the end of a path; a group of scalars has the tag twice."""
    parts = re.split(r"(?:^|/)logs/", name)[-1].split("/")
    half = len(parts) // 2
    return "/".join(parts[:half] if len(parts) > 1 and parts[:half] == parts[half:] else parts)


def _numbers(values: Any) -> Floats:
    return np.array([np.nan if (v := number(value)) is None else v for value in values])
