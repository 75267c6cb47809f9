"""How a CSV comes in: one bounded table, whatever stands between its cells, with a gap for every line that does not fit."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rl_advisor.reading.parsing.bytes_in import DOCUMENT_LIMIT, bare_name, beginning, head
from rl_advisor.run import Gap

if TYPE_CHECKING:
    import pandas as pd

_HEAD = 262_144
NAN_WORDS = ("nan", "-nan", "+nan")
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "null", "NULL", "None", "<NA>")
"""How a cell may be written that has no number."""
BLANKS = r"\s+"
FEWEST = 3
"""Rows of a table that is told by its rows alone."""
COUNTED = 8
"""Rows from which whole numbers that only go up, at any pace, count what the rows are of: episodes end at such steps."""
_COMMENTS = ("#", "//")
_MANY = 200
"""Rows by which the layout is told."""
_COMMA_DECIMAL = re.compile(r"-?\d*,\d+(?:[eE][-+]?\d+)?")
_POINT_DECIMAL = re.compile(r"-?\d*\.\d+(?:[eE][-+]?\d+)?")
_NUMBER = re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?|[-+]?(?:nan|inf)", re.IGNORECASE)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")


@dataclass(frozen=True)
class Layout:
    """What stands between cells and in numbers, the comment lines before the header, the header's names and the first rows."""

    separator: str = ","
    decimal: str = "."
    thousands: str | None = None
    comments: int = 0
    names: tuple[str, ...] = ()
    bare: bool = False
    """Whether the first line is a row already: then the columns are called c0, c1, ..., or step where the first counts."""
    rows: tuple[tuple[str, ...], ...] = ()


def layout_of(path: Path) -> Layout:
    """The layout of a table by its first lines: rows of cells, mostly numbers, parted by commas, semicolons, tabs or blanks.

    Above them stands a header, or one in a comment, or none. No names where there is no table.
    """
    return _layout(beginning(path, _HEAD), Path(bare_name(path)).stem)


@lru_cache(2)
def _layout(text: str, alone: str) -> Layout:
    """The layout of a text, which whoever claims a file, reads it and names its columns asks for in turn."""
    lines = re.split("\r\n?|\n", text.replace("\0", ""))[:-1]
    above = next((i for i, line in enumerate(lines) if line.strip() and not line.startswith(_COMMENTS)), len(lines))
    found = [layout for by in (",", ";", "\t", BLANKS) if (layout := _parted(lines[above : above + _MANY], by))]
    best = replace(max(found, key=lambda layout: _share(layout.rows), default=Layout()), comments=above)
    comment = lines[above - 1].lstrip("".join(_COMMENTS) + " ") if above else ""
    said = next((row for by in (best.separator, BLANKS) for row in _rows([comment], by) if len(row) == len(best.names)), ())
    if _is_row(best.names) and any(said) and not any(map(_NUMBER.fullmatch, said)):
        return replace(best, names=said, bare=True)
    return _with_names(best, alone)


def _parted(lines: Sequence[str], separator: str) -> Layout | None:
    """The layout of lines that this parts into equally many cells, in most columns of numbers alone; None where it does not."""
    rows = _rows(lines, separator)
    if separator == BLANKS and len(rows) > 1 and len(rows[0]) != len(rows[1]):  # blanks may stand inside a name
        rows[0] = tuple(re.split(r"\s{2,}|\t", lines[0].strip()))
    named = not any(_NUMBER.fullmatch(name) for row in rows[:1] for name in row)
    alike = [row for row in rows[1:] if len(row) == len(rows[0]) and not (named and row == rows[0])]
    few = not alike if named and separator != BLANKS else len(alike) < FEWEST or 5 * len(alike) < 4 * (len(rows) - 1)
    if few or 2 * _share(alike) < len(rows[0]):
        return None
    if separator == BLANKS and _share(alike) < len(rows[0]):  # words among them are names: ``loss 0.5 reward 1``
        return None
    return Layout(separator, *_numbers_of(alike, separator), names=rows[0], rows=tuple(alike))


def _rows(lines: Sequence[str], separator: str) -> list[tuple[str, ...]]:
    """The cells of lines; a quoted one may hold ends of lines."""
    if separator == BLANKS:
        return [tuple(line.split()) for line in lines if line.strip()]
    with suppress(csv.Error):  # a cell without an end
        rows = csv.reader([f"{line}\n" for line in lines], delimiter=separator)
        return [tuple(cell.strip(" '\"") for cell in row) for row in rows if row]
    return []


def _share(rows: Sequence[tuple[str, ...]]) -> int:
    """How many of the columns are of numbers alone."""
    return sum(all(not cell or _NUMBER.fullmatch(cell) or _COMMA_DECIMAL.fullmatch(cell) for cell in c) for c in zip(*rows, strict=True))


def _is_row(names: Sequence[str]) -> bool:
    """Whether what stands in the first line are no names: most of them are numbers."""
    return 2 * sum(_NUMBER.fullmatch(name) is not None for name in names) > len(names)


