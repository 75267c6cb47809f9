"""Cells of a table that hold a whole dictionary (RLlib's ``info`` of before 2019, homemade loggers): columns of their own, by ``/``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from rl_advisor.reading.parsing.bytes_in import parse_json
from rl_advisor.reading.parsing.tracker_rows import flat

if TYPE_CHECKING:
    import pandas as pd

LIMIT = 64_000_000
"""Characters of dictionaries in one table; beyond that they stay closed."""
LONGEST = 1_000_000
"""Characters of a dictionary that is opened."""
_SETTINGS = ("config", "params", "hyperparameters")
_NAN, _INF = (re.compile(rf"(?<=[\s:\[(,-]){word}(?=[\s,\])}}])") for word in ("-?nan", "inf"))


def opened(table: pd.DataFrame) -> pd.DataFrame:
    """The table with a column for each number inside of such cells; what holds settings, or is no dictionary, stays as it is."""
    import pandas as pd

    closed = [
        name
        for name in table.columns
        if not pd.api.types.is_numeric_dtype(table[name]) and str(name).lower() not in _SETTINGS and _isdictionary(table[name].dropna())
    ]
    if sum(int(table[name].astype(str).str.len().sum()) for name in closed) > LIMIT:
        return table
    parts = [table.drop(columns=closed)]
    for name in closed:
        rows = [flat(dictionary(cell), f"{name}/") for cell in table[name]]
        parts.append(pd.DataFrame(rows, index=table.index).drop(columns=list(table.columns), errors="ignore"))
    return pd.concat(parts, axis=1) if closed else table


def _isdictionary(cells: pd.Series[Any]) -> bool:
    return bool(len(cells)) and str(cells.iloc[0]).startswith("{") and bool(dictionary(cells.iloc[0]))


def dictionary(cell: Any) -> dict[str, Any]:
    """What a cell says, as JSON or as Python writes it; empty when it is neither."""
    if not isinstance(cell, str) or not cell.startswith("{") or len(cell) > LONGEST:
        return {}
    try:
        found = parse_json(cell)
    except ValueError:
        try:
            found = ast.literal_eval(_INF.sub("1e999", _NAN.sub("None", cell)))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return {}
    return {str(key): value for key, value in found.items()} if isinstance(found, dict) else {}
