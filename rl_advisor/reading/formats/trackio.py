"""trackio's local SQLite project: one JSON object a log call, one training step in many of them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from rl_advisor.reading.parsing.bytes_in import head, parse_json
from rl_advisor.reading.parsing.columns import Row, curves_of
from rl_advisor.reading.parsing.completions import completions_table
from rl_advisor.reading.parsing.gpu_names import column_of, without_counters
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.rollout_table import roles
from rl_advisor.reading.parsing.sqlite_tables import MAGIC, rows, tables
from rl_advisor.reading.parsing.tracker_rows import flat, on_trainer_steps
from rl_advisor.run import Curve, Gap, Run
from rl_advisor.run_reference import chosen, labels, listed

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "trackio"
_COLUMNS = {"run_id", "timestamp", "run_name", "step", "metrics"}


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is a SQLite file with trackio's table of metrics."""
    return head(path, len(MAGIC)) == MAGIC and tables(path).get("metrics", set()) >= _COLUMNS


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The run with most rows; the others are named in gaps."""
    counts = list(rows(path, "SELECT run_id, count(*), max(run_name) FROM metrics GROUP BY run_id ORDER BY 2 DESC, max(id) DESC"))
    if not counts:
        return Run(formats=(FORMAT,), gaps=(Gap(path.name, "a trackio project without metrics"),))
    known = labels([(str(run), str(name or "")) for run, _, name in counts])
    label = chosen(list(known), ask.run)
    run, several = known[label], listed(list(known), label, path.name)
    gaps = list(several.gaps)
    curves = curves_of(_rows(path, run, gaps), path.name) | _system(path, run)
    table, said = _responses(path, run, ask.columns)
    found = replace(several, curves=curves, rollouts=table, config=_config(path, run), gaps=(*gaps, *said), formats=(FORMAT,))
    return without_counters(found)


def _responses(path: Path, run: str, columns: Mapping[str, str]) -> tuple[pd.DataFrame, tuple[Gap, ...]]:
    """The rows of its logged tables that hold responses, one table after the other; a table logged twice counts once."""
    import pandas as pd

    parts: list[pd.DataFrame] = []
    gaps: list[Gap] = []
    seen: set[int] = set()
    query = "SELECT step, metrics FROM metrics WHERE run_id = ? AND instr(metrics, 'trackio.table') ORDER BY id"
    with suppress(OSError):  # the curves' reader says that the file is damaged
        for count, text in rows(path, query, run):
            tables_in = [v.get("_value") for v in _object(text).values() if isinstance(v, dict) and v.get("_type") == "trackio.table"]
            for cells in (c for c in tables_in if isinstance(c, list) and c and all(isinstance(r, dict) for r in c)):
                meaning = roles(list(cells[0]), columns)[0].values()
                if "response" not in meaning or (mark := hash(str(cells))) in seen:
                    continue
                seen.add(mark)
                frame = pd.DataFrame(cells) if "step" in meaning else pd.DataFrame(cells).assign(step=count)
                table, said = completions_table(frame, PurePath(path.name), columns)
                parts.append(table)
                gaps += said
    if not parts:
        return pd.DataFrame(), ()
    whole = pd.concat(parts, ignore_index=True)
    return whole.assign(row=whole.index), tuple(dict.fromkeys(gaps))


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
