"""Console lines of the form ``step:12 - actor/entropy:0.64 - ...``, as verl prints them, with colours and Ray's prefixes."""

import math
import re
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, head, lines, plain_text
from rl_advisor.reading.parsing.columns import Row, curves_of
from rl_advisor.reading.parsing.log_lines import Watch
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Run

FORMAT = "verl_console"
APPENDED = "lines"
"""How a growing file goes on, so that what was appended can be read alone."""
CONSOLE = True
_LINE = re.compile(r"\bstep:(\d+) - (?=[^\s:][^:]*:)")
_PAIR = re.compile(
    r"([^\s:][^:]*?):(?:np\.\w+\(|tensor\()?([-+]?(?:\d[\d_]*+(?:\.\d*+)?(?:[eE][-+]?\d++)?|\.\d++(?:[eE][-+]?\d++)?|nan|inf|None))(?![\w.])"
)
_SUFFIXES = (".log", ".txt", ".out", ".err", ".md", "stdout", "stderr", "output", "console")


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether a text log has such a line in its first half megabyte."""
    return bare_name(path).endswith(_SUFFIXES) and re.search(rb"\bstep:\d+ - [^\s:][^:\n]*:", head(path, 524_288)) is not None


def read(path: Path, _: Request = WHOLE) -> Run:
    """One row for each step line, and the events between them."""
    rows: list[Row] = []
    watch = Watch(path.name)
    step = 0.0
    for line in watch.through(lines(path)):
        mark = _LINE.search(line) if "step:" in line else None
        if mark is None:
            watch.look(line, step)
            continue
        step = float(mark.group(1))
        rows.append((step, math.nan, _pairs(plain_text(line[mark.end() :]))))
    return Run(curves=curves_of(rows, path.name), events=watch.finish(step), formats=(FORMAT,))


def _pairs(text: str) -> dict[str, float]:
    found = (_PAIR.match(piece) for piece in text.split(" - "))
    return {m.group(1): math.nan if m.group(2) == "None" else float(m.group(2)) for m in found if m}
