"""Metrics in one JSON document: lists of equal length (``{"step": [...], "reward": [...]}``), a list of rows; vectors in ``.npy`` files."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rl_advisor.intake.bytes_in import PACK_ERRORS, bare_name, document, head, parse_json
from rl_advisor.intake.columns import number
from rl_advisor.intake.metric_table import part_of, step_columns
from rl_advisor.intake.request import WHOLE, Request
from rl_advisor.run import UNSAID, Curve, Floats, Gap, Run

FORMAT = "columns"
GENERAL = True
STEPS = ("step", "steps", "global_step", "iteration", "iterations", "update", "episode", "episodes", "timesteps", "epoch")
"""Lists that count the rows, best first."""
UNITS = {"episode": "episodes", "iteration": "iterations", "update": "updates", "timestep": "env steps", "epoch": "epochs"}
SIZE_LIMIT = 256_000_000
FEWEST = 3
"""Numbers a list must have to be a curve."""
_METRIC = ("reward", "return", "loss", "score", "length", "kl", "entropy", "success", "accuracy")
_SACRED = re.compile(rb'\{\s*"(?:steps|timestamps|values)"\s*:\s*\[')
_ROWS = re.compile(rb"\[\s*\d+\.\d+\s*,\s*\d+\s*,|\{\s*\"(?:dtype|py/object)\"")
"""Rows of time, step and value, or numbers as Sacred writes those of NumPy."""
_NPY = b"\x93NUMPY"


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is an object whose values are lists of numbers, or a numeric vector whose name says what it measures."""
    name = bare_name(path)
    if name.endswith(".npy"):
        return any(word in name for word in _METRIC) and head(path, len(_NPY)) == _NPY
    start = head(path, 65_536).lstrip() if name.endswith(".json") else b""
    if start.startswith(b"["):
        return _is_row(start[1:].decode("utf-8", "replace").lstrip())
    first = start.partition(b":")[2].lstrip()
    if _SACRED.match(first):
        return start.startswith(b"{")
    inside = first[1:].lstrip()
    return start.startswith(b"{") and first.startswith(b"[") and (inside[:1] in b"-0123456789NI" or _ROWS.match(inside) is not None)


def read(path: Path, ask: Request = WHOLE) -> Run:
    """Each list as a curve over the steps the file names, else over the order of the rows; a list of rows as a table."""
    try:
        if bare_name(path).endswith(".json") and isinstance(found := parse_json(document(path, SIZE_LIMIT)), list):
            return replace(
                part_of(pd.DataFrame([row for row in found if isinstance(row, dict)]), path.name, run=ask.run), formats=(FORMAT,)
            )
        if bare_name(path).endswith(".json") and (series := _series(path)):
            return Run(curves=series, formats=(FORMAT,))
        columns = {path.stem: _vector(path)} if bare_name(path).endswith(".npy") else _lists(path)
    except (ValueError, OverflowError, *PACK_ERRORS) as error:
        return Run(gaps=(Gap(path.name, f"damaged, or no columns of numbers: {error}"[:300]),), formats=(FORMAT,))
    key = next((key for key in STEPS if key in columns and (np.diff(columns[key]) > 0).all()), None)
    curves: dict[str, Curve] = {}
    odd = 0
    for name, values in columns.items():
        step = columns[key] if key else np.arange(1.0, values.size + 1)
        if name != key and values.size == step.size:
            curves[name] = Curve(name, name, path.name, step, values)
        else:
            odd += name != key
    gaps = (Gap(path.name, f"{odd} lists are not as long as {key}; left out"),) if odd else ()
    unit = next((unit for word, unit in UNITS.items() if key and word in key), UNSAID)
    return Run(curves=curves, gaps=gaps, formats=(FORMAT,), axis="step" if key else "row", step_unit=unit)


def _is_row(text: str) -> bool:
    """Whether a text begins with a flat object that has a step, another number and no long text."""
    try:
        row, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(row, dict) or not step_columns(list(row)):
        return False
    numbers = sum(isinstance(v, int | float) and not isinstance(v, bool) for v in row.values())
    return numbers >= 2 and all(v is None or isinstance(v, int | float) or (isinstance(v, str) and len(v) <= 80) for v in row.values())


def _series(path: Path) -> dict[str, Curve]:
    """The curves of an object in which every value has its own steps.

    Sacred's metrics.json has two lists in an object, its info.json a list and one of the same name with ``_T``, tensorboardX's
    summary.json rows of time, step and value.
    """
    found = parse_json(document(path, SIZE_LIMIT))
    found = found if isinstance(found, dict) else {}
    curves: dict[str, Curve] = {}
    for raw, value in found.items():
        name, time = str(raw), None
        if isinstance(value, dict):
            step, values = value.get("steps"), value.get("values")
        elif isinstance(value, list) and f"{name}_T" in found:
            step, values = found[f"{name}_T"], [v.get("value") if isinstance(v, dict) else v for v in value]
        elif isinstance(value, list) and value and all(isinstance(row, list) and len(row) == 3 for row in value):
            time, step, values = ([row[i] for row in value] for i in range(3))
            name = _tag(name)
        else:
            continue
        if isinstance(step, list) and isinstance(values, list) and len(step) == len(values) and _is_column(step) and _is_column(values):
            seconds = _numbers(time) if time is not None and _is_column(time) else None
            curves[name] = Curve(name, name, path.name, _numbers(step), _numbers(values), seconds)
    return curves


def _tag(name: str) -> str:
    """The tag at the end of a path; a group of scalars has the tag twice."""
    parts = re.split(r"(?:^|/)logs/", name)[-1].split("/")
    half = len(parts) // 2
    return "/".join(parts[:half] if len(parts) > 1 and parts[:half] == parts[half:] else parts)


def _lists(path: Path) -> dict[str, Floats]:
    """The lists of an object in which every value that is an item is a number or null."""
    found = parse_json(document(path, SIZE_LIMIT))
    rows = found.items() if isinstance(found, dict) else ()
    return {str(name): _numbers(values) for name, values in rows if isinstance(values, list) and _is_column(values)}


def _is_column(values: list[Any]) -> bool:
    return len(values) >= FEWEST and all(v is None or isinstance(v, int | float) for v in values)


def _numbers(values: list[Any]) -> Floats:
    return np.array([math.nan if (v := number(value)) is None else v for value in values])


def _vector(path: Path) -> Floats:
    """The vector of an ``.npy`` file; nothing is unpickled and a size that is only claimed is not allocated."""
    found = np.load(path, mmap_mode="r", allow_pickle=False)
    if found.ndim != 1 or found.dtype.kind not in "fiub" or found.size < FEWEST or found.nbytes > SIZE_LIMIT:
        raise ValueError(f"an array of shape {found.shape} and type {found.dtype} is no curve")
    return np.array(found, np.float64)
