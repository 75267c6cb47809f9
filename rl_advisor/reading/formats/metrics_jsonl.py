"""JSON lines of metrics: flat with a step key, ``{"step": 3, "data": {...}}``, or ``{"step", "time"}`` lines that give only the clock.

Lines that name no step are read in their order, where their names are those that only a trainer writes.
"""

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rl_advisor.reading.parsing.bytes_in import bare_name, byte_lines, head, parse_json
from rl_advisor.reading.parsing.columns import Row, curves_of, number
from rl_advisor.reading.parsing.gpu_names import without_counters
from rl_advisor.reading.parsing.metric_table import OF_PLAN, of_a_trainer, one_start, step_columns, unit_of
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.starts import counts_rows
from rl_advisor.reading.parsing.trajectories import is_sample
from rl_advisor.run import UNSAID, Gap, Run

FORMAT = "metrics_jsonl"
APPENDED = "lines"
"""How a growing file goes on, so that what was appended can be read alone."""
STEP_KEYS = (
    "step", "global_step", "training/global_step", "train/global_step", "trainer/global_step", "_step", "training_step", "iteration",
    "training_iteration", "update", "time/total_timesteps", "timesteps_total", "current_steps", "total_steps", "epoch",
)  # fmt: skip
"""Names that count the rows, best first."""
TIME_KEYS = ("_timestamp", "timestamp", "time", "wall_time", "_time")
_TEXT_KEYS = {
    "prompt", "prompts", "input", "inputs", "output", "outputs", "completion", "completions", "response", "responses", "messages", "text",
    "conversation", "trajectory", "traj_idx", "generation", "question", "answer", "task_id", "gpus",
}  # fmt: skip
_FEWEST = 3
"""Lines without a step that a log has at least."""
_ROWS_FOR_COUNTER = 200
LINE_LIMIT = 16_000_000
_EXPORT = re.compile(rb'"(?:train|trainer|training)/global_step": ?\d')
_SUFFIXES = (".jsonl", ".json", ".ndjson", ".log")


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether the first line is a JSON object with a step and a number, and no text of a rollout."""
    if not bare_name(path).endswith(_SUFFIXES):
        return False
    if not head(path, 64).lstrip().startswith(b"{"):
        return False
    start = head(path, 2_000_000).lstrip()
    try:
        row = parse_json(start.split(b"\n", 1)[0])
    except ValueError:
        return False
    if not isinstance(row, dict) or _TEXT_KEYS & row.keys() or is_sample(row, ask.columns) or any(_rows_inside(v) for v in row.values()):
        return False
    return _has_number(row) and (_step_key(row) is not None or _ordered(start))


def _ordered(start: bytes) -> bool:
    """Whether the first lines are rows of a trainer's metrics that name no step."""
    found = []
    for line in start.split(b"\n")[:_FEWEST]:
        try:
            found.append(parse_json(line))
        except ValueError:
            return False
    return len(found) == _FEWEST and all(isinstance(row, dict) and _of_a_trainer(row) for row in found)


def _of_a_trainer(row: Mapping[str, Any]) -> bool:
    numbers = [k for k, v in row.items() if isinstance(v, int | float) and not isinstance(v, bool)]
    text = any(isinstance(v, str) and len(v) > 40 for v in row.values())
    return not text and of_a_trainer(list(row), numbers)


