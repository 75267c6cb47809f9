"""The ``progress.csv`` of Stable-Baselines3's logger: one row for each dump, empty cells where a name was not logged."""

import math
from pathlib import Path

from rl_advisor.intake.bytes_in import bare_name, head
from rl_advisor.intake.columns import Row, curves_of
from rl_advisor.intake.csv_in import read_table
from rl_advisor.run import Run

FORMAT = "sb3_progress"
APPENDED = "table"
"""How a growing file goes on, so that what was appended can be read alone."""
_STEP = "time/total_timesteps"


def claims(path: Path) -> bool:
    """Whether it is a CSV with SB3's column of total time steps."""
    return bare_name(path).endswith(".csv") and _STEP.encode() in head(path, 8_192).split(b"\n", 1)[0]


def read(path: Path) -> Run:
    """The columns as curves over environment steps."""
    table, gaps = read_table(path)
    rows: list[Row] = []
    for row in table.to_dict("records"):
        step = row.get(_STEP, math.nan)
        if isinstance(step, int | float) and math.isfinite(step):
            rows.append((float(step), math.nan, {str(k): v for k, v in row.items() if k != _STEP and v == v}))  # noqa: PLR0124
    return Run(curves=curves_of(rows, path.name), gaps=gaps, formats=(FORMAT,), step_unit="env steps")