def _with_names(layout: Layout, alone: str = "c0") -> Layout:
    """The layout with names made up where the first line is a row already; what is ``alone`` is called so."""
    if not _is_row(layout.names):
        return layout
    rows = (layout.names, *layout.rows)
    first = [float(row[0]) for row in rows if row and _NUMBER.fullmatch(row[0])]
    paces = {b - a for a, b in pairwise(first)}
    counts = len(layout.names) > 1 and (paces <= {1.0} or (len(first) > COUNTED and min(paces) > 0 and all(x == int(x) for x in first)))
    names = [alone] if len(layout.names) == 1 else ["step" if counts and i == 0 else f"c{i}" for i in range(len(layout.names))]
    return replace(layout, names=tuple(names), bare=True, rows=rows)


def _numbers_of(rows: Sequence[tuple[str, ...]], separator: str) -> tuple[str, str | None]:
    """The decimal mark and the one between thousands; a comma is no decimal mark where it stands between cells."""
    cells = [cell for row in rows for cell in row if cell]
    points = any(_POINT_DECIMAL.fullmatch(cell) for cell in cells)
    if separator != "," and not points and any(_COMMA_DECIMAL.fullmatch(cell) for cell in cells):
        return ",", None
    return ".", "," if any(_THOUSANDS.fullmatch(cell) for cell in cells) else None


def read_table(path: Path, layout: Layout | None = None, **how: Any) -> tuple[pd.DataFrame, tuple[Gap, ...]]:
    """The table below its comments, numbers as numbers; ``how`` is what pandas is told besides.

    A header that is repeated begins a new part of the table, which may have other columns. Lines with too many or, at the end, too few
    cells are left out with a gap.
    """
    import pandas as pd

    layout = layout or layout_of(path)
    text, gaps = _text(path), list[Gap]()
    between = layout.separator.encode()
    text = text.split(b"\n", layout.comments)[-1]
    if text and not text.endswith(b"\n"):
        whole, _, cut = text.rpartition(b"\n")
        if cut and not (whole and cut.count(between) == _line(whole).count(between) and not cut.endswith(between)):
            text = whole
            gaps.append(Gap("", "the last line is cut off and was left out"))
    tables, lost = [], 0
    for part in _parts(text, between):
        try:
            tables.append(_parsed(part, layout, how))
        except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error):
            return pd.DataFrame(), (*gaps, Gap("", "no table could be read"))
        lost += _lost(part, tables[-1])
    if twice := [name for name, times in Counter(layout.names).items() if name and times > 1]:
        gaps.append(Gap("", f"{twice[0]} is the name of several columns: the first goes by it, the next is {twice[0]}.1"))
    if lost:
        gaps.append(Gap("", f"{lost:,} lines have more cells than the header has names; left out"))
    return tables[0] if len(tables) == 1 else pd.concat(tables, ignore_index=True), tuple(gaps)


def _text(path: Path) -> bytes:
    """The text of a file, also of a packed one that is torn, with line feeds at the ends of its lines."""
    text = head(path, DOCUMENT_LIMIT + 1)
    if len(text) > DOCUMENT_LIMIT:
        raise OverflowError(f"larger than {DOCUMENT_LIMIT:,} bytes")
    return text.replace(b"\r", b"\n") if b"\n" not in text else text


def _parts(text: bytes, separator: bytes) -> list[bytes]:
    """The text cut before each line that begins as the header does."""
    first = _line(text).split(separator, 1)[0]
    again = b"\n" + first + separator
    if not re.search(r"[^\W\d]", first.decode("utf-8", "replace")) or again not in text:
        return [text]
    starts = [0, *(m.start() + 1 for m in re.finditer(re.escape(again), text))]
    return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]


def _parsed(text: bytes, layout: Layout, more: dict[str, Any]) -> pd.DataFrame:
    import pandas as pd

    how: dict[str, Any] = {"on_bad_lines": "skip", "low_memory": False, "skipinitialspace": True, "encoding_errors": "replace"} | more
    how |= {"header": None, "names": list(layout.names)} if layout.bare else {}
    how |= {"sep": layout.separator, "decimal": layout.decimal, "thousands": layout.thousands}
    how |= {"keep_default_na": False, "na_values": MISSING}  # a NaN that is written out is a fact
    table: pd.DataFrame = pd.read_csv(io.BytesIO(text), **how)
    return table


def _lost(text: bytes, table: pd.DataFrame) -> int:
    """How many lines of the text are no rows of the table; not told where a cell may hold an end of line."""
    lines = text.count(b"\n") + (not text.endswith(b"\n")) - 1
    if lines == len(table) or b'"' in text:
        return 0
    return max(0, sum(1 for line in text.split(b"\n") if line.strip()) - 1 - len(table))


def _line(text: bytes) -> bytes:
    """The first line."""
    end = text.find(b"\n")
    return text if end < 0 else text[:end]
