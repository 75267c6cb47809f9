"""MLflow's SQLite store: one row a point, with the trainer's own step; of several runs the one with most points is read."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from rl_advisor.reading.parsing.bytes_in import head
from rl_advisor.reading.parsing.columns import curves_of
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.sqlite_tables import MAGIC, rows, tables
from rl_advisor.run import Gap, Run
from rl_advisor.run_reference import one_of

FORMAT = "mlflow_sqlite"
_COLUMNS = {"key", "value", "timestamp", "run_uuid", "step", "is_nan"}


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is a SQLite file with MLflow's tables."""
    if head(path, len(MAGIC)) != MAGIC:
        return False
    found = tables(path)
    return found.get("metrics", set()) >= _COLUMNS and "params" in found


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The metrics and parameters of one run; the others are named in gaps."""
    counts = _counts(path)
    if not counts:
        return Run(formats=(FORMAT,), gaps=(Gap(path.name, "an MLflow store without metrics"),))
    names = _names(path)
    run, several = one_of([(run, names.get(run, "")) for run in counts], ask.run, path.name)
    config: dict[str, Any] = {str(k): v for of, k, v in rows(path, "params", "run_uuid", "key", "value") if str(of) == run}
    gaps = list(several.gaps)
    points = _points(path, run, gaps)
    return replace(several, curves=curves_of(points, path.name), config=config, gaps=tuple(gaps), formats=(FORMAT,))


def _counts(path: Path) -> list[str]:
    """The runs, that with most points first, and of equals the latest."""
    points: dict[str, list[float]] = {}
    for run, time in rows(path, "metrics", "run_uuid", "timestamp"):
        found = points.setdefault(str(run), [0, 0.0])
        found[0] += 1
        found[1] = max(found[1], time if isinstance(time, int | float) else 0.0)
    return sorted(points, key=lambda run: (-points[run][0], -points[run][1]))


def _names(path: Path) -> dict[str, str]:
    """What the runs are called, by their id; empty in a store that keeps names elsewhere."""
    if not {"run_uuid", "name"} <= tables(path).get("runs", set()):
        return {}
    return {str(key): str(name or "") for key, name in rows(path, "runs", "run_uuid", "name")}


def _points(path: Path, run: str, gaps: list[Gap]) -> list[tuple[float, float, dict[str, float]]]:
    found: list[tuple[str, float, float, float]] = []
    try:
        for of, key, value, time, step, is_nan in rows(path, "metrics", "run_uuid", "key", "value", "timestamp", "step", "is_nan"):
            if str(of) == run:
                found.append((str(key), float(time), float(step), math.nan if is_nan else float(value)))
    except (OSError, TypeError, ValueError) as error:
        gaps.append(Gap(path.name, f"{error}; {len(found):,} points before it were read"))
    found.sort(key=lambda point: point[:3])
    return [(step, time / 1e3, {key: value}) for key, time, step, value in found]
