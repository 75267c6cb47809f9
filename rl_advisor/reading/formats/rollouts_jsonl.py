"""Responses in rows: JSON lines, CSV, or one JSON document, and any such file with a response-like text column.

A document is a list of rows, a table with ``columns`` and ``data`` as W&B keeps it, or one episode (rLLM's ``episode_....json``,
SWE-agent's ``.traj``).
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from itertools import islice
from math import nan
from pathlib import Path
from typing import Any

from rl_advisor.reading.parsing.bytes_in import bare_name, document, head, open_bytes, parse_json
from rl_advisor.reading.parsing.cells import as_number
from rl_advisor.reading.parsing.completions import run_of_rows
from rl_advisor.reading.parsing.json_rows import LONGEST, cut_of, decoded, json_lines
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.reservoir import Batch, Reservoir
from rl_advisor.reading.parsing.rollout_table import path_step, roles
from rl_advisor.reading.parsing.trajectories import STEPS, TRAJECTORIES, holds_response
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.run import Run

FORMAT = "rollouts_jsonl"
_LINES = (".jsonl", ".ndjson", ".json", ".traj")
_CELLS = (".csv", ".tsv")
_TELLING = (TRAJECTORIES, "messages", "columns", *STEPS)
"""Keys one of which stands at the beginning of a document with responses."""
_LARGEST = 64 << 20
"""Bytes of a document."""
_LOOK = 20
"""Lines looked at to tell what a file is."""
_TOGETHER = 500
"""Rows that are looked at together."""
_SMALL = 32 << 20
"""Size in bytes up to which every row is kept."""
_PACKING = 10
"""How many times smaller a packed file may be than its rows."""
_Row = tuple[int, Any, int | None, Any]
"""Number (from 0), row (None for one that cannot be read), the response's size in bytes where that is known, and what is kept of it."""


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether the first readable rows hold a response: text or chat messages under a response-like name, or a known writer's columns."""
    if not bare_name(path).endswith((*_LINES, *_CELLS)):
        return False
    try:
        return any(holds_response(row, ask.columns) for _, row, *_ in islice(_rows(path, ask.columns), _LOOK) if row)
    except PACK_ERRORS:
        return _is_table(path)


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The responses of one file, at most a bounded sample a step when it is large; what was left out or corrupt is a gap."""
    small = path.stat().st_size <= (_SMALL if bare_name(path) == path.name.lower() else _SMALL // _PACKING)
    kept = Reservoir(rows_per_step=10**9, budget=4 * _SMALL) if small else Reservoir()
    said, coming = path_step(path), _rows(path, ask.columns, skip=not small)
    while some := list(islice(coming, _TOGETHER)):
        kept.corrupt += sum(row is None for _, row, *_ in some)
        for alike in _alike(some):
            _offer(kept, alike, said, ask.columns)
    rows = kept.table(lambda payload: payload if isinstance(payload, dict) else decoded(payload))
    return run_of_rows(rows, path, ask.columns, FORMAT, kept.beside(path.name))


def _alike(rows: Sequence[_Row]) -> Iterable[list[_Row]]:
    """The rows that can be read, those of the same columns together."""
    found: dict[tuple[str, ...], list[_Row]] = {}
    for row in rows:
        if row[1] is not None:
            found.setdefault(tuple(row[1]), []).append(row)
    return found.values()


def _offer(kept: Reservoir, some: list[_Row], said: int | None, columns: Mapping[str, str]) -> None:
    """Offer rows of the same columns by what decides whether they are kept: their step, reward, length in bytes, and prompt."""
    numbers, rows, sizes, payloads = zip(*some, strict=True)
    at_step, at_reward, at_response, at_prompt = _places(tuple(rows[0]), columns)
    batch = Batch(
        number=numbers,
        step=_steps([row.get(at_step, said) for row in rows]),
        reward=_plain([row.get(at_reward, nan) for row in rows], float, as_number),
        size=[_size(row, at_response) if size is None else size for row, size in zip(rows, sizes, strict=True)],
        prompt=_plain([row.get(at_prompt, "") for row in rows], str, lambda p: str(p)[:2_000]),
    )
    kept.offer(batch, lambda picked: [payloads[i] for i in picked])


def _plain(values: list[Any], kind: type, change: Callable[[Any], Any]) -> list[Any]:
    """The values, those of another kind changed; nearly always there are none."""
    return values if set(map(type, values)) == {kind} else [v if type(v) is kind else change(v) for v in values]


def _steps(values: list[Any]) -> list[Any]:
    """The values, None for one that can be no step."""
    if set(map(type, values)) <= {int, str}:
        return values
    return [v if isinstance(v, (int, float, str)) and v == v else None for v in values]  # noqa: PLR0124 - NaN equals nothing


def _size(row: dict[str, Any], at_response: str) -> int:
    response = row.get(at_response)
    if not isinstance(response, str):
        return sum(len(str(v)) for v in row.values())
    return len(response) if response.isascii() else len(response.encode("utf-8", "replace"))


def _places(names: tuple[str, ...], columns: Mapping[str, str]) -> tuple[str, str, str, str]:
    """The names that step, reward, response and prompt go by in a row of these names; one that is in no row where there is none."""
    raw = {ours: raw for raw, ours in roles(names, columns)[0].items()}
    return raw.get("step", "\0"), raw.get("reward", "\0"), raw.get("response", "\0"), raw.get("prompt", "\0")


def _rows(path: Path, columns: Mapping[str, str], *, skip: bool = False) -> Iterator[_Row]:
    """Every row; ``skip`` leaves its response unread, which is most of a line, until it is known which rows stay."""
    if bare_name(path).endswith(_CELLS):
        return _csv_rows(path)
    rows = _document_rows(path)
    return _json_rows(path, columns, skip) if rows is None else ((number, row, None, row) for number, row in enumerate(rows))


def _json_rows(path: Path, columns: Mapping[str, str], skip: bool) -> Iterator[_Row]:
    cut = None
    for number, line in json_lines(path):
        if line is not None and cut is not None and (brief := cut.brief(line)):
            yield number, *brief, line
        else:
            row = None if line is None else decoded(line)
            cut = cut_of(row, line, _places(tuple(row), columns)[2]) if skip and row and line else None
            yield number, row, None, line if skip else row


def _document_rows(path: Path) -> list[dict[str, Any] | None] | None:
    """The rows of a file that is one JSON document, None for what is no row; nothing for a file of lines.

    Raises:
        OSError: the document is damaged.
    """
    start = head(path, 65_536).lstrip()
    listed = start.startswith(b"[") and start[1:].lstrip().startswith(b"{")
    if bare_name(path).endswith(_LINES[:2]) or not (listed or any(b'"%b"' % key.encode() in start for key in _TELLING)):
        return None
    try:
        found = parse_json(document(path, _LARGEST))
    except (ValueError, OverflowError):
        if listed or _is_table(path):
            raise OSError("the document is damaged, or too large") from None
        return None
    if isinstance(found, dict) and isinstance(names := found.get("columns"), list) and isinstance(data := found.get("data"), list):
        whole = [isinstance(row, list) and len(row) == len(names) for row in data]
        return [dict(zip(map(str, names), row, strict=True)) if right else None for row, right in zip(data, whole, strict=True)]
    return [row if isinstance(row, dict) else None for row in found] if isinstance(found, list) else [found]


def _is_table(path: Path) -> bool:
    return bare_name(path).endswith(".table.json")


def _csv_rows(path: Path) -> Iterator[_Row]:
    csv.field_size_limit(LONGEST)
    with TextIOWrapper(open_bytes(path), encoding="utf-8", errors="replace", newline="") as file:
        reader = csv.DictReader((line.replace("\0", "") for line in file), delimiter="\t" if bare_name(path).endswith(".tsv") else ",")
        try:
            for number, row in enumerate(reader):
                yield number, None if None in row or None in row.values() else row, None, row
        except (csv.Error, *PACK_ERRORS):
            yield -1, None, None, None
