"""The boxes that Stable-Baselines3 prints: a line of dashes, groups (``| rollout/ |``), indented names and numbers."""

import math
import re
from pathlib import Path

from rl_advisor.intake.bytes_in import bare_name, head, lines, plain_text
from rl_advisor.intake.columns import Row, curves_of, number
from rl_advisor.intake.log_lines import Watch
from rl_advisor.run import Run

FORMAT = "sb3_table_console"
CONSOLE = True
_BORDER = re.compile(r"-{20,}")
_ROW = re.compile(r"\|( *)(\S[^|]*?) *\| *([^|]*?) *\|")
_STEPS = ("time/total_timesteps", "total_timesteps")
_IN_FULL = ("progress.csv", "progress.json")
_SUFFIXES = (".log", ".txt", ".out", ".err", "stdout", "output", "console")
_BOX = re.compile(rb"^-{20,}\s*\n\| +\w+/? ", re.MULTILINE)


def claims(path: Path) -> bool:
    """Whether a text log has such a box with a count of steps in its first half megabyte.

    Boxes keep three digits, so a log beside a file that keeps all of them is left to the reader of plain logs.
    """
    start = head(path, 524_288) if bare_name(path).endswith(_SUFFIXES) else b""
    if b" total_timesteps " not in start or _BOX.search(start.replace(b"\r", b"")) is None:
        return False
    return not any((path.parent / name).is_file() for name in _IN_FULL) and not any(path.parent.glob("events.out.tfevents.*"))


def read(path: Path) -> Run:
    """One row for each box, at its count of environment steps; names that were cut with ``...`` are left out."""
    rows: list[Row] = []
    watch = Watch(path.name)
    step, group = 0.0, ""
    values: dict[str, float] = {}
    for raw in lines(path):
        line = plain_text(raw).strip()
        match = _ROW.fullmatch(line)
        if match is None:
            if _BORDER.fullmatch(line) and values:
                step = next((values[key] for key in _STEPS if key in values), step)
                rows.append((step, math.nan, values))
            elif line:
                watch.look(raw, step)
            values, group = {}, ""
        elif match.group(2).endswith("/") and not match.group(3):
            group = match.group(2)
        elif (value := number(match.group(3))) is not None and not match.group(2).endswith("..."):
            values[(group if len(match.group(1)) > 1 else "") + match.group(2)] = value
    return Run(curves=curves_of(rows, path.name), events=watch.finish(step), formats=(FORMAT,))
