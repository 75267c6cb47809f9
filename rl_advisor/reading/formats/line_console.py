"""Any text in which lines come back (``Episode 10/500, Reward: 12.5``, boxes, tables, bars), and what a log says besides.

Where nothing in the path could be read, every text is looked at, whatever its name: the numbers are read first, and what they are is asked
afterwards.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, beginning, blocks, head
from rl_advisor.reading.parsing.log_lines import CONSOLES
from rl_advisor.reading.parsing.printed_numbers import with_points, writes_commas
from rl_advisor.reading.parsing.printed_rows import read_lines
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Run

FORMAT = "line_console"
GENERAL = True
"""Asked only when no other format claims a file."""
_LOG = re.compile(r".*(?:\.(?:log|out|err)|std(?:out|err)(?:\.txt)?|(?:console|log|output)\.txt)")
"""Names of logs, whose tracebacks say why a run died even where no row stands in them."""
_NONE = re.compile(r"(?:readme|changelog|license|requirements|contributing).*|.*(?:debug(?:-internal|-core)?\.log|\.ipynb)")
"""Texts about a project; what W&B says about itself; a notebook, of which only the outputs are a log."""
_HEAD = 1 << 19
_BOX = re.compile(
    rb"^(?:.{0,80}\| ?)?(?:-{20,}\s*\n\| *\S|(?:\[[^\]\n]*\] ?)?-{3,} +-{3,}\s*$)|^[\xe2\x94-\x95\x80-\xbf]{3} \S", re.MULTILINE
)
_IN_FULL = ("progress.csv", "progress.json", "progress.txt", "metrics.jsonl")


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether it is text and the name may be that of a log; where nothing else could be read, whether it is text."""
    name = bare_name(path)
    if _NONE.fullmatch(name) or not (ask.last_resort or name.endswith(CONSOLES)):
        return False
    start = head(path, 4_096)
    if ask.last_resort and name.endswith(".json") and start.lstrip()[:1] in (b"{", b"["):  # its lines are no rows
        return False
    return bool(start) and b"\x00" not in start and not start.startswith(b"version https://git-lfs")


def read(path: Path, ask: Request = WHOLE) -> Run:
    """A curve for each name that comes back, over the count by which the rows go; of several runs one, the others are named."""
    text: Iterable[list[str]] = blocks(path)
    if writes_commas(beginning(path, _HEAD)):
        text = ([*map(with_points, some)] for some in text)
    part = read_lines(text, ask, headings=bare_name(path).endswith(".md"))
    if part.curves and (ask.last_resort or not _told_in_full(path)):
        return part
    events = tuple(replace(event, step=None) for event in part.events) if _LOG.fullmatch(bare_name(path)) else ()
    return Run(events=events, gaps=() if part.curves else part.gaps)


def _told_in_full(path: Path) -> bool:
    """Whether it prints boxes, which keep three digits, and a file beside it has all of them."""
    boxes = _BOX.search(head(path, _HEAD).replace(b"\r", b"")) is not None
    return boxes and (any((path.parent / name).is_file() for name in _IN_FULL) or any(path.parent.glob("events.out.tfevents.*")))
