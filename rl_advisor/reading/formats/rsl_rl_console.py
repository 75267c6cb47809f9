"""What rsl_rl prints (Isaac Lab, legged_gym): ``Learning iteration 12/1500`` and then one ``name: number`` a line."""

import math
import re
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, head, lines, plain_text
from rl_advisor.reading.parsing.columns import Row, curves_of
from rl_advisor.reading.parsing.log_lines import Watch
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Run

FORMAT = "rsl_rl_console"
APPENDED = re.compile(rb"^[^\n]*Learning iteration \d+/\d+", re.MULTILINE)
"""What each block of a growing file begins with: whole blocks are read once, the last one again."""
CONSOLE = True
_MARK = re.compile(r"Learning iteration (\d+)/(\d+)")
_PAIR = re.compile(r"\s*+([A-Z][\w /.-]*+):\s++([-+]?(?:\d++(?:\.\d*+)?(?:e[-+]?\d++)?|nan|inf))s?(?:\s++steps/s\b.*)?\s*+", re.IGNORECASE)
_SUFFIXES = (".log", ".txt", ".out", ".err", "stdout", "output", "console")


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether a text log has such a line in its first megabyte."""
    return bare_name(path).endswith(_SUFFIXES) and re.search(rb"Learning iteration \d+/\d+", head(path, 1 << 20)) is not None


def read(path: Path, _: Request = WHOLE) -> Run:
    """One row for each iteration, names as printed."""
    rows: list[Row] = []
    watch = Watch(path.name)
    step, planned = 0.0, None
    for raw in watch.through(lines(path)):
        line = plain_text(raw)
        mark = _MARK.search(line)
        pair = _PAIR.fullmatch(line) if rows else None
        if mark:
            step, planned = float(mark.group(1)), int(mark.group(2))
            rows.append((step, math.nan, {}))
        elif pair:
            rows[-1] = (step, math.nan, {**rows[-1][2], pair.group(1): float(pair.group(2))})
        else:
            watch.look(raw, step)
    return Run(curves=curves_of(rows, path.name), events=watch.finish(step), planned_steps=planned, formats=(FORMAT,))
