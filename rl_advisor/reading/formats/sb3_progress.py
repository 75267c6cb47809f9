"""The ``progress.csv`` of Stable-Baselines3's logger: one row for each dump, empty cells where a name was not logged."""

import math
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, head
from rl_advisor.reading.parsing.columns import Row, curves_of, number
from rl_advisor.reading.parsing.csv_in import layout_of, read_table
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Run

FORMAT = "sb3_progress"
APPENDED = "table"
"""How a growing file goes on, so that what was appended can be read alone."""
_STEP = "time/total_timesteps"


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is a CSV with SB3's column of total time steps."""
    return bare_name(path).endswith((".csv", ".tsv")) and _STEP.encode() in head(path, 8_192) and _STEP in layout_of(path).names


def read(path: Path, _: Request = WHOLE) -> Run:
    """The columns as curves over environment steps."""
    table, gaps = read_table(path)
    rows: list[Row] = []
    odd = 0
    for row in table.to_dict("records"):
        step = number(row.get(_STEP))
        if step is not None and step >= 0 and step.is_integer():
            values = {str(k): number(v) if isinstance(v, str) else v for k, v in row.items() if k != _STEP and v == v}  # noqa: PLR0124
            rows.append((step, math.nan, values))
        else:
            odd += 1
    if odd:  # two processes wrote into one file, or a disk was full
        gaps = (*gaps, Gap(path.name, f"{odd:,} lines have no whole number of steps; they are damaged and were left out"))
    return Run(curves=curves_of(rows, path.name), gaps=gaps, formats=(FORMAT,), step_unit="env steps")
