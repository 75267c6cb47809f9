"""NumPy arrays of scores: a vector in a ``.npy`` file, vectors and tables over steps in a ``.npz`` archive; nothing is unpickled."""

import re
import zipfile
import zlib
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.bytes_in import bare_name, head
from rl_advisor.reading.parsing.metric_table import step_columns, unit_of
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Curve, Floats, Gap, Run

FORMAT = "arrays"
GENERAL = True
FEWEST, MOST_COLUMNS = 3, 64
SIZE_LIMIT = 256_000_000
_MAGIC = {".npy": b"\x93NUMPY", ".npz": b"PK"}
_METRIC = re.compile(r"(?i)reward|return|loss|score|length|kl|entropy|success|accuracy|learning_?curve|eval")


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether it is such a file, and its name says what it measures unless nothing else could be read."""
    name = bare_name(path)
    magic = _MAGIC.get(name[-4:])
    return magic is not None and head(path, len(magic)) == magic and (ask.last_resort or _METRIC.search(name) is not None)


def read(path: Path, _: Request = WHOLE) -> Run:
    """Each vector as a curve over the array that counts steps, else over its order; of a table the mean over what is no step."""
    try:
        arrays = {path.stem: _vector(path)} if path.suffix.lower() == ".npy" else _archive(path)
    except (ValueError, OSError, EOFError, KeyError, RuntimeError, SyntaxError, TokenError, zlib.error, zipfile.BadZipFile) as error:
        return Run(gaps=(Gap(path.name, f"damaged, or no columns of numbers: {error}"[:300]),), formats=(FORMAT,))
    counted = [name for name in step_columns(list(arrays)) if arrays[name].ndim == 1 and (np.diff(arrays[name]) > 0).all()]
    key = counted[0] if counted else ""
    long = arrays[key].size if key else 0
    curves: dict[str, Curve] = {}
    for name, found in arrays.items():
        for part, value in ({} if name == key else _curves(name, found, long)).items():
            step = arrays[key] if value.size == long else np.arange(1.0, value.size + 1)
            if not key or value.size == long:
                curves[part] = Curve(part, part, path.name, step, value)
    return Run(curves=curves, formats=(FORMAT,), axis="step" if key else "row", step_unit=unit_of(key))


def _curves(name: str, found: Floats, long: int) -> dict[str, Floats]:
    """A vector as it is; of a table whose rows are steps its mean, or each column where there are few; of one that lies, turned."""
    if found.ndim == 1:
        return {name: found}
    rows, columns = found.shape
    turned = found.T if rows != long and (columns == long or columns > MOST_COLUMNS >= rows) else found
    return {name: turned.mean(axis=1)} if turned.shape[1] != 1 else {name: turned[:, 0]}


def _vector(path: Path) -> Floats:
    """The array of an ``.npy`` file; nothing is unpickled and a size that is only claimed is not allocated."""
    with confined_files.named(path) as name:
        return _checked(np.load(name, mmap_mode="r", allow_pickle=False))


def _checked(found: Any) -> Floats:
    if found.ndim not in (1, 2) or found.dtype.kind not in "fiub" or found.size < FEWEST or found.nbytes > SIZE_LIMIT:
        raise ValueError(f"an array of shape {found.shape} and type {found.dtype} is no curve")
    return np.array(found, np.float64)


def _archive(path: Path) -> dict[str, Floats]:
    """The numeric arrays of an archive that may be curves."""
    arrays: dict[str, Floats] = {}
    with confined_files.opened(path) as raw, np.load(raw, allow_pickle=False) as file:
        for name in file.files[:MOST_COLUMNS]:
            if file.zip.getinfo(f"{name}.npy").file_size > SIZE_LIMIT:
                continue
            try:
                arrays[name] = _checked(file[name])
            except ValueError:  # an object, a scalar, a picture
                continue
    return arrays
