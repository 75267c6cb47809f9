"""``evaluations.npz`` of Stable-Baselines3's EvalCallback: returns and lengths of every evaluation episode."""

import zipfile
import zlib
from math import prod
from pathlib import Path
from tokenize import TokenError

import numpy as np

from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.bytes_in import head
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Curve, Floats, Gap, Run

FORMAT = "evaluations_npz"
MOST_NUMBERS = 32_000_000
_ARRAYS = {"results": "evaluations/results", "ep_lengths": "evaluations/ep_lengths", "successes": "evaluations/successes"}


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is a zip of that name."""
    return path.name.lower().startswith("evaluations") and path.suffix.lower() == ".npz" and head(path, 2) == b"PK"


def read(path: Path, _: Request = WHOLE) -> Run:
    """The mean over the episodes of each evaluation (and the spread of the returns) over environment steps."""
    arrays, why = _arrays(path)
    steps = arrays.get("timesteps", np.empty(0)).astype(np.float64).ravel()
    curves: dict[str, Curve] = {}
    for key, name in _ARRAYS.items():
        table = arrays.get(key)
        if table is not None and table.ndim >= 2 and table.size and len(table) == len(steps):
            table = table.astype(np.float64).reshape(len(table), -1)
            curves[name] = Curve(name, name, path.name, steps, table.mean(axis=1))
            if key == "results":
                curves[f"{name}_std"] = Curve(f"{name}_std", f"{name}_std", path.name, steps, table.std(axis=1))
    if not curves and not why:
        why = "no arrays timesteps and results of matching length"
    return Run(curves=curves, gaps=(Gap(path.name, why),) if why else (), formats=(FORMAT,), step_unit="env steps")


def _numbers(archive: zipfile.ZipFile, name: str) -> int:
    """How many numbers an array says that it has: each takes eight bytes once it is read, however few it has in the file."""
    with archive.open(name) as file:
        version = np.lib.format.read_magic(file)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, kind = header(file)
    return max(prod(shape), archive.getinfo(name).file_size // 8, prod(shape) * kind.itemsize // 8)


def _arrays(path: Path) -> tuple[dict[str, Floats], str]:
    """The numeric arrays that can be read without unpickling, and what went wrong."""
    found: dict[str, Floats] = {}
    try:
        # Opened here: numpy leaves a file open whose archive it cannot read.
        with confined_files.opened(path) as raw, np.load(raw, allow_pickle=False) as file:
            for key in ("timesteps", *_ARRAYS):
                if key in file.files and _numbers(file.zip, f"{key}.npy") < MOST_NUMBERS:
                    found[key] = file[key]
    except (ValueError, OSError, EOFError, KeyError, RuntimeError, SyntaxError, TokenError, zlib.error, zipfile.BadZipFile) as error:
        return found, f"damaged or not plain arrays ({type(error).__name__})"
    return found, ""
