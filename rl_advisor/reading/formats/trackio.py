"""trackio's local SQLite project: one JSON object a log call, one training step in many of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from rl_advisor.reading.parsing.bytes_in import json_object
from rl_advisor.reading.parsing.columns import Row, curves_of, flat
from rl_advisor.reading.parsing.gpu_counters import names_a_gpu
from rl_advisor.reading.parsing.metric_table import over_rows
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.rollout_table import roles, rollout_table
from rl_advisor.reading.parsing.sqlite_tables import rows_of, run_of, tables, until_damage
from rl_advisor.run import Curve, Gap, Run

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "trackio"
_COLUMNS = {"run_id", "timestamp", "run_name", "step", "metrics"}


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is a SQLite file with trackio's table of metrics."""
    return tables(path).get("metrics", set()) >= _COLUMNS


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The run with most rows; the others are named in gaps."""
    run, several = run_of(path, "run_id", ("metrics", "run_name"), ask.run)
    gaps = list(several.gaps)
    said = rows_of(path, "metrics", "run_id", run, "step", "timestamp", "metrics")
    logged = until_damage(((float(count), _seconds(time), json_object(text)) for count, time, text in said), gaps)
    part = over_rows({"_step": at, "_timestamp": time, **flat(said)} for at, time, said in logged)
    table, guessed = _responses(path, logged, ask.columns)
    told = next((json_object(text) for (text,) in rows_of(path, "configs", "run_id", run, "config")), {})
    config = {k: v for k, v in told.items() if not k.startswith("_")}
    curves = {**part.curves, **_system(path, run)}
    return replace(several, curves=curves, rollouts=table, config=config, step_unit=part.step_unit, gaps=(*gaps, *part.gaps, *guessed))


def _responses(path: Path, logged: Sequence[Row], columns: Mapping[str, str]) -> tuple[pd.DataFrame, tuple[Gap, ...]]:
    """The rows of its logged tables that hold responses, one table after the other; a table logged twice counts once."""
    import pandas as pd

    parts: list[pd.DataFrame] = []
    gaps: list[Gap] = []
    seen: set[int] = set()
    for count, _, logs in logged:
        tables_in = [v.get("_value") for v in logs.values() if isinstance(v, dict) and v.get("_type") == "trackio.table"]
        for cells in (c for c in tables_in if isinstance(c, list) and c and all(isinstance(r, dict) for r in c)):
            meaning = roles(list(cells[0]), columns)
            if "response" not in meaning or (mark := hash(str(cells))) in seen:
                continue
            seen.add(mark)
            frame = pd.DataFrame(cells) if "step" in meaning else pd.DataFrame(cells).assign(step=int(count))
            table, said = rollout_table(frame, PurePath(path.name), columns)
            parts.append(table)
            gaps += said
    if not parts:
        return pd.DataFrame(), ()
    whole = pd.concat(parts, ignore_index=True)
    return whole.assign(row=whole.index), tuple(dict.fromkeys(gaps))


def _system(path: Path, run: str) -> dict[str, Curve]:
    """The GPU counters of its system metrics, which it logs every ten seconds and not by step."""
    said = rows_of(path, "system_metrics", "run_id", run, "timestamp", "metrics")
    found = ((float(i), _seconds(time), flat(json_object(text))) for i, (time, text) in enumerate(said))
    return {name: curve for name, curve in curves_of(found).items() if names_a_gpu(name)}


def _seconds(text: Any) -> float:
    from datetime import datetime

    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return nan
