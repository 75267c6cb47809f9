"""Tables printed with a header and rows below it: with bars (Markdown, notebooks, boxes) or with blanks between the cells."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rl_advisor.reading.parsing.columns import number

_BARS = re.compile(r"[|│┃]")
_BLANKS = re.compile(r" {2,}|\t")
_CELL = re.compile(r"\S+(?: \S+)*")
_NAME = re.compile(r"[^\W\d][^|:=]{0,80}")
WIDEST = 20_000
FEWEST_BLANK = 3
"""Cells that a header without bars has at least."""


@dataclass(frozen=True)
class Header:
    """The names of a table's columns, whether bars stand between them, and the line they stand in."""

    names: tuple[str, ...]
    bars: bool
    line: str = ""


def cells_of(line: str) -> tuple[list[str], bool]:
    """The cells of a line, and whether bars part them; an empty cell at either border is none."""
    bars = _BARS.search(line) is not None
    cells = [cell.strip(" \t*`") for cell in (_BARS.split(line) if bars else _BLANKS.split(line.strip()))]
    if bars and cells and not cells[0]:
        cells = cells[1:]
    if bars and cells and not cells[-1]:
        cells = cells[:-1]
    return cells, bars


def header_of(line: str) -> Header | None:
    """The header that the cells of a line make, None when they are not all different names."""
    cells, bars = cells_of(line)
    if not (2 if bars else FEWEST_BLANK) <= len(cells) <= WIDEST or len(set(cells)) < len(cells):
        return None
    return Header(tuple(re.sub(r" ?/ ?", "/", cell) for cell in cells), bars, line) if all(map(_NAME.fullmatch, cells)) else None


def _above(line: str, header: Header) -> list[str]:
    """The name that stands nearest above each cell of a row with cells left empty; nothing where two are as near, or one twice."""
    spans = [(m.start(), m.end()) for m in _CELL.finditer(header.line)]
    far = [[max(a - m.end(), m.start() - b) for a, b in spans] for m in _CELL.finditer(line)]
    at = [near.index(min(near)) for near in far if near.count(min(near)) == 1]
    return [header.names[i] for i in at] if len(spans) == len(header.names) and len(far) == len(set(at)) else []


def row_of(line: str, header: Header) -> tuple[tuple[str, ...], list[float]] | None:
    """The columns that hold a number in a row below that header, and the numbers; None for a line that is no such row."""
    if header.bars and not _BARS.search(line):
        return None
    cells, _ = cells_of(line)
    names: Sequence[str] = header.names
    if 1 < len(cells) < len(names) and not header.bars:
        names = _above(line, header)
    if len(cells) != len(names):
        return None
    known = {name: value for name, cell in zip(names, cells, strict=True) if (value := number(cell)) is not None}
    return (tuple(known), list(known.values())) if len(known) > 1 else None
