"""Tables that loggers print, one a log call: boxes (Stable-Baselines3, OpenAI Baselines, Spinning Up), columns (garage, rlkit, rllab)."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from rl_advisor.intake.bytes_in import bare_name, head, lines, plain_text
from rl_advisor.intake.columns import number
from rl_advisor.intake.log_lines import Watch
from rl_advisor.intake.metric_table import part_of, step_columns
from rl_advisor.intake.request import WHOLE, Request
from rl_advisor.run import Run

FORMAT = "table_console"
CONSOLE = True
_BORDER = re.compile(r"-{20,}")
_ROW = re.compile(r"\|( *)(\S[^|]*?) *\| *([^|]*?) *\|")
_RULE = re.compile(r"-{3,} +-{3,}")
_PAIR = re.compile(r"(\S+(?: \S+)*) {2,}([^\s-]\S*|-[^\s-]\S*)")
_PREFIX = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]?\d*(?: [A-Z]{3,4})? ?\| ?(?:\[[^\]]*\] ?)?")
"""rllab puts the time and the experiment before every line."""
_IN_FULL = ("progress.csv", "progress.json", "progress.txt")
_SUFFIXES = (".log", ".txt", ".out", ".err", ".md", "stdout", "output", "console")
_SIGN = re.compile(rb"^(?:.{0,80}\| ?)?(?:-{20,}\s*\n\| *\S|(?:\[[^\]\n]*\] ?)?-{3,} +-{3,}\s*$)", re.MULTILINE)
_HEAD = 524_288
_FEWEST = 2
LIMIT = 500_000
"""Tables that are read."""
Values = dict[str, float]


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether a text log has such a table, with a count of steps, in its first half megabyte.

    Tables keep three digits, so a log beside a file that keeps all of them is left to the reader of plain logs.
    """
    start = head(path, _HEAD) if bare_name(path).endswith(_SUFFIXES) else b""
    if _SIGN.search(start.replace(b"\r", b"")) is None:
        return False
    if any((path.parent / name).is_file() for name in _IN_FULL) or any(path.parent.glob("events.out.tfevents.*")):
        return False
    found = _tables(start.decode("utf-8", "replace").splitlines(), Watch(path.name))
    return any(step_columns(list(values)) and len(values) >= _FEWEST for values in found)


def read(path: Path, ask: Request = WHOLE) -> Run:
    """One row for each table, at its count of steps; names that were cut with ``...`` are left out."""
    watch = Watch(path.name)
    rows = [values for _, values in zip(range(LIMIT), _tables(lines(path), watch), strict=False)]
    table = pd.DataFrame(rows)
    counters = step_columns(list(map(str, table.columns)))
    table[counters] = table[counters].ffill()
    part = part_of(table, path.name, run=ask.run)
    return Run(curves=part.curves, events=watch.finish(part.last_step), gaps=part.gaps, formats=(FORMAT,), step_unit=part.step_unit)


def _tables(text: Iterable[str], watch: Watch) -> Iterator[Values]:
    """The numbers of each table; lines that belong to none go to the watch."""
    step, group, columns = 0.0, "", False
    values: Values = {}
    for raw in text:
        line = _PREFIX.sub("", plain_text(raw).strip(), count=1)
        row, pair = _ROW.fullmatch(line), _PAIR.fullmatch(line) if columns else None
        if row is None and pair is None:
            columns = _RULE.fullmatch(line) is not None and not (columns and values)
            if values and (columns or _BORDER.fullmatch(line) or _RULE.fullmatch(line)):
                step = next((values[name] for name in step_columns(list(values))), step)
                yield values
            elif line and not columns:
                watch.look(raw, step)
            values, group = {}, ""
        elif pair is not None:
            _keep(values, pair[1], pair[2])
        elif row is not None and row[2].endswith("/") and not row[3]:
            group = row[2]
        elif row is not None:
            _keep(values, (group if len(row[1]) > 1 and group else "") + row[2], row[3])


def _keep(values: Values, name: str, text: str) -> None:
    if (value := number(text)) is not None and not name.endswith("..."):
        values[name] = value
