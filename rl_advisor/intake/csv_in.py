"""How a CSV comes in: one bounded table, a cut last line left out and said."""

import csv
import io
from pathlib import Path

import pandas as pd

from rl_advisor.intake.bytes_in import document
from rl_advisor.run import Gap


def read_table(path: Path, skip: int = 0, separator: str = ",") -> tuple[pd.DataFrame, tuple[Gap, ...]]:
    """The table below ``skip`` lines, numbers as numbers; lines with too many or, at the end, too few cells are left out with a gap."""
    text = document(path).decode("utf-8", "replace")
    if skip:
        text = "".join(text.splitlines(keepends=True)[skip:])
    gaps: tuple[Gap, ...] = ()
    if text and not text.endswith("\n"):
        text, _, cut = text.rpartition("\n")
        if cut and _complete(text, cut, separator):
            text += "\n" + cut
        elif cut:
            gaps = (Gap(path.name, "the last line is cut off and was left out"),)
    try:
        return pd.read_csv(io.StringIO(text), sep=separator, on_bad_lines="skip", low_memory=False), gaps
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error):
        return pd.DataFrame(), (*gaps, Gap(path.name, "no table could be read"))


def _complete(text: str, last: str, separator: str) -> bool:
    """Whether a last line without an end has all its cells."""
    return bool(text) and last.count(separator) == text.split("\n", 1)[0].count(separator) and not last.endswith(separator)
