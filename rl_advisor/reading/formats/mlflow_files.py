"""MLflow's file store: one file a metric, lines of ``epoch_ms value step``; a ``/`` in the name is a folder. And its params."""

import re
from dataclasses import replace
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import beginning, head
from rl_advisor.reading.parsing.config.values import typed
from rl_advisor.reading.parsing.csv_in import BLANKS, Layout, read_table
from rl_advisor.reading.parsing.metric_table import part_of
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Run

FORMAT = "mlflow_files"
_LINE = re.compile(rb"\d{12,14} \S+ -?\d+(\s|$)")
_DEEPEST = 8


def claims(path: Path, _ask: Request = WHOLE) -> bool:
    """Whether it lies under ``metrics`` or ``params`` of a run folder with a meta.yaml, and its first line fits."""
    kind, _ = _place(path)
    return kind == "params" or (kind == "metrics" and _LINE.match(head(path, 200)) is not None)


def read(path: Path, _ask: Request = WHOLE) -> Run:
    """One curve, or one entry of the configuration."""
    kind, name = _place(path)
    if kind == "params":
        return Run(config={name: typed(beginning(path, 8_000))})
    table, gaps = read_table(path, Layout(BLANKS, names=("timestamp", "value", "step"), bare=True))
    part = part_of(table, lambda column: name if column == "value" else None)
    return replace(part, gaps=(*gaps, *part.gaps))


def _place(path: Path) -> tuple[str, str]:
    """Return metrics or params and the name under it; empty texts for any other file."""
    for folder in list(path.parents)[:_DEEPEST]:
        if folder.name in ("metrics", "params") and b"run_id" in head(folder.parent / "meta.yaml", 4_000):
            return folder.name, path.relative_to(folder).as_posix()
    return "", ""
