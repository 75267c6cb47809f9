"""How values read on a terminal: numbers, lists, envelopes, tables and lines of a width; pages are put together from them."""

import shutil
import textwrap
from collections.abc import Iterable
from typing import Any

from rl_advisor.output import Answer
from rl_advisor.output.wording import value as spoken

NARROWEST, WIDTH, WIDEST = 40, 100, 120
"""Columns of a page: at least, where nothing is known of the terminal, and at most."""


def page_width() -> int:
    """The columns of the terminal (or of COLUMNS), kept readable."""
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((WIDTH, 24)).columns))


def spark(values: list[float | None]) -> str:
    """A curve as a line of blocks, a gap where a value is missing."""
    size = max((abs(v) for v in values if v is not None), default=0.0) or 1.0  # of the largest numbers the range is infinite
    parts = [None if v is None else v / size for v in values]
    known = [p for p in parts if p is not None]
    low = min(known, default=0.0)
    span = max(known, default=0.0) - low or 1.0
    return "".join(" " if p is None else "▁▂▃▄▅▆▇█"[round((p - low) / span * 7)] for p in parts)


def anything(answer: Answer, indent: str = "") -> Iterable[str]:
    """Any answer, one value a line, tables for lists of records."""
    for key, value in answer.items():
        if isinstance(value, dict) and "untrusted" not in value:
            yield f"{indent}{key}:"
            yield from anything(value, f"{indent}  ")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"{indent}{key}:"
            yield from (f"{indent}  - {pairs(row)}" for row in value)
        else:
            yield f"{indent}{key}: {said(value)}"


def gaps(answer: Answer) -> Iterable[str]:
    """What could not be read."""
    for gap in answer.get("gaps", []):
        yield from filled(f"gap: {gap['where']}: {gap['why']}")


def said(value: Any) -> str:
    """A value as words; an envelope as its text."""
    if isinstance(value, dict) and "untrusted" in value:
        return str(value["untrusted"])
    if isinstance(value, list):
        return ", ".join(said(v) for v in value) or "none"
    return pairs(value) if isinstance(value, dict) else number(value)


def pairs(row: Any) -> str:
    """A record as one phrase."""
    return ", ".join(f"{k.replace('_', ' ')} {said(v)}" for k, v in row.items()) if isinstance(row, dict) else said(row)


def number(value: Any) -> str:
    """A number, or whatever stands for one."""
    return "unknown" if value is None else spoken(value, digits=3) if isinstance(value, float) else str(value)


def more(values: list[Any], shown: int) -> str:
    """How many are left out."""
    return f" and {len(values) - shown} more" if len(values) > shown else ""


def filled(line: str) -> list[str]:
    """A line as lines of the page's width."""
    indent = "  " + " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, page_width(), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


def table(head: list[tuple[str, ...]], rows: list[tuple[str, ...]]) -> Iterable[str]:
    """Rows in columns, under their heads; nothing without rows."""
    if not rows:
        return
    widths = [min(46, max(len(row[i]) for row in head + rows)) for i in range(len(head[0]))]
    for row in head + rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
