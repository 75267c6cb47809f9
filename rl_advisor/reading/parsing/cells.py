"""Single cells of tables: a number however it is wrapped, whether a response was cut, and the named numbers inside a cell.

A cell that holds a whole dictionary (RLlib's ``info`` of before 2019, homemade loggers) becomes columns of their own, by ``/``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor.reading.parsing.bytes_in import parse_json
from rl_advisor.reading.parsing.columns import SETTINGS, flat

if TYPE_CHECKING:
    import pandas as pd

_CUT = re.compile("length|max_(?:output_)?tokens|max_turns|truncat|token_limit|clipped")
"""Parts of a finish reason that say a limit ended the response (``length``, ``max_tokens``, ``max_response_length_exceeded``)."""
_MOST_PARTS = 50
LIMIT = 64_000_000
"""Characters of dictionaries in one table; beyond that they stay closed."""
LONGEST = 1_000_000
"""Characters of a dictionary that is opened."""
_NAN, _INF = (re.compile(rf"(?<=[\s:\[(,-]){word}(?=[\s,\])}}])") for word in ("-?nan", "inf"))


def first(place: Mapping[str, Any], names: Iterable[str], kind: type | tuple[type, ...] = object) -> Any:
    """What stands under the first of these names that has something of that kind; None where none has."""
    return next((value for name in names if (value := place.get(name)) is not None and isinstance(value, kind)), None)


def as_number(value: Any, fold: Callable[[list[float]], float] = sum) -> float:
    """A cell as a float, NaN when it is none: a list of per-token or per-turn numbers is folded into one, a named set gives its total."""
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, Mapping):
        value = value["total"] if "total" in value else list(value.values())
    if isinstance(value, (list, tuple, np.ndarray)):
        numbers = [float(v) for v in value if isinstance(v, (int, float, np.number))]
        return float(fold(numbers)) if numbers else np.nan
    try:
        return np.nan if isinstance(value, str) and "_" in value else float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def as_cut(value: Any) -> float:
    """Whether a limit ended the response: 1 or 0 by a flag, a number or a finish reason; NaN where the cell says nothing."""
    if isinstance(value, str):
        said = value.strip().lower()
        known = {"true": 1.0, "false": 0.0} | dict.fromkeys(("", "none", "null", "nan"), np.nan)
        return known.get(said, float(_CUT.search(said) is not None) if not said.replace(".", "", 1).isdecimal() else float(said))
    return as_number(value)


def named_numbers(column: pd.Series) -> pd.DataFrame:
    """The numbers that mappings in a column name (``{"format": 1, "correct": 0}``, as text too), each as a column; empty without any."""
    import pandas as pd

    found = pd.DataFrame([cell if isinstance(cell, Mapping) else dictionary(cell) for cell in column], index=column.index)
    return found.rename(columns=str).iloc[:, :_MOST_PARTS].map(_plain).dropna(axis=1, how="all")


def is_numeric(cells: pd.Series[Any]) -> bool:
    """Whether the cells of a column are numbers as they are."""
    import pandas as pd

    return bool(pd.api.types.is_numeric_dtype(cells))


def _plain(value: Any) -> float:
    return float(value) if isinstance(value, (int, float, np.number)) else np.nan


def opened(table: pd.DataFrame) -> pd.DataFrame:
    """The table with a column for each number inside of such cells; what holds settings, or is no dictionary, stays as it is."""
    import pandas as pd

    closed = [
        name
        for name in table.columns
        if not is_numeric(table[name]) and str(name).lower() not in SETTINGS and _isdictionary(table[name].dropna())
    ]
    if not closed or sum(int(table[name].astype(str).str.len().sum()) for name in closed) > LIMIT:
        return table
    parts = [table.drop(columns=closed)]
    for name in closed:
        rows = [flat(dictionary(cell), f"{name}/") for cell in table[name]]
        parts.append(pd.DataFrame(rows, index=table.index).drop(columns=list(table.columns), errors="ignore"))
    return pd.concat(parts, axis=1)


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
