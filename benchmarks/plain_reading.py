"""The numbers of a run by plain means (csv, json, numpy, sqlite3, TensorBoard's own accumulator, regular expressions), none of them ours.

What `coverage.py` holds our reading against. Every file gives points (step, value) under the names that stand in it; ``None`` for a step
says that the file names none. Nothing is joined, translated or guessed here.
"""

import ast
import csv
import json
import math
import re
import sqlite3
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

Points = list[tuple[float | None, float]]
Series = dict[str, Points]
STEP_OF_CSV = (
    "time/total_timesteps", "training_iteration", "total timesteps", "total_timesteps", "iteration", "global_step", "step", "timestep",
)  # fmt: skip
STEP_OF_JSON = ("time/total_timesteps", "training_iteration", "step")
_ANSI = re.compile(r"\x1b\[[0-9;]*m|\[(?:\d+;)*\d+m")
_VERL = re.compile(r"(?:^|\s)step:(\d+) - (.*)")
_VERL_ITEM = re.compile(r"([^\s:][^:]*):(?:np\.\w+\()?(-?(?:[\d.]+(?:e[+-]?\d+)?|nan|inf))\)?$")
_OPENRLHF = re.compile(r"Global step (\d+): (\{.*\})|global_step (\d+), eval_metrics: (\{.*\})")
_ECHO = re.compile(r"global_step=(\d+), episodic_return=\[?\s*(-?[\d.]+)")


def plain_reading(run: Path) -> dict[str, Series]:
    """What every file of a run (a folder or one file) says, by its path in the run; files that hold no numbers are left out."""
    files = [run] if run.is_file() else sorted(p for p in run.rglob("*") if p.is_file() and p.name != "README.md")
    found = {}
    for path in files:
        name = path.name if run.is_file() else path.relative_to(run).as_posix()
        series = _file(path)
        if series:
            found[name] = series
    return found


def _file(path: Path) -> Series:
    if path.parent.name == "verl_demo" and path.suffix == ".jsonl":
        return _json_lines(path)
    if "mlruns" in path.parts and "/metrics/" in path.as_posix():
        rows = [line.split() for line in path.read_text().splitlines()]
        return {path.as_posix().split("/metrics/")[1]: [(float(step), float(value)) for _, value, step in rows]}
    for end, read in _READERS.items():
        if end in path.name if end == "tfevents" else path.name.endswith(end):
            return read(path)
    return {}


def _events(path: Path) -> Series:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray

    told = EventAccumulator(str(path), size_guidance={"scalars": 0, "tensors": 0}, purge_orphaned_data=False).Reload()
    out: Series = {tag: [(e.step, e.value) for e in told.Scalars(tag)] for tag in told.Tags()["scalars"]}
    for tag in told.Tags()["tensors"]:
        arrays = [(e.step, make_ndarray(e.tensor_proto)) for e in told.Tensors(tag)]
        out |= {tag: [(s, float(a)) for s, a in arrays]} if all(a.dtype.kind in "fiu" and a.ndim == 0 for _, a in arrays) else {}
    return out


def _trainer_state(path: Path) -> Series:
    return _rows(json.loads(path.read_text())["log_history"], "step", drop="train_runtime")


def _rows(rows: Iterable[dict[str, Any]], step: str, drop: str = "") -> Series:
    out: Series = {}
    for row in rows:
        if drop in row or step not in row:
            continue
        for key, value in _flat(row):
            if key != step and (number := _number(value)) is not None:
                out.setdefault(key, []).append((float(row[step]), number))
    return out


