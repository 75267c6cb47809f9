"""Turns the columns of any GPU monitoring tool into the telemetry table of a run.

Shared by the telemetry formats. A tool's column is looked up by its normalised name (lower case, unit and punctuation taken
off), scaled into our unit, and kept as 32-bit numbers: a day of eight GPUs at ten rows a second has to fit into memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rl_advisor.reading.parsing.bytes_in import head
from rl_advisor.run import Gap, Run

if TYPE_CHECKING:
    import pandas as pd

THROTTLE = "throttle"
"""Bit mask of the reasons for which the clock was held down; an extra column, where the tool writes it."""
INSTANT = "power_instant_w"
"""Power without the sensor's averaging; an extra column, where the tool writes it."""

OTHER = "other_gib"
"""Memory of other processes than the largest; an extra column, where processes were recorded."""
PROCESS = re.compile(r"(\d{1,10}):(\d{1,9})")

ROW_LIMIT = 20_000_000
"""Rows of telemetry that are held; a day of eight GPUs at ten rows a second has seven million."""

MIB = 1 / 1024
BYTES = 1 / 2**30
PERCENT = 0.01


def plain_name(header: str) -> str:
    """A column's name without unit, case and surrounding space: ``power.draw [W]`` becomes ``power.draw``."""
    return re.sub(r"[\[(][^\]()\[]*+[\])]$", "", header.strip().strip('"').rstrip()).strip().lower()


def first_line(path: Path) -> str:
    """The first line of a file that is not empty; empty when the file cannot be read."""
    text = head(path).decode("utf-8", "replace").lstrip("\ufeff\r\n ")
    return text.splitlines()[0] if text else ""


def numbers(column: pd.Series) -> pd.Series:
    """A column's cells as numbers, units and separators taken off; what is no number becomes NaN."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return column.astype(np.float64)
    text = column.astype("string").str.extract(r"^\s*(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*[A-Za-z%/]*\s*$", expand=False)
    return pd.to_numeric(text, errors="coerce").astype(np.float64)


def table(columns: Mapping[str, Any], gpu: Any) -> pd.DataFrame:
    """The telemetry table of columns already in our names and units, in the order of time within each GPU.

    Rows without a time are left out, as are repeated rows of one GPU and moment.
    """
    import pandas as pd

    time = np.asarray(columns["time"], np.float64)
    label = pd.Categorical([gpu] * time.size if isinstance(gpu, str) else gpu)
    codes = np.asarray(label.codes)
    at = np.flatnonzero(np.isfinite(time) & (codes >= 0))
    in_time = bool((np.diff(time[at]) >= 0).all())  # then the order of the rows decides, which is a fast sort of small integers
    at = at[np.argsort(codes[at], kind="stable") if in_time else np.lexsort((time[at], codes[at]))]
    again = np.flatnonzero((np.diff(time[at]) == 0) & (np.diff(codes[at]) == 0)) + 1
    at = np.delete(at, again) if again.size else at
    rest = {name: np.asarray(values, np.float32)[at] for name, values in columns.items() if name != "time"}
    return pd.DataFrame({"time": time[at], "gpu": label.take(at), **rest}, copy=False)


def other_memory(processes: pd.Series, gpu: Any) -> npt.NDArray[np.float32]:
    """GiB that processes other than the largest of each GPU hold, from ``pid:MiB;...``; NaN where they were not looked at."""
    import pandas as pd

    frame = pd.DataFrame({"gpu": np.asarray(gpu, dtype=str), "held": processes.astype(object).where(processes.notna(), None)})
    out = np.full(len(frame), np.nan, np.float32)
    for _, part in frame.dropna().groupby("gpu"):
        counted = part["held"].value_counts()
        found = {text: {p: int(m) for p, m in PROCESS.findall(text)} for text in counted.index}
        total: Counter[str] = Counter()
        for text, often in counted.items():
            total.update({p: m * int(often) for p, m in found[str(text)].items()})
        own = max(total, key=lambda p: total[p], default="")
        other = {text: sum(m for p, m in held.items() if p != own) / 1024 for text, held in found.items()}
        out[part.index.to_numpy()] = part["held"].map(other).to_numpy(np.float32)
    return out


def telemetry(path: Path, kind: str, frame: pd.DataFrame, gaps: Iterable[Gap] = ()) -> Run:
    """The part of a run that one telemetry file of that format is."""
    found = tuple(gaps)
    if not len(frame):
        found = (*found, Gap(path.name, "no row of GPU telemetry could be read"))
    return Run(telemetry=frame, gaps=found, formats=(kind,), files=(path.name,))


def too_long(path: Path, rows: int) -> tuple[Gap, ...]:
    """What to say of a file with that many rows, of which no more than about ROW_LIMIT are read."""
    return (Gap(path.name, f"more than {ROW_LIMIT:,} rows; only the first of them were read"),) if rows > ROW_LIMIT else ()


def counted_times(gpu: Sequence[str], seconds: float) -> list[float]:
    """Times for a tool that writes none: the n-th row of each GPU is n times ``seconds`` after an unknown start at 0."""
    seen: Counter[str] = Counter()
    times = []
    for name in gpu:
        times.append(seen[name] * seconds)
        seen[name] += 1
    return times


def no_times(path: Path, seconds: float) -> Gap:
    """What to say where a tool writes no times."""
    return Gap(path.name, f"the tool writes no times: one row in {seconds:g} s is assumed, and steps cannot be laid over it")


def words_table(lines: Iterable[str], start: str, known: Container[str]) -> tuple[pd.DataFrame, int]:
    """A whitespace table whose header line begins with ``start`` and may come back: the known columns as text, and lines that fit none."""
    import pandas as pd

    header: list[str] = []
    rows: list[dict[str, str]] = []
    bad = 0
    for line in lines:
        cells = line.replace("GPU ", "", 1).split() if line.startswith("GPU ") else line.split()
        if line.lower().startswith(start) and any(c in known for c in line.split()):
            header = line.lstrip("#").split()
        elif not line.startswith("#") and cells and not cells[0].lower().startswith("id"):
            if header and len(cells) >= len(header):
                rows.append(dict(zip(header, cells, strict=False)))
            else:
                bad += 1
    return pd.DataFrame(rows), bad
