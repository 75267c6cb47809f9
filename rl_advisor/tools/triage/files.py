"""The rows as files for other programs and for people: Parquet, the page, and a report a run."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from rl_advisor.output import safe_write
from rl_advisor.tools.triage.row import Row

MOST_REPORTS = 500
"""Reports that are written unless all are asked for: those of the most urgent runs."""
AS_TEXT = ("settings", "names_as_written")
"""Fields of which every run has others."""


def parquet(rows: Sequence[Row], file: Path) -> Path:
    """The file, which now holds a row a run: the contract's fields, the others beside them, what is nested as ``cost.gpus``."""
    import io

    import orjson
    import pandas as pd

    texts = ({name: orjson.dumps(row[name]).decode() for name in AS_TEXT if name in row} for row in rows)
    table, sink = pd.json_normalize([{**row, **text} for row, text in zip(rows, texts, strict=True)]), io.BytesIO()
    table.to_parquet(sink, compression="zstd", index=False)
    return safe_write.put(file, sink.getvalue())


def reports(rows: Sequence[Row], folder: Path, written: Callable[[Row], str]) -> dict[str, Path]:
    """Where the report of each run lies that could be written, by the run's name; one of the same key (and content) stays."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Path] = {}
    for row in [row for row in rows if not row["error"]][:MOST_REPORTS]:
        file = folder / f"{row['key'][:24]}.html"
        if not file.exists() and (content := written(row)):
            safe_write.put(file, content)
        if file.exists():
            found[row["run"]] = file
    return found


def links(found: Mapping[str, Path], page: Path) -> dict[str, str]:
    """How a page names reports on the same disk."""
    return {run: quote(os.path.relpath(file, page.parent).replace(os.sep, "/")) for run, file in found.items()}
