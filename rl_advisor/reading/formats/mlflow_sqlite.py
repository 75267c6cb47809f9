"""MLflow's SQLite store: one row a point, with the trainer's own step; of several runs the one with most points is read."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from rl_advisor.reading.parsing.bytes_in import head
from rl_advisor.reading.parsing.columns import curves_of
from rl_advisor.reading.parsing.gpu_names import without_counters
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.sqlite_tables import MAGIC, rows, tables
from rl_advisor.run import Gap, Run
from rl_advisor.run_reference import chosen, labels, listed

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
    counts = list(rows(path, "SELECT run_uuid, count(*), max(timestamp) FROM metrics GROUP BY run_uuid ORDER BY 2 DESC, 3 DESC"))
    if not counts:
        return Run(formats=(FORMAT,), gaps=(Gap(path.name, "an MLflow store without metrics"),))
    names = _names(path)
    known = labels([(str(run), names.get(str(run), "")) for run, *_ in counts])
    label = chosen(list(known), ask.run)
    several = listed(list(known), label, path.name)
    config: dict[str, Any] = dict(rows(path, "SELECT key, value FROM params WHERE run_uuid = ?", known[label]))
    gaps = list(several.gaps)
    points = _points(path, known[label], gaps)
    part = replace(several, curves=curves_of(points, path.name), config=config, gaps=tuple(gaps), formats=(FORMAT,))
    return without_counters(part)


def _names(path: Path) -> dict[str, str]:
    """What the runs are called, by their id; empty in a store that keeps names elsewhere."""
    if not {"run_uuid", "name"} <= tables(path).get("runs", set()):
        return {}
    return {str(key): str(name or "") for key, name in rows(path, "SELECT run_uuid, name FROM runs")}


def _points(path: Path, run: str, gaps: list[Gap]) -> list[tuple[float, float, dict[str, float]]]:
    found: list[tuple[float, float, dict[str, float]]] = []
    query = "SELECT key, value, timestamp, step, is_nan FROM metrics WHERE run_uuid = ? ORDER BY key, timestamp, step"
    try:
        for key, value, time, step, is_nan in rows(path, query, run):
            found.append((float(step), float(time) / 1e3, {str(key): math.nan if is_nan else float(value)}))
    except (OSError, TypeError, ValueError) as error:
        gaps.append(Gap(path.name, f"{error}; {len(found):,} points before it were read"))
    return found
