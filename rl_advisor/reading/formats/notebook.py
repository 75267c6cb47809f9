"""What a training left in a notebook's outputs: the table that Trainer draws while it trains, else the lines that were printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rl_advisor.output.run_reference import among, chosen, listed
from rl_advisor.reading.parsing.bytes_in import bare_name, document, head, parse_json, plain_text
from rl_advisor.reading.parsing.metric_table import part_of, step_columns
from rl_advisor.reading.parsing.printed_rows import read_lines
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.run import Gap, Run

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "notebook"
SIZE_LIMIT, FEWEST = 128_000_000, 3
HTML_LIMIT, CELL_LIMIT = 16_000_000, 400
_CELL, _TAG = re.compile(r"<t[dh]\b"), re.compile(r"<[^<>]*>")
_TRAINER = {"training loss": "loss", "validation loss": "eval_loss"}
"""What Trainer's table calls the losses that it logs under other names."""


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is a notebook by its name and its beginning."""
    return bare_name(path).endswith(".ipynb") and head(path, 64).lstrip().startswith(b"{")


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The longest table of metrics in the outputs, the others named; without any the curves of the printed lines."""
    try:
        found = parse_json(document(path, SIZE_LIMIT))
    except (ValueError, OverflowError, *PACK_ERRORS) as error:
        return Run(gaps=(Gap("", f"damaged: {error}"[:300]),))
    outputs = list(_outputs(found))
    tables = {f"table {n}": table for n, table in enumerate((t for kind, text in outputs if kind == "html" for t in _tables(text)), 1)}
    if tables:
        ranked = sorted(tables, key=lambda name: -len(tables[name]))
        name = chosen(ranked, ask.run)
        return among(part_of(tables[name]), listed(ranked, name))
    part = read_lines((line for kind, text in outputs if kind == "text" for line in text.splitlines()), ask)
    return part if part.curves else Run()


def _outputs(found: Any) -> Iterator[tuple[str, str]]:
    """Kind (``html`` or ``text``) and text of each output of a cell."""
    cells = found.get("cells") if isinstance(found, dict) else None
    for cell in cells if isinstance(cells, list) else ():
        for output in cell.get("outputs") or () if isinstance(cell, dict) else ():
            if not isinstance(output, dict):
                continue
            data = output.get("data") if isinstance(output.get("data"), dict) else {}
            html = _text(data.get("text/html")) if data else ""
            yield ("html", html) if "<table" in html else ("text", plain_text(_text(output.get("text") or (data or {}).get("text/plain"))))


def _text(value: Any) -> str:
    return "".join(v for v in value if isinstance(v, str)) if isinstance(value, list) else value if isinstance(value, str) else ""


def _tables(html: str) -> Iterator[pd.DataFrame]:
    """The tables of a page that have a column which counts their rows."""
    import pandas as pd

    for table in html[:HTML_LIMIT].split("<table")[1:]:
        rows = [[_plain(cell) for cell in _CELL.split(row)[1:]] for row in table.partition("</table")[0].split("<tr")[1:]]
        names = [_TRAINER.get(name.lower(), "/".join(part.strip(" ") for part in name.split("/"))) for name in rows[0]] if rows else []
        body = [row for row in rows[1:] if len(row) == len(names)]
        if len(set(names)) == len(names) > 1 and len(body) >= FEWEST and step_columns(names):
            yield pd.DataFrame(body, columns=names)


def _plain(cell: str) -> str:
    """What stands in a cell, without its tags."""
    return unescape(_TAG.sub("", f"<{cell}"[:CELL_LIMIT])).strip()
