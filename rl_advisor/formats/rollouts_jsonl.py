"""Responses in JSON lines or CSV: rollout dumps with one response a line, and any such file with a response-like text column."""

import csv
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from itertools import islice
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd

from rl_advisor.intake.bytes_in import bare_name, open_bytes
from rl_advisor.intake.cells import as_number
from rl_advisor.intake.json_rows import LONGEST, cut_of, decoded, json_lines, line_batches
from rl_advisor.intake.reservoir import Batch, Reservoir
from rl_advisor.intake.rollout_table import path_step, roles, rollout_table
from rl_advisor.intake.trajectories import holds_response, unfolded
from rl_advisor.run import Run

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


def claims(path: Path) -> bool:
    """Whether the first readable rows hold a response: text or chat messages under a response-like name, or a known writer's columns."""
    if not bare_name(path).endswith((*_LINES, *_CELLS)):
        return False
    try:
        rows = [row for _, row in islice(_rows(path), _LOOK) if row]
    except (OSError, EOFError):
        return False
    return any(holds_response(row) for row in rows)


def read(path: Path) -> Run:
    """The responses of one file, at most a bounded sample a step when it is large; what was left out or corrupt is a gap."""
    small = path.stat().st_size <= (_SMALL if bare_name(path) == path.name.lower() else _SMALL // _PACKING)
    kept = Reservoir(rows_per_step=10**9, budget=4 * _SMALL) if small else Reservoir()
    if _is_cells(path):
        _read_cells(path, kept)
    else:
        _read_lines(path, kept, skip=not small)
    rows = kept.table(lambda payload: payload if isinstance(payload, dict) else decoded(payload))
    table, gaps = rollout_table(unfolded(rows), path) if len(rows) else (pd.DataFrame(), ())
    return Run(curves=kept.curves(path.name), rollouts=table, files=(path.name,), formats=(FORMAT,), gaps=(*kept.gaps(path.name), *gaps))


_Seen = tuple[int, dict[str, Any], int | None, Any]
"""A row's number, the row (perhaps without its response), the response's size in bytes where that is known, and what is kept of it."""


def _read_cells(path: Path, kept: Reservoir) -> None:
    """Offer the rows of a table of comma or tab separated values."""
    said, rows = path_step(path), _csv_rows(path)
    while part := list(islice(rows, _CELL_ROWS)):
        seen: list[_Seen] = [(number, row, None, row) for number, row in part if row is not None]
        kept.corrupt += len(part) - len(seen)
        _offer(kept, seen, said)


def _read_lines(path: Path, kept: Reservoir, skip: bool) -> None:
    """Offer every row; ``skip`` leaves its response unread, which is most of a line, until it is known which rows stay."""
    said, cut = path_step(path), None
    for batch in line_batches(path):
        lines = [(number, line) for number, line in batch if line is not None]
        briefs = cut.briefs([line for _, line in lines]) if cut else [None] * len(lines)
        seen: list[_Seen] = []
        for (number, line), brief in zip(lines, briefs, strict=True):
            if brief is not None:
                seen.append((number, *brief, line))
            elif (row := decoded(line)) is not None:
                seen.append((number, row, None, line if skip else row))
                cut = cut_of(row, line, _places(tuple(row))[2]) if skip else None
        kept.corrupt += len(batch) - len(seen)
        _offer(kept, seen, said)


def _offer(kept: Reservoir, seen: list[_Seen], said: int | None) -> None:
    """Offer rows by what decides whether they are kept: their step, reward, length in bytes, and prompt."""
    alike: dict[tuple[str, ...], list[_Seen]] = {}
    for one in seen:
        alike.setdefault(tuple(one[1]), []).append(one)
    for names, part in alike.items():
        at_step, at_reward, at_response, at_prompt = _places(names)
        batch = Batch(
            number=[number for number, _, _, _ in part],
            step=_steps([row.get(at_step, said) for _, row, _, _ in part]),
            reward=_plain([row.get(at_reward, nan) for _, row, _, _ in part], float, as_number),
            size=[_size(row, at_response) if size is None else size for _, row, size, _ in part],
            prompt=_plain([row.get(at_prompt, "") for _, row, _, _ in part], str, lambda p: str(p)[:2_000]),
        )
        kept.offer(batch, lambda picked, part=part: [part[i][3] for i in picked])  # type: ignore[misc]


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


def _places(names: tuple[str, ...]) -> tuple[str, str, str, str]:
    """The names that step, reward, response and prompt go by in a row of these names; one that is in no row where there is none."""
    raw = {ours: raw for raw, ours in roles(names)[0].items()}
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
        except (csv.Error, EOFError, OSError):
            yield -1, None
