"""JSON lines of metrics: flat with a step key, ``{"step": 3, "data": {...}}``, or ``{"step", "time"}`` lines that give only the clock."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, byte_lines, head, json_object, parse_json
from rl_advisor.reading.parsing.columns import flat, number
from rl_advisor.reading.parsing.metric_table import OF_PLAN, over_rows, step_columns
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.trajectories import holds_response
from rl_advisor.run import Gap, Named, Run

FORMAT = "metrics_jsonl"
_SUFFIXES = (".jsonl", ".json", ".ndjson", ".log")


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether the first line is a JSON object with a step and a number, and no text of a rollout."""
    if not bare_name(path).endswith(_SUFFIXES):
        return False
    row = json_object(head(path, 2_000_000).lstrip().partition(b"\n")[0])
    rows_inside = any(isinstance(v, list) and v and isinstance(v[0], dict) for v in row.values())  # a trainer's state on one line
    if not row or rows_inside or holds_response(row, ask.columns, asked=True):
        return False
    numbers = [name for name, value in _values(dict(row), nested=True).items() if number(value) is not None]
    return len(numbers) > 1 and bool(step_columns(numbers))


def read(path: Path, ask: Request = WHOLE) -> Run:
    """One row for each line; nested objects become names with ``/``. Where no line names a step, ``axis`` is ``row``."""
    gaps: list[Gap] = []
    part = over_rows(_rows(path, gaps), ask.run)
    return replace(part, gaps=(*gaps, *part.gaps))


def _rows(path: Path, gaps: list[Gap]) -> Iterator[Named]:
    """The rows of a file; on the way what is wrong is put into the list."""
    bad = 0
    for count, line in enumerate(byte_lines(path), 1):
        try:
            row = parse_json(line)
        except ValueError:
            bad = bad or (count if line.strip() else 0)
            continue
        if isinstance(row, dict):
            yield _values(row, nested=line.count(b"{") > 1)
    if bad:
        gaps.append(Gap("", f"line {bad} is no whole JSON object (cut off or damaged); the others were read"))


def _values(row: Named, *, nested: bool) -> Named:
    """The metrics of a row; ``nested`` is false where its text shows that no object lies inside."""
    if isinstance(row.get("data"), dict):
        row |= row.pop("data")
    if isinstance(planned := row.get(OF_PLAN), str):
        row[OF_PLAN] = number(planned.partition("/")[0])
    return flat(row) if nested else row
