"""trackio's local SQLite project: one JSON object a log call, one training step in many of them."""

from pathlib import Path
from typing import Any

from rl_advisor.intake.bytes_in import head, parse_json
from rl_advisor.intake.columns import Row, curves_of
from rl_advisor.intake.gpu_names import column_of, without_counters
from rl_advisor.intake.sqlite_tables import MAGIC, rows, tables
from rl_advisor.intake.tracker_rows import flat, on_trainer_steps
from rl_advisor.run import Curve, Gap, Run

FORMAT = "trackio"
_COLUMNS = {"run_id", "timestamp", "run_name", "step", "metrics"}


def claims(path: Path) -> bool:
    """Whether it is a SQLite file with trackio's table of metrics."""
    return head(path, len(MAGIC)) == MAGIC and tables(path).get("metrics", set()) >= _COLUMNS


def read(path: Path) -> Run:
    """The run with most rows; the others are named in gaps."""
    counts = list(rows(path, "SELECT run_id, count(*) FROM metrics GROUP BY run_id ORDER BY 2 DESC, max(id) DESC"))
    if not counts:
        return Run(formats=(FORMAT,), gaps=(Gap(path.name, "a trackio project without metrics"),))
    gaps: list[Gap] = []
    if len(counts) > 1:
        gaps.append(Gap(path.name, f"{len(counts) - 1} more runs in this trackio project; only {counts[0][0]} (most rows) was read"))
    curves = curves_of(_rows(path, counts[0][0], gaps), path.name) | _system(path, counts[0][0])
    return without_counters(Run(curves=curves, config=_config(path, counts[0][0]), gaps=tuple(gaps), formats=(FORMAT,)))


def _system(path: Path, run: str) -> dict[str, Curve]:
    """The GPU counters of its system metrics, which it logs every ten seconds and not by step."""
    if not {"run_id", "timestamp", "metrics"} <= tables(path).get("system_metrics", set()):
        return {}
    query = "SELECT timestamp, metrics FROM system_metrics WHERE run_id = ? ORDER BY id"
    found = ((float(i), _seconds(time), flat(_object(text))) for i, (time, text) in enumerate(rows(path, query, run)))
    return {name: curve for name, curve in curves_of(found, path.name).items() if column_of(name)}


def _rows(path: Path, run: str, gaps: list[Gap]) -> list[Row]:
    found: list[Row] = []
    try:
        for count, time, text in rows(path, "SELECT step, timestamp, metrics FROM metrics WHERE run_id = ? ORDER BY id", run):
            found.append((float(count), _seconds(time), flat(_object(text))))
    except (OSError, TypeError, ValueError) as error:
        gaps.append(Gap(path.name, f"{error}; {len(found):,} rows before it were read"))
    return on_trainer_steps(found)


def _object(text: Any) -> dict[str, Any]:
    try:
        found = parse_json(text)
    except (ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def _seconds(text: Any) -> float:
    from datetime import datetime

    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return float("nan")


def _config(path: Path, run: str) -> dict[str, Any]:
    if not {"run_id", "config"} <= tables(path).get("configs", set()):
        return {}
    found = [_object(text) for (text,) in rows(path, "SELECT config FROM configs WHERE run_id = ?", run)]
    return {k: v for k, v in found[0].items() if not k.startswith("_")} if found else {}
