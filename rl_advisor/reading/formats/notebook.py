"""What a training left in a notebook's outputs: the lines that were printed, and the tables that were drawn, as lines with bars."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

from rl_advisor.reading.parsing.bytes_in import bare_name, document, head, parse_json, plain_text
from rl_advisor.reading.parsing.printed_rows import read_lines
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.run import Gap, Run

FORMAT = "notebook"
SIZE_LIMIT, HTML_LIMIT = 128_000_000, 16_000_000
_CELL = re.compile(r"(?:</t[dh]>[^<]*)?<t[dh]\b[^<>]*>|</t[dh]>[^<]*")
"""A cell begins where it is opened, be the one before it closed or not; what stands between two belongs to neither."""
_ROW, _TAG = re.compile(r"</?tr\b[^<>]*>"), re.compile(r"<[^<>]*>")
_TRAINER = {"Training Loss": "loss", "Validation Loss": "eval_loss"}
"""What Trainer's table calls the losses that it logs under other names."""


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is a notebook by its name and its beginning."""
    return bare_name(path).endswith(".ipynb") and head(path, 64).lstrip().startswith(b"{")


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The curves of what its cells put out."""
    try:
        found = parse_json(document(path, SIZE_LIMIT))
    except (ValueError, OverflowError, *PACK_ERRORS) as error:
        return Run(gaps=(Gap("", f"damaged: {error}"[:300]),))
    part = read_lines([[line for text in _outputs(found) for line in text.splitlines()]], ask)
    return part if part.curves else Run()


def _outputs(found: Any) -> Iterator[str]:
    """The text of each output of a cell."""
    cells = found.get("cells") if isinstance(found, dict) else None
    for cell in cells if isinstance(cells, list) else ():
        for output in cell.get("outputs") or () if isinstance(cell, dict) else ():
            data = output.get("data") if isinstance(output, dict) else None
            data = data if isinstance(data, dict) else {}
            html = _text(data.get("text/html"))[:HTML_LIMIT]
            yield _drawn(html) if "<table" in html else plain_text(_text(output.get("text") or data.get("text/plain")))


def _text(value: Any) -> str:
    return "".join(v for v in value if isinstance(v, str)) if isinstance(value, list) else value if isinstance(value, str) else ""


def _drawn(html: str) -> str:
    """The rows of the tables of a page, a line each, with bars between their cells."""
    lines = _ROW.sub("\n", _CELL.sub(" | ", html.replace("\n", " ")))
    rows = [" ".join(unescape(_TAG.sub(" ", line)).split()) for line in lines.split("\n")]
    for said, meant in _TRAINER.items():
        rows = [row.replace(said, meant) for row in rows]
    return "\n".join(rows)
