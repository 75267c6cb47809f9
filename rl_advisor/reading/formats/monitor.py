"""``*.monitor.csv`` of Gymnasium-style Monitor wrappers: one row an episode with return, length and seconds since the start."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rl_advisor.reading.parsing.bytes_in import bare_name, head, json_object
from rl_advisor.reading.parsing.csv_in import read_table
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Curve, Gap, Run

if TYPE_CHECKING:
    pass

FORMAT = "monitor"
_HEADER = re.compile(rb"(?:#[^\n]*\n)?r,l,t\b")
APPENDED = "table"
"""How a growing file goes on, so that what was appended can be read alone."""


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the columns are a monitor's, behind its comment."""
    return bare_name(path).endswith(".csv") and _HEADER.match(head(path, 4_096)) is not None


def read(path: Path, _: Request = WHOLE) -> Run:
    """Returns and lengths over the environment steps of this one environment, with the time each episode ended.

    ``axis`` is ``episode``: the steps of one file count only its own environment; who has all files merges them by time.
    """
    import pandas as pd

    comment = head(path, 4_096).split(b"\n", 1)[0]
    table, gaps = read_table(path, skip=1 if comment.startswith(b"#") else 0)
    if not {"r", "l", "t"} <= set(table.columns):
        return Run(gaps=(*gaps, Gap(path.name, "no columns r, l, t")), formats=(FORMAT,))
    numbers = pd.DataFrame({name: pd.to_numeric(table[name], errors="coerce") for name in ("r", "l", "t")}).dropna(subset=["l", "t"])
    length = numbers["l"].to_numpy(np.float64)
    time = numbers["t"].to_numpy(np.float64) + _start(comment)
    step = np.cumsum(length)
    curves = {
        name: Curve(name, name, path.name, step, value, time)
        for name, value in (("monitor/r", numbers["r"].to_numpy(np.float64)), ("monitor/l", length))
    }
    config = {"env_id": name} if isinstance(name := json_object(comment.lstrip(b"#")).get("env_id"), str) else {}
    return Run(curves=curves, config=config, gaps=gaps, formats=(FORMAT,), axis="episode", step_unit="env steps")


def _start(comment: bytes) -> float:
    start = json_object(comment.lstrip(b"#")).get("t_start")
    return float(start) if isinstance(start, int | float) and math.isfinite(start) else 0.0
