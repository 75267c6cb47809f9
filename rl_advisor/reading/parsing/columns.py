"""Rows of a log become curves: one array of steps and one of values for each name."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rl_advisor.run import Curve, Floats

Row = tuple[float, float, Mapping[str, Any]]
"""Step, seconds since the epoch (NaN when unknown), values by name."""
Block = tuple[list[int], list[float], list[float], list[Floats | list[Any]]]


Piece = tuple[Floats, Floats, Floats, Floats]
"""Order, steps, times and values of one name in a block of rows."""
Pieces = dict[str, list[Piece]]
Axis = tuple[Any, Floats, Floats | None]
"""How the pieces' rows are put in order (None: they are), their steps and their times."""
BLOCK_ROWS = 4_096
"""Rows that are held as Python numbers before they become arrays."""


def curves_of(rows: Iterable[Row], source: str, skip: Collection[str] = ()) -> dict[str, Curve]:
    """One curve for each name that has a number somewhere, points in the order written; text, lists, tables and ``skip`` are left out."""
    blocks: dict[tuple[str, ...], Block] = {}
    pieces: Pieces = {}
    names: tuple[str, ...] = ()
    block: Block = ([], [], [], [])
    for index, (at, clock, values) in enumerate(rows):
        if (now := tuple(values)) != names or not block[0]:  # rows of equal names follow each other, mostly
            names, block = now, blocks.setdefault(now, ([], [], [], []))
        block[0].append(index)
        block[1].append(at)
        block[2].append(clock)
        block[3].append(_cells(values))
        if len(block[0]) >= BLOCK_ROWS:
            _store(pieces, names, blocks.pop(names))
            block = ([], [], [], [])
    for names, block in blocks.items():
        _store(pieces, names, block)
    axes: dict[tuple[int, ...], Axis] = {}
    kept = {name: pieces[name] for name in pieces if name not in skip}
    pieces.clear()
    return {name: _curve(name, source, kept[name], axes) for name in kept}


def _store(pieces: Pieces, names: tuple[str, ...], block: Block) -> None:
    order, step, time = np.array(block[0], np.float64), np.array(block[1], np.float64), np.array(block[2], np.float64)
    for name, column in zip(names, _numbers(block[3], len(names)), strict=True):
        if column is not None:
            pieces.setdefault(name, []).append((order, step, time, column))


def _curve(name: str, source: str, parts: list[Piece], axes: dict[tuple[int, ...], Axis]) -> Curve:
    """One curve of its pieces; those that come from the same rows share their steps and times, which halves what a wide log takes."""
    key = tuple(id(part[0]) for part in parts)
    if key not in axes:
        axes[key] = _axis(parts)
    turn, step, time = axes[key]
    value = np.concatenate([part[3] for part in parts]) if len(parts) > 1 else parts[0][3]
    return Curve(name, name, source, step, value if turn is None else value[turn], time)


def _axis(parts: list[Piece]) -> Axis:
    order, step, time = (np.concatenate([part[i] for part in parts]) for i in range(3))
    turn = None if (np.diff(order) > 0).all() else np.argsort(order, kind="stable")
    if turn is not None:
        step, time = step[turn], time[turn]
    return turn, step, time if np.isfinite(time).any() else None


def _cells(values: Mapping[str, Any]) -> Floats | list[Any]:
    """The values of a row: an array when all are numbers, which takes a quarter of the memory of Python's."""
    if str in map(type, values.values()):  # numpy would take "1_0" for ten
        return list(values.values())
    try:
        return np.fromiter(values.values(), np.float64, len(values))
    except (ValueError, TypeError, OverflowError):
        return list(values.values())


def _numbers(rows: Sequence[Floats | list[Any]], width: int) -> list[Floats | None]:
    if list in map(type, rows):
        return [_column([row[i] for row in rows]) for i in range(width)]
    try:
        matrix = np.array(rows, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        return [_column([row[i] for row in rows]) for i in range(width)]
    return [np.ascontiguousarray(matrix[:, i]) for i in range(width)]


def _column(values: list[Any]) -> Floats | None:
    numbers = [number(value) for value in values]
    if all(value is None for value in numbers) and any(value is not None for value in values):
        return None
    return np.array([np.nan if value is None else value for value in numbers], np.float64)


def number(value: Any) -> float | None:
    """The value as a float when it is a number or the text of one; None otherwise, also where digits are joined as in Python's source."""
    if isinstance(value, bool | int | float) or (isinstance(value, str) and "_" not in value):
        try:
            return float(value)
        except (ValueError, OverflowError):
            return None
    return None
