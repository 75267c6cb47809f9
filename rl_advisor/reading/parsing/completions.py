"""Rows of responses become the part of a run that a file of them is.

Of tables that hold their reward functions but no total the advantages tell which columns are the reward.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rl_advisor.reading.parsing.rollout_table import NOTHING_SAID, layout_of, roles, rollout_table
from rl_advisor.reading.parsing.trajectories import unfolded
from rl_advisor.run import Floats, Gap, Run

if TYPE_CHECKING:
    import pandas as pd


def run_of_rows(rows: pd.DataFrame, path: PurePath, said: Mapping[str, str], kind: str, more: Run | None = None) -> Run:
    """The part of a run that these rows are, one an episode; ``more`` is what is known beside them. ``said`` is that of ``roles``."""
    more = more or Run()
    rows = unfolded(rows) if len(rows) else rows
    table, gaps = completions_table(rows, path, said) if len(rows) else (more.rollouts, ())
    names = tuple(map(str, rows.columns))
    return replace(more, rollouts=table, columns=names, gaps=(*more.gaps, *gaps), files=(path.name,), formats=(kind,))


def completions_table(rows: pd.DataFrame, path: PurePath, said: Mapping[str, str] = NOTHING_SAID) -> tuple[pd.DataFrame, tuple[Gap, ...]]:
    """``rollout_table``, and a total ``reward`` with its ``reward/<part>`` columns where the table is known to write only the parts."""
    table, gaps = rollout_table(rows, path, said)
    known = layout_of(map(str, rows.columns)) is not None and {"completion", "advantage"} <= set(rows.columns)
    parts = _reward_columns(rows) if known else []
    if not parts:
        return table, gaps
    table, note = _with_reward(table, parts)
    return table, (*gaps, Gap(path.name, note)) if note else gaps


def _reward_columns(rows: pd.DataFrame) -> list[str]:
    """The number columns between the completion and the advantage: the reward functions, then numbers the user added."""
    import pandas as pd

    names = list(rows.columns)
    between = names[names.index("completion") + 1 : names.index("advantage")]
    meant = roles([str(name) for name in names])[0]
    return [name for name in between if pd.api.types.is_numeric_dtype(rows[name]) and meant.get(name, "reward") == "reward"]


def _with_reward(table: pd.DataFrame, parts: list[str]) -> tuple[pd.DataFrame, str]:
    """The table with ``reward`` (sum of the parts that the advantage follows) and ``reward/<part>``; and what is not certain."""
    numbers: dict[str, int] = {}
    group = np.array([numbers.setdefault(name, len(numbers)) for name in table["group"].tolist()], np.intp)
    values, advantage = table[parts].to_numpy(np.float64), table["advantage"].to_numpy(np.float64)
    advantage = np.where(np.isnan(advantage), 0.0, advantage)
    told = {n: _explains(values[:, :n], advantage, group) for n in range(len(parts), 0, -1)}
    used = next((n for n, fits in told.items() if fits), len(parts))
    table = table.rename(columns={name: f"reward/{name}" for name in parts[:used]})
    table["reward"] = np.nansum(values[:, :used], axis=1)
    if told[used] is not False or used == 1:
        return table, ""
    return table, "no total reward is written; the unweighted sum of the reward functions was taken, which the advantages do not confirm"


def _explains(values: Floats, advantage: Floats, group: npt.NDArray[np.intp]) -> bool | None:
    """Whether the advantages are, group by group, a scaled copy of the centred sum of these columns; None when no group has a spread."""
    count = np.bincount(group)

    def centred(x: Floats) -> Floats:
        return x - (np.bincount(group, x) / count)[group]

    total, advantage = centred(np.nansum(values, axis=1)), centred(advantage)
    cross = np.bincount(group, total * advantage)
    size = np.sqrt(np.bincount(group, total**2) * np.bincount(group, advantage**2))
    tell = size > 1e-9
    return bool((cross[tell] / size[tell] > 0.999).mean() > 0.95) if tell.any() else None
