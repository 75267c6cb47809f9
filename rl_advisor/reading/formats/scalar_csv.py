"""One CSV a scalar, without a header: TorchRL's CSVLogger (``scalars/<name>.csv``: step, value) and d3rlpy (epoch, step, value)."""

import csv
from collections.abc import Iterator
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, head, lines
from rl_advisor.reading.parsing.columns import Row, curves_of, number
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Run

FORMAT = "scalar_csv"
_FOLDER = "scalars"
_DEEPEST = 6
_LOOKED_AT = 5


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it lies in a folder of scalars, or beside the parameters of a run, and its first rows are such numbers."""
    if not bare_name(path).endswith(".csv"):
        return False
    width = 2 if _under_scalars(path) else 3 if (path.parent / "params.json").is_file() else 0
    rows = head(path, 4_096).decode("utf-8", "replace").splitlines()[:_LOOKED_AT]
    cells = [[number(cell) for cell in row] for row in csv.reader(rows)]
    return bool(width and cells) and all(len(row) == width and None not in row and (row[-2] or 0.0).is_integer() for row in cells)


def read(path: Path, _: Request = WHOLE) -> Run:
    """One curve; its name is that of the file, with the folders below ``scalars``."""
    folder = _under_scalars(path)
    name = path.relative_to(folder).as_posix().removesuffix(".csv") if folder else path.name.split(".", 1)[0]
    return Run(curves=curves_of(_rows(path, name), path.name), formats=(FORMAT,))


def _under_scalars(path: Path) -> Path | None:
    return next((parent for parent in list(path.parents)[:_DEEPEST] if parent.name == _FOLDER), None)


def _rows(path: Path, name: str) -> Iterator[Row]:
    for row in csv.reader(lines(path)):
        cells = [number(cell) for cell in row]
        if len(cells) >= 2 and cells[-1] is not None and cells[-2] is not None:
            yield cells[-2], float("nan"), {name: cells[-1]}
