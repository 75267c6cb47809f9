"""``*.monitor.csv`` of Gymnasium-style Monitor wrappers: one row an episode with return, length and seconds since the start."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from rl_advisor.reading.parsing.bytes_in import bare_name, head, json_object
from rl_advisor.reading.parsing.columns import number, raw_curve
from rl_advisor.reading.parsing.csv_in import read_table
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Run

FORMAT = "monitor"
_HEADER = re.compile(rb"(?:#[^\n]*\n)?r,l,t\b")


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the columns are a monitor's, behind its comment."""
    return bare_name(path).endswith(".csv") and _HEADER.match(head(path, 4_096)) is not None


def read(path: Path, _: Request = WHOLE) -> Run:
    """Returns and lengths over the environment steps of this one environment, with the time each episode ended.

    ``axis`` is ``episode``: the steps of one file count only its own environment; who has all files merges them by time.
    """
    import pandas as pd

    told = json_object(head(path, 4_096).split(b"\n", 1)[0].lstrip(b"#"))
    table, gaps = read_table(path)
    if not {"r", "l", "t"} <= set(table.columns):
        return Run(gaps=(*gaps, Gap("", "no columns r, l, t")))
    numbers = table[["r", "l", "t"]].apply(pd.to_numeric, errors="coerce").dropna(subset=["l", "t"]).astype(np.float64)
    start = number(told.get("t_start")) or 0.0
    step, time = np.cumsum(numbers["l"].to_numpy()), numbers["t"].to_numpy() + (start if np.isfinite(start) else 0.0)
    curves = {f"monitor/{c}": raw_curve(f"monitor/{c}", step, numbers[c].to_numpy(), time) for c in ("r", "l")}
    config = {"env_id": told["env_id"]} if isinstance(told.get("env_id"), str) else {}
    return Run(curves=curves, config=config, gaps=gaps, axis="episode", step_unit="env steps")