def _flat(row: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        if isinstance(value, dict):
            yield from () if key == "config" else _flat(value, f"{prefix}{key}/")
        else:
            yield prefix + key, value


def _number(value: Any) -> float | None:
    """The value as a number; None for text, tables and what is missing. Numbers may stand in quotation marks."""
    if value is None or isinstance(value, list | tuple | dict):
        return None
    if value in ("True", "False"):
        return float(value == "True")
    if isinstance(value, str) and value.endswith("%"):
        return float(value[:-1]) / 100
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _json_lines(path: Path) -> Series:
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    rows = [{"step": row["step"], **row["data"]} if isinstance(row.get("data"), dict) else row for row in rows]
    return _rows(rows, next((key for key in STEP_OF_JSON if any(key in row for row in rows)), "step"))


def _csv(path: Path) -> Series:
    csv.field_size_limit(1 << 28)
    with path.open(newline="") as file:
        rows = [{k: v for k, v in row.items() if k is not None and v} for row in csv.DictReader(file)]
    rows = [{k: _literal(v) for k, v in row.items()} for row in rows]
    step = next((key for key in STEP_OF_CSV if any(key in row for row in rows)), "")
    return _rows(rows, step) if step else {}


def _literal(cell: str) -> Any:
    """A dictionary written into a cell, else the cell."""
    if not cell.startswith("{"):
        return cell
    try:
        return ast.literal_eval(re.sub(r"\bnan\b", "None", cell))
    except (ValueError, SyntaxError):
        return cell


def _monitor(path: Path) -> Series:
    lines = path.read_text().splitlines()
    start = json.loads(lines[0][1:])["t_start"] if lines[0].startswith("#") else 0.0
    rows = list(csv.DictReader(lines[1 if lines[0].startswith("#") else 0 :]))
    # Which step an episode has depends on the files beside it, so the time of its end stands here in place of the step.
    return {f"monitor/{key}": [(start + float(row["t"]), float(row[key])) for row in rows] for key in ("r", "l")}


def _npz(path: Path) -> Series:
    if not zipfile.is_zipfile(path):
        return {}
    with np.load(path) as arrays:
        steps = arrays["timesteps"]
        tables = {key: arrays[key].reshape(len(steps), -1).astype(float) for key in arrays.files if key != "timesteps"}
    out = {f"evaluations/{key}": list(zip(steps.tolist(), table.mean(axis=1).tolist(), strict=True)) for key, table in tables.items()}
    return out | {"evaluations/results_std": list(zip(steps.tolist(), tables["results"].std(axis=1).tolist(), strict=True))}


def _sqlite(path: Path) -> Series:
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as base:
        names = {row[0] for row in base.execute("SELECT name FROM sqlite_master")}
        if "latest_metrics" in names:
            told = base.execute("SELECT key, step, value, is_nan FROM metrics ORDER BY timestamp, rowid").fetchall()
            out: Series = {}
            for key, step, value, is_nan in told:
                out.setdefault(key, []).append((float(step), math.nan if is_nan else float(value)))
            return out
        rows = [json.loads(text) for (text,) in base.execute("SELECT metrics FROM metrics ORDER BY id")]
        return _rows(rows, "train/global_step")


def _console(path: Path) -> Series:
    out: Series = {}
    echoed = 0.0
    for raw in path.read_text(errors="replace").replace("\r", "\n").splitlines():
        line = _ANSI.sub("", raw).strip()
        if found := _VERL.search(line):
            items = [m for part in found.group(2).split(" - ") if (m := _VERL_ITEM.fullmatch(part.strip()))]
            row = {m.group(1): float(m.group(2)) for m in items}
            step: float | None = float(found.group(1))
        elif found := _OPENRLHF.search(line):
            told = found.group(2) or found.group(4)
            row = ast.literal_eval(re.sub(r"\bnan\b", "1e999-1e999", told)) if "nan" not in told else _with_nan(told)
            step = float(found.group(1) or found.group(3))
        elif line.startswith("{'") and line.endswith("}") and "train_runtime" not in line:
            row, step = _with_nan(line), None
        elif found := _ECHO.search(line):
            row, step = {"episodic_return": float(found.group(2))}, float(found.group(1))
            echoed = step
        elif line.startswith("SPS: "):  # CleanRL prints it without a step, below the episodes
            row, step = {"SPS": line[5:]}, echoed
        else:
            continue
        for key, value in row.items():
            if (number := _number(value)) is not None:
                out.setdefault(key, []).append((step, number))
    return out


def _with_nan(text: str) -> dict[str, Any]:
    try:
        row = ast.literal_eval(re.sub(r"(?<=: )(nan|inf|-inf)(?=[,}])", r"'\1'", text))
    except (ValueError, SyntaxError):
        return {}
    return row if isinstance(row, dict) else {}


_READERS = {
    "tfevents": _events,
    "trainer_state.json": _trainer_state,
    "monitor.csv": _monitor,
    ".csv": _csv,
    "evaluations.npz": _npz,
    ".db": _sqlite,
    "metrics.jsonl": _json_lines,
    "progress.json": _json_lines,
    "result.json": _json_lines,
    ".log": _console,
    ".txt": _console,
}