def _rows_inside(value: object) -> bool:
    """Whether a value is itself a list of rows: then the object is a document (a trainer state on one line), not a row."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def read(path: Path, ask: Request = WHOLE) -> Run:
    """One row for each line; nested objects become names with ``/``. Where no line names a step, ``axis`` is ``row``."""
    gaps: list[Gap] = []
    counters: set[str] = set()
    steps: list[float] = []
    curves = curves_of(_rows(path, gaps, counters, steps), path.name, counters)
    named = counters - set(TIME_KEYS)
    counted = counts_rows(np.array(steps))
    if (curves and counted) or not (curves or _ordered(head(path, 2_000_000).lstrip())):
        (first, last), several = one_start(np.array(steps), path.name, ask.run)
        if several.others:
            curves = curves_of(islice(_rows(path, [], counters, []), first, last), path.name, counters)
        unit = unit_of(min(named)) if len(named) == 1 else UNSAID
        gaps += several.gaps
        return without_counters(replace(several, curves=curves, gaps=tuple(gaps), formats=(FORMAT,), step_unit=unit))
    if curves:
        gaps.append(Gap(path.name, f"{min(named)} goes back again and again: the rows are counted instead"))
    curves = curves_of(_rows(path, [], counters, [], ordered=True), path.name, counters)
    return Run(curves=curves, gaps=tuple(gaps), formats=(FORMAT,), axis="row")


def _rows(path: Path, gaps: list[Gap], counters: set[str], steps: list[float], *, ordered: bool = False) -> Iterator[Row]:
    """The rows of a file; on the way what is wrong, the names that count, and the steps of all rows are put into the lists."""
    bad, key = 0, _counter(path)
    export = _EXPORT.search(head(path, 1 << 20)) is not None
    last = 0.0
    for count, line in enumerate(byte_lines(path, LINE_LIMIT), 1):
        try:
            row = parse_json(line)
        except ValueError:
            bad = bad or (count if line.strip() else 0)
            continue
        if not isinstance(row, dict):
            continue
        if ordered:
            last += 1
            yield last, _time(row, counters), _values(row, nested=line.count(b"{") > 1)
            continue
        key = key if key in row else _step_key(row)
        step = number(str(row[key]).partition("/")[0] if key == OF_PLAN else row[key]) if key else None
        if step is None or key is None:
            continue
        counters.add(key)
        # An exported history numbers its rows; one without the trainer's step belongs to the step logged last.
        step = last = last if export and key == "_step" else step
        steps.append(step)
        yield step, _time(row, counters), _values(row, nested=line.count(b"{") > 1)
    if bad:
        gaps.append(Gap(path.name, f"line {bad} is no whole JSON object (cut off or damaged); the others were read"))


def _counter(path: Path) -> str | None:
    """Of the names that may count the first rows the best that goes up: ``total_steps`` may be those of the plan."""
    rows: list[Mapping[str, Any]] = []
    for line in head(path, 65_536).split(b"\n")[:_ROWS_FOR_COUNTER]:
        with suppress(ValueError):
            rows += [row] if isinstance(row := parse_json(line), dict) else []
    first = _step_keys(rows[0]) if rows else []
    for key in first:
        steps = [number(row[key]) or 0.0 for row in rows if key in row] if key != OF_PLAN else [0.0, 1.0]
        if len(steps) > 1 and steps[-1] > steps[0] and all(b >= a for a, b in pairwise(steps)):
            return key
    return first[0] if first else None


def _step_key(row: Mapping[str, Any]) -> str | None:
    return next(iter(_step_keys(row)), None)


def _step_keys(row: Mapping[str, Any]) -> list[str]:
    """The names that may count rows, best first."""
    if isinstance(row.get(OF_PLAN), str):
        return [OF_PLAN]
    names = dict.fromkeys((*(key for key in STEP_KEYS if key in row), *step_columns(list(row))))
    return [key for key in names if isinstance(row[key], int | float) and not isinstance(row[key], bool)]


def _has_number(row: Mapping[str, Any]) -> bool:
    inner = row.get("data")
    values = inner if isinstance(inner, dict) else {k: v for k, v in row.items() if k not in STEP_KEYS[:1]}
    return any(isinstance(v, int | float) or (isinstance(v, dict) and _has_number(v)) for v in values.values())


def _time(row: Mapping[str, Any], counters: set[str]) -> float:
    """Seconds since the epoch when one of the keys holds such a number."""
    for key in TIME_KEYS:
        value = row.get(key)
        if isinstance(value, int | float) and value > 1e9:
            counters.add(key)
            return value / 1000 if value > 1e11 else float(value)
    return math.nan


def _values(row: Mapping[str, Any], *, nested: bool) -> Mapping[str, Any]:
    """The metrics of a row; ``nested`` is false where its text shows that no object lies inside."""
    if len(row) == 2 and "time" in row:
        return {"clock": row["time"]}
    inner = row.get("data")
    values = inner if isinstance(inner, dict) else row
    return _flat(values) if nested and any(isinstance(value, dict) for value in values.values()) else values


def _flat(row: Mapping[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            if depth < 8 and key != "config":
                out.update(_flat(value, f"{prefix}{key}/", depth + 1))
        elif not isinstance(value, list):
            out[f"{prefix}{key}"] = value
    return out
