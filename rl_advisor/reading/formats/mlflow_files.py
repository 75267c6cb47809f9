"""MLflow's file store: one file a metric, lines of ``epoch_ms value step``; a ``/`` in the name is a folder. And its params."""

import re
from collections.abc import Iterator
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import beginning, head, lines
from rl_advisor.reading.parsing.columns import Row, curves_of, number
from rl_advisor.reading.parsing.config.values import typed
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Run

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
    gaps: list[Gap] = []
    return Run(curves=curves_of(_rows(path, name, gaps)), gaps=tuple(gaps))


def _place(path: Path) -> tuple[str, str]:
    """Return metrics or params and the name under it; empty texts for any other file."""
    for folder in list(path.parents)[:_DEEPEST]:
        if folder.name in ("metrics", "params") and b"run_id" in head(folder.parent / "meta.yaml", 4_000):
            return folder.name, path.relative_to(folder).as_posix()
    return "", ""


def _rows(path: Path, name: str, gaps: list[Gap]) -> Iterator[Row]:
    for count, line in enumerate(lines(path), 1):
        cells = [number(cell) for cell in line.split()]
        if len(cells) == 3 and cells[0] is not None and cells[1] is not None and cells[2] is not None:
            yield cells[2], cells[0] / 1e3, {name: cells[1]}
        elif line.strip() and not gaps:
            gaps.append(Gap("", f"line {count} is no 'time value step'"))
