"""Rows of a log become curves: one array of steps and one of values for each name.

Trackers spread one training step over many rows, each with the trainer's own step among its values.
"""

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rl_advisor.run import Curve, Floats

Row = tuple[float, float, Mapping[str, Any]]
"""Step, seconds since the epoch (NaN when unknown), values by name."""
Places = npt.NDArray[np.int64]
BLOCK_ROWS = 4_096
"""Rows that are held as Python numbers before they become arrays."""
WIDEST = 10_000
"""Columns of a table: what stands beyond is left out, and no name of it is looked at."""
SETTINGS = ("config", "params", "hyperparameters", "settings", "args", "hparams", "metadata")
"""Names of objects that hold no measurements."""


def raw_curve(name: str, step: Floats, value: Floats, time: Floats | None = None) -> Curve:
    """A curve under the name that its writer gave it; which file it is of, who reads the run says."""
    return Curve(name, name, "", step, value, time)


def curves_of(rows: Iterable[Row], skip: Collection[str] = ()) -> dict[str, Curve]:
    """One curve for each name that has a number somewhere, points in the order written; text, lists, tables and ``skip`` are left out.

    Names of the same rows share their steps and times, which halves what a wide log takes.
    """
    steps, times = array("d"), array("d")
    pieces: dict[str, list[tuple[Places, Floats]]] = {}
    blocks: dict[tuple[str, ...], tuple[list[int], list[Floats | list[Any]]]] = {}
    for index, (step, clock, values) in enumerate(rows):
        steps.append(step)
        times.append(clock)
        block = blocks.setdefault(names := tuple(values), ([], []))
        block[0].append(index)
        block[1].append(_cells(values))
        if len(block[0]) >= BLOCK_ROWS:
            _store(pieces, names, *blocks.pop(names))
    for names, block in blocks.items():
        _store(pieces, names, *block)
    step_of, time_of = np.frombuffer(steps), np.frombuffer(times)
    axes: dict[tuple[int, ...], tuple[Any, ...]] = {}
    curves = {}
    for name in [n for n in pieces if n not in skip]:
        rows_of, values_of = zip(*pieces.pop(name), strict=True)
        if (key := tuple(map(id, rows_of))) not in axes:
            turn = np.argsort(at := np.concatenate(rows_of), kind="stable")
            time = time_of[at[turn]]
            axes[key] = rows_of, turn, step_of[at[turn]], time if np.isfinite(time).any() else None
        _, turn, step, time = axes[key]
        curves[name] = raw_curve(name, step, np.concatenate(values_of)[turn], time)
    return curves


def _store(pieces: dict[str, list[tuple[Places, Floats]]], names: Sequence[str], rows: list[int], cells: list[Floats | list[Any]]) -> None:
    at = np.array(rows)
    whole = None if list in map(type, cells) else np.array(cells, np.float64)
    for i, name in enumerate(names):
        if whole is not None:
            pieces.setdefault(name, []).append((at, np.ascontiguousarray(whole[:, i])))
            continue
        column = [number(row[i]) for row in cells]  # null in some rows may be how a NaN was written, null in all is nothing
        if any(value is not None for value in column):
            pieces.setdefault(name, []).append((at, np.array(column, np.float64)))


def _cells(values: Mapping[str, Any]) -> Floats | list[Any]:
    """The values of a row: an array when all are numbers, which takes a quarter of the memory of Python's."""
    try:  # of text numpy would take "1_0" for ten, and of what is missing NaN
        return (
            list(values.values())
            if {str, type(None)} & set(map(type, values.values()))
            else np.fromiter(values.values(), np.float64, len(values))
        )
    except (ValueError, TypeError, OverflowError):
        return list(values.values())


def number(value: Any) -> float | None:
    """The value as a float when it is a number or the text of one; None otherwise, also where digits are joined as in Python's source."""
    if isinstance(value, bool | int | float) or (isinstance(value, str) and "_" not in value):
        try:
            return float(value)
        except (ValueError, OverflowError):
            return None
    return None


def flat(values: Mapping[str, Any], prefix: str = "", depth: int = 8) -> dict[str, Any]:
    """Return nested dicts as names with ``/``; lists, settings, tables, images and other typed objects are left out."""
    out: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            if "_type" not in value and depth and key not in SETTINGS:
                out |= flat(value, f"{prefix}{key}/", depth - 1)
        elif not isinstance(value, list):
            out[f"{prefix}{key}"] = value
    return out
