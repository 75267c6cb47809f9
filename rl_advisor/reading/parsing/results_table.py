"""Tables in which each row is a thing by itself (a method, a data set, a model) and none is a moment of a training."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

FEWEST, MOST = 3, 60
"""Rows of a table of results."""
_LONG = ({"metric", "metrics", "metric_name", "name", "tag", "key", "variable"}, {"value", "values", "val"})
"""Columns of a table that has a row for each number."""


def of_results(table: pd.DataFrame) -> bool:
    """Whether a short table that nothing counts names each of its rows, numbers in the names aside, in its first columns."""
    if not FEWEST <= len(table) <= MOST or not any(kind.isdisjoint(table) for kind in _LONG):
        return False
    text = [table[name].map(lambda cell: isinstance(cell, str) and re.search(r"[^\W\d]{2}", cell) is not None).all() for name in table]
    if not text[0] or all(text):
        return False
    labels = table.loc[:, text].map(lambda cell: re.sub(r"\d+", "", cell))
    return len(labels.drop_duplicates()) == len(labels)
