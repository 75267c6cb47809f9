"""Any text log in which lines come back: ``Episode 10/500, Reward: 12.5``, boxes, tables, progress bars with numbers, one metric a line."""

import re
from dataclasses import replace
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, drawn_lines, head
from rl_advisor.reading.parsing.line_shapes import LIMIT, shapes_of
from rl_advisor.reading.parsing.log_lines import Watch
from rl_advisor.reading.parsing.printed_rows import run_of
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Run
from rl_advisor.run_reference import MARK, listed

FORMAT = "line_console"
CONSOLE = True
GENERAL = True
"""Asked only when no other format claims a file."""
_SUFFIXES = (".log", ".txt", ".out", ".err", ".md", "stdout", "stderr", "output", "console")
_ABOUT = ("readme", "changelog", "license", "requirements", "contributing")
"""Names of texts about a project."""
_HEAD = 1 << 19
FEW = 8
"""Lines so long that hardly any is whole in it are looked at in that many times as much."""
_SOME_WORD = re.compile(rb"(?i)rew|return|score|entropy|loss|win|success|acc|kl|avg")
_BOX = re.compile(
    rb"^(?:.{0,80}\| ?)?(?:-{20,}\s*\n\| *\S|(?:\[[^\]\n]*\] ?)?-{3,} +-{3,}\s*$)|^[\xe2\x94-\x95\x80-\xbf]{3} \S", re.MULTILINE
)
_IN_FULL = ("progress.csv", "progress.json", "progress.txt", "metrics.jsonl")


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the first half megabyte of a text log has lines of a learner that repeat.

    Boxes keep three digits, so a log of them beside a file that keeps all is left to the reader of plain logs.
    """
    name = bare_name(path)
    if not name.endswith(_SUFFIXES) or name.startswith(_ABOUT):
        return False
    start = head(path, _HEAD)
    if len(start) == _HEAD and start.count(b"\n") + start.count(b"\r") < FEW:
        start = head(path, _HEAD * FEW)
    if b"\x00" in start or _SOME_WORD.search(start) is None or (_BOX.search(start.replace(b"\r", b"")) and _told_in_full(path)):
        return False
    text = re.split(r"[\r\n]+", start.decode("utf-8", "replace"))
    shapes = shapes_of(text[:-1] if len(start) >= _HEAD else text, Watch(path.name), headings=name.endswith(".md"))
    return bool(run_of(shapes, path.name)[0].curves)


def read(path: Path, ask: Request = WHOLE) -> Run:
    """A curve for each name that comes back, over the count by which the lines go; of several runs one, the others are named."""
    watch = Watch(path.name)
    shapes = shapes_of(watch.through(drawn_lines(path)), watch, headings=bare_name(path).endswith(".md"))
    part, runs, step_at = run_of(shapes, path.name, ask.run)
    events = tuple(replace(event, step=step_at(event.step)) for event in watch.finish(None))
    several = listed(runs, runs[0] if ask.run not in runs else ask.run, path.name) if runs else Run()
    place = several.place or (MARK + ask.run if ask.run in runs else "")
    gaps = (Gap(path.name, f"more than {LIMIT:,} lines with numbers; only the first of them were read"),) if shapes.cut else ()
    return replace(part, events=events, formats=(FORMAT,), place=place, others=several.others, gaps=(*several.gaps, *gaps))


def _told_in_full(path: Path) -> bool:
    """Whether a file beside it has all digits."""
    return any((path.parent / name).is_file() for name in _IN_FULL) or any(path.parent.glob("events.out.tfevents.*"))
