"""Any text log in which lines come back: ``Episode 10/500, Reward: 12.5``, boxes, tables, progress bars with numbers, one metric a line."""

import re
from dataclasses import replace
from pathlib import Path

from rl_advisor.intake.bytes_in import bare_name, head, lines
from rl_advisor.intake.line_shapes import LIMIT, shapes_of
from rl_advisor.intake.log_lines import Watch
from rl_advisor.intake.one_of_several import chosen, listed
from rl_advisor.intake.printed_rows import curves_of_lines
from rl_advisor.run import Event, Gap, Run

FORMAT = "line_console"
CONSOLE = True
GENERAL = True
"""Asked only when no other format claims a file."""
_SUFFIXES = (".log", ".txt", ".out", ".err", ".md", "stdout", "stderr", "output", "console")
_ABOUT = ("readme", "changelog", "license", "requirements", "contributing")
"""Names of texts about a project."""
_HEAD = 1 << 19
_SOME_WORD = re.compile(rb"(?i)rew|return|score|entropy|loss|win|success|acc|kl|avg")


def claims(path: Path) -> bool:
    """Whether the first half megabyte of a text log has lines of a learner that repeat."""
    name = bare_name(path)
    if not name.endswith(_SUFFIXES) or name.startswith(_ABOUT):
        return False
    start = head(path, _HEAD)
    if b"\x00" in start or _SOME_WORD.search(start) is None:
        return False
    text = start.decode("utf-8", "replace").split("\n")
    shapes = shapes_of(text if len(start) < _HEAD else text[:-1], Watch(path.name), headings=name.endswith(".md"))
    return bool(curves_of_lines(shapes, path.name, lambda names: names[0])[0].curves)


def read(path: Path) -> Run:
    """A curve for each name that comes back, over the count by which the lines go; of several runs one, the others are named."""
    watch, met = Watch(path.name), list[str]()
    shapes = shapes_of(lines(path), watch, headings=bare_name(path).endswith(".md"))

    def choose(names: list[str]) -> str:
        met.extend(names)
        return chosen(names)

    part, axis = curves_of_lines(shapes, path.name, choose)
    events = tuple(_at(event, axis) for event in watch.finish(shapes.records))
    gaps = (Gap(path.name, f"more than {LIMIT:,} lines with numbers; only the first of them were read"),) if shapes.cut else ()
    several = listed(met, chosen(met), path.name) if met else Run()
    return replace(part, events=events, formats=(FORMAT,), place=several.place, others=several.others, gaps=(*several.gaps, *gaps))


def _at(event: Event, axis) -> Event:
    """The event at the step that was the last before it."""
    import numpy as np

    if axis is None or event.step is None or not axis.record.size:
        return replace(event, step=None)
    at = int(np.searchsorted(axis.record, event.step, "right")) - 1
    return replace(event, step=float(axis.step[max(at, 0)]))
