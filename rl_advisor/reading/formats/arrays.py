"""NumPy arrays of scores: a vector in a ``.npy`` file, vectors and tables over steps in a ``.npz`` archive; nothing is unpickled.

``evaluations.npz`` of Stable-Baselines3's EvalCallback is one: returns and lengths of every episode of each evaluation.
"""

import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.bytes_in import bare_name, head
from rl_advisor.reading.parsing.columns import raw_curve
from rl_advisor.reading.parsing.metric_table import over_steps, step_columns
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.run import Curve, Floats, Gap, Run

FORMAT = "arrays"
GENERAL = True
MOST_COLUMNS = 64
SIZE_LIMIT = 256_000_000
_MAGIC = {".npy": b"\x93NUMPY", ".npz": b"PK"}
_DAMAGED = (*PACK_ERRORS, ValueError, TypeError, KeyError, RuntimeError, SyntaxError, TokenError, zipfile.BadZipFile)
_EVALUATIONS = "evaluations"
_METRIC = re.compile(r"(?i)reward|return|loss|score|length|kl|entropy|success|accuracy|learning_?curve|eval")


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether it is such a file, and its name says what it measures unless nothing else could be read."""
    name = bare_name(path)
    magic = _MAGIC.get(name[-4:])
    return magic is not None and head(path, len(magic)) == magic and (ask.last_resort or _METRIC.search(name) is not None)


def read(path: Path, ask: Request = WHOLE) -> Run:
    """Each vector as a curve over the array that counts steps, else over its order; of a table the mean over what is no step."""
    arrays: dict[str, Floats] = {}
    gaps: tuple[Gap, ...] = ()
    try:
        arrays.update((name, found) for name, found in numbers(path) if found.ndim in (1, 2))
    except _DAMAGED as error:
        gaps = (Gap("", f"damaged, or no columns of numbers: {error}"[:300]),)
    evaluations = bare_name(path).startswith(_EVALUATIONS)
    key = next((name for name in step_columns(list(arrays)) if arrays[name].ndim == 1), "")
    long = arrays[key].size if key else 0
    columns: dict[str, Curve] = {}
    for name, found in arrays.items():
        own = f"{_EVALUATIONS}/{name}" if evaluations and name != key else name
        for column, value in _curves(own, found, long).items():
            if value.size == long or not key:
                columns[column] = raw_curve(column, np.arange(float(value.size)), value)
    part = over_steps(columns, max((column.step.size for column in columns.values()), default=0), run=ask.run)
    return replace(part, gaps=gaps or part.gaps or (() if part.curves else (Gap("", "no arrays of matching length"),)))


def _curves(name: str, found: Floats, long: int) -> dict[str, Floats]:
    """A vector as it is; of a table whose rows are steps its mean, or each column where there are few; of one that lies, turned."""
    if found.ndim == 1:
        return {name: found}
    rows, columns = found.shape
    turned = found.T if rows != long and (columns == long or columns > MOST_COLUMNS >= rows) else found
    spread = {f"{name}_std": turned.std(axis=1)} if name == f"{_EVALUATIONS}/results" else {}
    return {name: turned.mean(axis=1)} | spread


def numbers(path: Path) -> Iterator[tuple[str, Floats]]:
    """The arrays of numbers in a file; a size that is only claimed is not allocated."""
    if path.suffix.lower() == ".npy":
        with confined_files.named(path) as name:
            yield path.stem, _checked(np.load(name, mmap_mode="r", allow_pickle=False))
        return
    # Opened here: numpy leaves a file open whose archive it cannot read.
    with confined_files.opened(path) as raw, np.load(raw, allow_pickle=False) as file:
        for name in file.files[:MOST_COLUMNS]:
            if _size(file.zip, f"{name}.npy") <= SIZE_LIMIT:
                with suppress(TypeError, ValueError):  # a scalar, a picture, an object that would have to be unpickled
                    yield name, _checked(file[name])


def _size(archive: zipfile.ZipFile, name: str) -> int:
    """Bytes that an array needs once it is read, as it says itself: each number takes eight, however few it has in the file."""
    with archive.open(name) as file:
        version = np.lib.format.read_magic(file)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, kind = header(file)
    return max(8 * prod(shape), archive.getinfo(name).file_size, prod(shape) * kind.itemsize)


def _checked(found: Any) -> Floats:
    """The array as numbers.

    Raises:
        TypeError: it holds no numbers, or too many.
    """
    if not found.ndim or found.dtype.kind not in "fiub" or not 0 < 8 * found.size <= SIZE_LIMIT:
        raise TypeError(f"an array of shape {found.shape} and type {found.dtype} is not read")
    return np.array(found, np.float64)
