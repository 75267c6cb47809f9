"""MLflow's SQLite store: one row a point, with the trainer's own step; of several runs the one with most points is read."""

import math
from dataclasses import replace
from pathlib import Path

from rl_advisor.reading.parsing.columns import curves_of
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.sqlite_tables import rows_of, run_of, tables, until_damage
from rl_advisor.run import Run

FORMAT = "mlflow_sqlite"
_COLUMNS = ("key", "timestamp", "step", "value", "is_nan")


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is a SQLite file with MLflow's tables."""
    found = tables(path)
    return found.get("metrics", set()) >= {"run_uuid", *_COLUMNS} and "params" in found


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The metrics and parameters of one run; the others are named in gaps."""
    run, several = run_of(path, "run_uuid", ("runs", "name"), ask.run)
    said = rows_of(path, "metrics", "run_uuid", run, *_COLUMNS)
    gaps = list(several.gaps)
    points = until_damage(
        ((str(key), float(time), float(step), math.nan if is_nan else float(value)) for key, time, step, value, is_nan in said), gaps
    )
    points.sort(key=lambda point: point[:3])
    curves = curves_of([(step, time / 1e3, {key: value}) for key, time, step, value in points])
    config = {str(key): value for key, value in rows_of(path, "params", "run_uuid", run, "key", "value")}
    return replace(several, curves=curves, config=config, gaps=tuple(gaps))
