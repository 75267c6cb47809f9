"""Responses of several files become one table: what was logged twice once, and groups of different files kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

_SURELY = 8
"""Responses of a step from which two equal lots of them are one lot written twice."""


def logged_once(tables: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    """The tables without the steps whose very responses an earlier one holds: trainers write them to disk and to each tracker as well."""
    if not any(len(table) for table in tables):
        return list(tables)
    import pandas as pd

    steps = [np.unique(table["step"]) for table in tables if len(table) and "step" in table]
    often, count = np.unique(np.concatenate(steps), return_counts=True)
    several = often[count > 1]
    if not several.size:
        return list(tables)
    seen: set[Any] = set()
    out = []
    for table in tables:
        if not len(table) or not {"prompt", "response"} <= set(table.columns):
            out.append(table)
            continue
        twice = table[table["step"].isin(several)]
        told = pd.util.hash_pandas_object(twice[["prompt", "response"]].astype(str), index=False).to_numpy() if len(twice) else np.empty(0)
        marks = {
            step: (step, np.sort(told[rows]).tobytes()) for step, rows in twice.groupby("step").indices.items() if len(rows) >= _SURELY
        }
        again = [step for step, mark in marks.items() if mark in seen]
        seen |= set(marks.values())
        out.append(table[~table["step"].isin(again)] if again else table)
    return out


def groups_apart(table: pd.DataFrame) -> pd.DataFrame:
    """The table with groups told apart that merely have the same name in several files of one step.

    Files of several workers, or of one episode each, count their groups from the same number. Within each of them a group has one prompt;
    where the prompts of the files differ, the prompt becomes a part of the name.
    """
    if not {"group", "prompt", "source"} <= set(table.columns) or table["source"].nunique() < 2:
        return table
    import pandas as pd

    by = [table["step"], table["group"]]
    shared = table.groupby(by)["source"].transform("nunique") > 1
    if not shared.any():
        return table
    inside = table.groupby([*by, table["source"]])["prompt"].transform("nunique")
    mixed = shared & (table.groupby(by)["prompt"].transform("nunique") > 1) & (inside.groupby(by).transform("max") == 1)
    if not mixed.any():
        return table
    number = pd.Series(pd.factorize(table["prompt"])[0].astype(str), index=table.index)
    return table.assign(group=table["group"].astype(str).where(~mixed, table["group"].astype(str) + "/" + number))
