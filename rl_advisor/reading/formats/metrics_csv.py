"""CSV tables of metrics with a column that counts steps: RLlib's progress.csv, homemade logs, exports of W&B charts and TensorBoard.

One row an episode with return, length and seconds since the start is what Gymnasium-style Monitor wrappers write (``*.monitor.csv``).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rl_advisor.output.run_reference import among, chosen, listed
from rl_advisor.reading.parsing.bytes_in import bare_name, beginning, head, json_object
from rl_advisor.reading.parsing.columns import number, raw_curve
from rl_advisor.reading.parsing.csv_in import Layout, layout_of, read_table
from rl_advisor.reading.parsing.metric_table import numbers_in, part_of, plain_number, step_columns
from rl_advisor.reading.parsing.printed_numbers import writes_commas
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.trajectories import holds_response
from rl_advisor.run import Gap, Run

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "metrics_csv"
_FOLDER = "scalars"
_TENSORBOARD = ["walltime", "step", "value"]
_MONITOR = ["r", "l", "t"]
_CHART_STEPS = ("step", "global_step", "train/global_step", "relative time (wall)", "relative time (process)")


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether the header has a column that counts steps and the first row has two numbers and no long text; in the last resort any rows."""
    if not (ask.last_resort or bare_name(path).endswith((".csv", ".tsv", ".txt"))):
        return False
    layout = layout_of(path)
    if ask.last_resort:
        start = beginning(path, 1 << 19)
        words = layout.separator == "," and re.search(r"[^\W\d]", " ".join(map(" ".join, layout.rows[:1])))
        return bool(layout.names) and "\0" not in start and not start.startswith(("{", "[")) and not (words and writes_commas(start))
    names = list(layout.names)
    if layout.bare or names[:3] == _MONITOR:
        return not layout.bare or _scalar(path, layout) != ""
    if not names or (bare_name(path).endswith(".txt") and layout.separator != "\t"):
        return False
    first = layout.rows[0]
    numbers = sum(_is_number(cell, layout) for cell in first)
    long = (cell for cell in first if len(cell) > 60 and not cell.startswith(("{", "[")))
    sample = holds_response(dict(zip(names, first, strict=True)), ask.columns, asked=True)
    return not sample and bool(step_columns(names)) and numbers >= 2 and all(_is_number(cell, layout) for cell in long)


def read(path: Path, ask: Request = WHOLE) -> Run:
    """Every numeric column as a curve; of several runs in one file that with most rows, the others are named in a gap."""
    table, gaps = read_table(path)
    if table.empty:
        return Run(gaps=gaps or (Gap("", "no rows"),))
    if list(table)[:3] == _MONITOR:
        return replace(_of_episodes(path, table), gaps=gaps)
    if scalar := _scalar(path, layout_of(path)):
        table = table.iloc[:, -2:].set_axis(["step", scalar], axis=1)
    table, several = _one_chart(table, ask.run)
    exported = [str(c).lower().replace(" ", "").replace("_", "") for c in table.columns] == _TENSORBOARD
    part = among(part_of(table, lambda column: _name(column, path, exported=exported), ask.run), several)
    return replace(part, gaps=(*gaps, *part.gaps))


def _of_episodes(path: Path, table: pd.DataFrame) -> Run:
    """Returns and lengths over the environment steps of this one environment, with the time each episode ended.

    ``axis`` is ``episode``: the steps of one file count only its own environment; who has all files merges them by time.
    """
    told = json_object(head(path, 4_096).split(b"\n", 1)[0].lstrip(b"#"))
    value, length, time = (numbers_in(table[name]) for name in _MONITOR)
    ended = np.isfinite(length + time)
    start = number(told.get("t_start")) or 0.0
    step, time = np.cumsum(length[ended]), time[ended] + (start if np.isfinite(start) else 0.0)
    curves = {f"monitor/{name}": raw_curve(f"monitor/{name}", step, found[ended], time) for name, found in (("r", value), ("l", length))}
    config = {"env_id": told["env_id"]} if isinstance(told.get("env_id"), str) else {}
    return Run(curves=curves, config=config, axis="episode", step_unit="env steps", formats=("monitor",))


def _scalar(path: Path, layout: Layout) -> str:
    """The name of the one scalar of a file without a header: TorchRL's ``scalars/<name>.csv``, d3rlpy's beside its parameters."""
    folder = next((parent for parent in path.parents if parent.name == _FOLDER), None)
    if not layout.bare:
        return ""
    if folder and len(layout.names) == 2:
        return path.relative_to(folder).as_posix().removesuffix(".csv")
    return path.name.split(".", 1)[0] if len(layout.names) == 3 and (path.parent / "params.json").is_file() else ""


def _one_chart(table: pd.DataFrame, wanted: str) -> tuple[pd.DataFrame, Run]:
    """Of W&B's export of one chart, in which every column but the step is ``run - metric``, the columns of one run."""
    runs = {str(c): str(c).rpartition(" - ")[0] for c in table.columns[1:]}
    if not runs or str(table.columns[0]).lower() not in _CHART_STEPS or not all(runs.values()):
        return table, Run()
    sizes = Counter[str]()
    for column, run in runs.items():
        sizes[run] += int(table[column].notna().sum())
    names = [name for name, _ in sizes.most_common()]
    read = chosen(names, wanted)
    return table[[table.columns[0], *(c for c, run in runs.items() if run == read)]], listed(names, read)


def _name(column: str, path: Path, *, exported: bool) -> str | None:
    """The metric's name: TensorBoard's export has it in the file name only, W&B's behind the run's name; None for bounds and clocks."""
    if exported:
        return path.stem if column.lower() == "value" else None
    if " - " in column:
        return None if column.endswith(("__MIN", "__MAX")) else column.rpartition(" - ")[2]
    return column


def _is_number(cell: str, layout: Layout) -> bool:
    """Whether a cell is a number as this table writes them."""
    return number(plain_number(cell.replace(layout.thousands or "\0", "").replace(layout.decimal, "."))) is not None
