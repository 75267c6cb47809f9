"""Responses in JSON lines or CSV: rollout dumps with one response a line, and any such file with a response-like text column."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import TextIOWrapper
from itertools import islice
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rl_advisor.reading.parsing.bytes_in import bare_name, open_bytes
from rl_advisor.reading.parsing.cells import as_number
from rl_advisor.reading.parsing.json_rows import LONGEST, blocks, cut_of, decoded, json_lines, rows_of
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.reservoir import Batch, Reservoir
from rl_advisor.reading.parsing.rollout_table import path_step, roles, rollout_table
from rl_advisor.reading.parsing.trajectories import holds_response, unfolded
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.run import Run

if TYPE_CHECKING:
    pass

FORMAT = "rollouts_jsonl"
_LINES = (".jsonl", ".ndjson", ".json")
_CELLS = (".csv", ".tsv")
_LOOK = 20
"""Lines looked at to tell what a file is."""
_CELL_ROWS = 500
"""Rows of a table of separated values that are looked at together."""
_SMALL = 32 << 20
"""Size in bytes up to which every row is kept."""
_PACKING = 10
"""How many times smaller a packed file may be than its rows."""


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether the first readable rows hold a response: text or chat messages under a response-like name, or a known writer's columns."""
    if not bare_name(path).endswith((*_LINES, *_CELLS)):
        return False
    try:
        rows = [row for _, row in islice(_rows(path), _LOOK) if row]
    except PACK_ERRORS:
        return False
    return any(holds_response(row, ask.columns) for row in rows)


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The responses of one file, at most a bounded sample a step when it is large; what was left out or corrupt is a gap."""
    import pandas as pd

    small = path.stat().st_size <= (_SMALL if bare_name(path) == path.name.lower() else _SMALL // _PACKING)
    kept = Reservoir(rows_per_step=10**9, budget=4 * _SMALL) if small else Reservoir()
    if _is_cells(path):
        _read_cells(path, kept, ask.columns)
    else:
        _read_lines(path, kept, ask.columns, skip=not small)
    rows = kept.table(lambda payload: payload if isinstance(payload, dict) else decoded(payload))
    rows = unfolded(rows) if len(rows) else rows
    table, gaps = rollout_table(rows, path, ask.columns) if len(rows) else (pd.DataFrame(), ())
    found = Run(rollouts=table, columns=tuple(map(str, rows.columns)), gaps=(*kept.gaps(path.name), *gaps))
    return replace(found, curves=kept.curves(path.name), files=(path.name,), formats=(FORMAT,))


@dataclass(frozen=True)
class _Part:
    """Some rows of a file, None for one that cannot be read."""

    number: Sequence[int]
    rows: Sequence[Any]
    size: Sequence[int | None]
    """Of each row, the response's size in bytes where that is known."""
    payload: Callable[[int], Any]
    """What is kept of a row."""

    def alike(self) -> Iterator[_Part]:
        """The rows that can be read, those of the same columns together."""
        places: dict[tuple[str, ...], list[int]] = {}
        for i, row in enumerate(self.rows):
            if row is not None:
                places.setdefault(tuple(row), []).append(i)
        for some in places.values():

            def payload(i: int, some: list[int] = some) -> Any:
                return self.payload(some[i])

            yield _Part([self.number[i] for i in some], [self.rows[i] for i in some], [self.size[i] for i in some], payload)


def _read_cells(path: Path, kept: Reservoir, columns: Mapping[str, str]) -> None:
    """Offer the rows of a table of comma or tab separated values."""
    said, rows = path_step(path), _csv_rows(path)
    while some := list(islice(rows, _CELL_ROWS)):
        cells = [row for _, row in some]
        kept.corrupt += cells.count(None)
        for part in _Part([number for number, _ in some], cells, [None] * len(cells), cells.__getitem__).alike():
            _offer(kept, part, said, columns)


def _read_lines(path: Path, kept: Reservoir, columns: Mapping[str, str], skip: bool) -> None:
    """Offer every row; ``skip`` leaves its response unread, which is most of a line, until it is known which rows stay."""
    said, cut = path_step(path), None
    for block in blocks(path):
        rows, sizes = rows_of(block, cut)
        kept.corrupt += rows.count(None) + block.too_long
        whole = [i for i, (row, size) in enumerate(zip(rows, sizes, strict=True)) if size is None and row]
        if skip and whole:
            row, line = rows[whole[-1]], block.line(whole[-1])
            cut = cut_of(row, line, _places(tuple(row), columns)[2])
        part = _Part(block.number, rows, sizes, block.line if skip else rows.__getitem__)
        for same in part.alike() if None in sizes else (part,):
            _offer(kept, same, said, columns)


def _offer(kept: Reservoir, part: _Part, said: int | None, columns: Mapping[str, str]) -> None:
    """Offer rows of the same columns by what decides whether they are kept: their step, reward, length in bytes, and prompt."""
    if not part.rows:
        return
    at_step, at_reward, at_response, at_prompt = _places(tuple(part.rows[0]), columns)
    batch = Batch(
        number=part.number,
        step=_steps([row.get(at_step, said) for row in part.rows]),
        reward=_plain([row.get(at_reward, nan) for row in part.rows], float, as_number),
        size=[_size(row, at_response) if size is None else size for row, size in zip(part.rows, part.size, strict=True)],
        prompt=_plain([row.get(at_prompt, "") for row in part.rows], str, lambda p: str(p)[:2_000]),
    )
    kept.offer(batch, lambda picked: [part.payload(i) for i in picked])


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
    return len(response.encode("utf-8", "replace")) if isinstance(response, str) else sum(len(str(v)) for v in row.values())


def _places(names: tuple[str, ...], columns: Mapping[str, str]) -> tuple[str, str, str, str]:
    """The names that step, reward, response and prompt go by in a row of these names; one that is in no row where there is none."""
    raw = {ours: raw for raw, ours in roles(names, columns)[0].items()}
    return raw.get("step", "\0"), raw.get("reward", "\0"), raw.get("response", "\0"), raw.get("prompt", "\0")


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Row number (from 0) and the row; None for one that cannot be read. Blank lines count but give nothing."""
    return _csv_rows(path) if _is_cells(path) else _json_rows(path)


def _is_cells(path: Path) -> bool:
    return bare_name(path).endswith(_CELLS)


def _json_rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | None]]:
    for number, line in json_lines(path):
        yield number, None if line is None else decoded(line)


def _csv_rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | None]]:
    csv.field_size_limit(LONGEST)
    with TextIOWrapper(open_bytes(path), encoding="utf-8", errors="replace", newline="") as file:
        reader = csv.DictReader((line.replace("\0", "") for line in file), delimiter="\t" if bare_name(path).endswith(".tsv") else ",")
        try:
            for number, row in enumerate(reader):
                yield number, None if None in row or None in row.values() else row
        except (csv.Error, *PACK_ERRORS):
            yield -1, None
