"""Whatever else holds numbers in rows: asked where nothing in the path could be read, of every file, whatever its name.

The numbers are read first, as a document, as separated cells or as lines that come back; what they are is asked afterwards.
"""

from dataclasses import replace
from itertools import islice
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, byte_lines, document, drawn_lines, head, parse_json
from rl_advisor.reading.parsing.csv_in import layout_of_any, read_table
from rl_advisor.reading.parsing.json_run import run_of_document
from rl_advisor.reading.parsing.line_shapes import LIMIT, shapes_of
from rl_advisor.reading.parsing.log_lines import Watch
from rl_advisor.reading.parsing.metric_table import part_of
from rl_advisor.reading.parsing.printed_rows import run_of
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.run import Gap, Run
from rl_advisor.run_reference import MARK, listed

FORMAT = "any_rows"
CONSOLE = True
GENERAL = True
SIZE_LIMIT = 128_000_000
MOST_ROWS = 1_000_000
_ABOUT = ("readme", "changelog", "license", "requirements", "contributing")
"""Names of texts about a project."""


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether nothing else could be read, and it is text that is not about the project."""
    start = head(path, 4_096) if ask.last_resort and not bare_name(path).startswith(_ABOUT) else b""
    return bool(start) and b"\x00" not in start and not start.startswith(b"version https://git-lfs")


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The first of a document, separated cells and lines that come back in which there are rows of numbers."""
    for reading in (_document, _cells, _lines):
        part = reading(path, ask)
        if part.curves:
            return replace(part, formats=(FORMAT,))
    return Run()


def _document(path: Path, ask: Request) -> Run:
    """One JSON value, or one a line of which some are no rows."""
    if head(path, 64).lstrip()[:1] not in (b"{", b"["):
        return Run()
    try:
        found = parse_json(document(path, SIZE_LIMIT))
    except OverflowError:
        return Run()
    except (ValueError, *PACK_ERRORS):
        found = _rows(path)
    return run_of_document(found, path.name, ask.run, anybodys=True)


def _rows(path: Path) -> list[object]:
    """The objects of the lines that hold one."""
    rows: list[object] = []
    for line in islice(byte_lines(path), MOST_ROWS):
        try:
            rows.append(parse_json(line))
        except ValueError:
            continue
    return [row for row in rows if isinstance(row, dict)]


def _cells(path: Path, ask: Request) -> Run:
    layout = layout_of_any(path)
    if layout is None:
        return Run()
    table, gaps = read_table(path, layout=layout)
    part = part_of(table, path.name, run=ask.run)
    return replace(part, gaps=(*gaps, *part.gaps))


def _lines(path: Path, ask: Request) -> Run:
    watch = Watch(path.name)
    shapes = shapes_of(watch.through(drawn_lines(path)), watch, headings=bare_name(path).endswith(".md"))
    part, runs, step_at = run_of(shapes, path.name, ask.run, anybodys=True)
    events = tuple(replace(event, step=step_at(event.step)) for event in watch.finish(None))
    several = listed(runs, runs[0] if ask.run not in runs else ask.run, path.name) if runs else Run()
    place = several.place or (MARK + ask.run if ask.run in runs else "")
    gaps = (Gap(path.name, f"more than {LIMIT:,} lines with numbers; only the first of them were read"),) if shapes.cut else ()
    return replace(part, events=events, place=place, others=several.others, gaps=(*several.gaps, *gaps))
