"""A filled audit sheet beside the samples it was drawn from: what a person thinks of each, by the sample's key.

The sheet is written by ``samples RUN --audit SHEET.csv``; a spreadsheet may have saved it with other separators.
"""

from __future__ import annotations

import csv
from io import TextIOWrapper
from itertools import islice
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import LONGEST, head, open_bytes
from rl_advisor.reading.parsing.cells import as_number
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Run
from rl_advisor.samples.person import HEAD

FORMAT = "audit_sheet"
MOST_ROWS = 1_000


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether its first line is a sheet's."""
    return path.suffix == ".csv" and _separator(path) != ""


def _separator(path: Path) -> str:
    """What stands between its cells; nothing where it is no sheet."""
    start = head(path, 200).decode("utf-8-sig", "replace").replace('"', "")
    return next((mark for mark in ",;\t" if start.startswith(mark.join(HEAD[:2]))), "")


def read(path: Path, _: Request = WHOLE) -> Run:
    """The score of each sample, NaN where there is none."""
    csv.field_size_limit(LONGEST)
    with TextIOWrapper(open_bytes(path), encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = [row for row in islice(csv.reader(file, delimiter=_separator(path)), 1, MOST_ROWS + 1) if len(row) > 1]
    return Run(scores={row[0]: as_number(row[1]) for row in rows})
