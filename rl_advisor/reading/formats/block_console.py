"""What known frameworks print, a block a step: a row of ``block_console.toml`` says how a block begins and what its pairs look like."""

import math
import re
from functools import cache
from pathlib import Path

from rl_advisor.discovery import table
from rl_advisor.reading.parsing.bytes_in import bare_name, beginning, lines, plain_text
from rl_advisor.reading.parsing.columns import Row, curves_of
from rl_advisor.reading.parsing.log_lines import CONSOLES, Watch
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Named, Run

FORMAT = "block_console"
_HEAD = 1 << 20


@cache
def _frameworks() -> dict[str, Named]:
    return table(__file__, "block_console.toml")


def _printed_by(path: Path) -> str:
    """The row of the framework whose steps begin in the first megabyte; empty for none."""
    text = plain_text(beginning(path, _HEAD))
    return next((name for name, how in _frameworks().items() if how["word"] in text and re.search(how["step"], text)), "")


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether a text log has a step line of such a framework in its first megabyte."""
    return bare_name(path).endswith(CONSOLES) and _printed_by(path) != ""


def read(path: Path, _: Request = WHOLE) -> Run:
    """One row for each step, names as printed, and the events between them."""
    name = _printed_by(path)
    how = _frameworks()[name]
    begins, pair = re.compile(how["step"]), re.compile(how["pair"])
    rows: list[Row] = []
    watch = Watch()
    step, planned = 0.0, None
    for raw in watch.through(lines(path)):
        mark = begins.search(line := plain_text(raw)) if how["word"] in raw else None
        if mark:
            step, planned = float(mark[1]) - how.get("first", 0), int(mark[2] or 0) or None
            rows.append((step, math.nan, {}))
        found = pair.findall(line[mark.end() :] if mark else plain_text(raw)) if mark or (rows and how.get("below")) else []
        for key, value in found:
            rows[-1][2][key] = math.nan if value == "None" else float(value)  # type: ignore[index]
        if not (mark or found):
            watch.look(raw, step)
    return Run(curves=curves_of(rows), events=watch.finish(step), planned_steps=planned, formats=(name,))
