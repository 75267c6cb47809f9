"""AReaL's log: ``Train step 3/40 done.`` and then a drawn table, names and numbers in turn, several pairs a line."""

import math
import re
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, head, lines, plain_text
from rl_advisor.reading.parsing.columns import Row, curves_of, number
from rl_advisor.reading.parsing.log_lines import Watch
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Run

FORMAT = "areal_console"
APPENDED = re.compile(rb"^[^\n]{0,200}?StatsLogger[^\n]{0,200}?\bTrain step \d+/\d+ done", re.MULTILINE)
"""What each block of a growing file begins with: whole blocks are read once, the last one again."""
CONSOLE = True
_STEP = re.compile(r"StatsLogger.{0,200}?\bTrain step (\d+)/(\d+) done")
_CELL = re.compile(r"[\w.@-]+(?:/[\w.@ -]+)*")
_SUFFIXES = (".log", ".txt", ".out", ".err", "stdout", "output", "console")
_HEAD = 1 << 20


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether a text log has such a step line in its first megabyte."""
    return (
        bare_name(path).endswith(_SUFFIXES)
        and re.search(rb"StatsLogger.{0,60}: Epoch \d+/\d+ Step \d+/\d+ Train step", head(path, _HEAD)) is not None
    )


def read(path: Path, _: Request = WHOLE) -> Run:
    """One row for each table. The log counts steps from 1, the trackers from 0: the trackers' count is taken."""
    rows: list[Row] = []
    watch = Watch(path.name)
    step, planned = 0.0, None
    values: dict[str, float] = {}
    for line in watch.through(lines(path)):
        if line.lstrip().startswith("│"):
            values |= _pairs(line)
            continue
        mark = _STEP.search(plain_text(line)) if "Train step" in line else None
        if mark:
            rows += [(step, math.nan, values)] if values else []
            step, planned, values = float(mark.group(1)) - 1, int(mark.group(2)), {}
        else:
            watch.look(line, step)
    rows += [(step, math.nan, values)] if values else []
    return Run(curves=curves_of(rows, path.name), events=watch.finish(step), planned_steps=planned, formats=(FORMAT,))


def _pairs(line: str) -> dict[str, float]:
    cells = [cell.strip() for cell in plain_text(line).strip().strip("│").split("│")]
    pairs = ((name, number(text)) for name, text in zip(cells[::2], cells[1::2], strict=False))
    return {name: value for name, value in pairs if value is not None and _CELL.fullmatch(name)}
