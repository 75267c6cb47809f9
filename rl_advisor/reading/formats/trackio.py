"""trackio's local SQLite project: one JSON object a log call, one training step in many of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from rl_advisor.reading.parsing.bytes_in import head, json_object
from rl_advisor.reading.parsing.columns import Row, curves_of
from rl_advisor.reading.parsing.completions import completions_table
from rl_advisor.reading.parsing.gpu_counters import names_a_gpu
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.rollout_table import roles
from rl_advisor.reading.parsing.sqlite_tables import MAGIC, rows, tables
from rl_advisor.reading.parsing.tracker_rows import flat, on_trainer_steps
from rl_advisor.run import Curve, Gap, Run
from rl_advisor.run_reference import one_of

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "trackio"
_COLUMNS = {"run_id", "timestamp", "run_name", "step", "metrics"}


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is a SQLite file with trackio's table of metrics."""
    return head(path, len(MAGIC)) == MAGIC and tables(path).get("metrics", set()) >= _COLUMNS


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The run with most rows; the others are named in gaps."""
    known = _counted(path)
    if not known:
        return Run(formats=(FORMAT,), gaps=(Gap(path.name, "a trackio project without metrics"),))
    run, several = one_of(known, ask.run, path.name)
    gaps = list(several.gaps)
    logged = _logged(path, run, gaps)
    curves = curves_of(on_trainer_steps([(at, time, flat(said)) for at, time, said in logged]), path.name) | _system(path, run)
    table, said = _responses(path, logged, ask.columns)
    return replace(several, curves=curves, rollouts=table, config=_config(path, run), gaps=(*gaps, *said), formats=(FORMAT,))


def _counted(path: Path) -> list[tuple[str, str]]:
    """The runs with their names, that with most rows first, and of equals the latest."""
    runs: dict[str, tuple[int, int, str]] = {}
    for number, (run, name) in enumerate(rows(path, "metrics", "run_id", "run_name")):
        count, _, known = runs.get(str(run), (0, 0, ""))
        runs[str(run)] = (count + 1, number, max(known, str(name or "")))
    return [(run, name) for run, (_, _, name) in sorted(runs.items(), key=lambda kept: (-kept[1][0], -kept[1][1]))]


def _logged(path: Path, run: str, gaps: list[Gap]) -> list[Row]:
    """Step, time and what was said, of each call of a run."""
    found: list[Row] = []
    try:
        for of, count, time, text in rows(path, "metrics", "run_id", "step", "timestamp", "metrics"):
            if str(of) == run:
                found.append((float(count), _seconds(time), json_object(text)))
    except (OSError, TypeError, ValueError) as error:
        gaps.append(Gap(path.name, f"{error}; {len(found):,} rows before it were read"))
    return found


def _responses(path: Path, logged: Sequence[Row], columns: Mapping[str, str]) -> tuple[pd.DataFrame, tuple[Gap, ...]]:
    """The rows of its logged tables that hold responses, one table after the other; a table logged twice counts once."""
    import pandas as pd

    parts: list[pd.DataFrame] = []
    gaps: list[Gap] = []
    seen: set[int] = set()
    for count, _, logs in logged:
        tables_in = [v.get("_value") for v in logs.values() if isinstance(v, dict) and v.get("_type") == "trackio.table"]
        for cells in (c for c in tables_in if isinstance(c, list) and c and all(isinstance(r, dict) for r in c)):
            meaning = roles(list(cells[0]), columns)[0].values()
            if "response" not in meaning or (mark := hash(str(cells))) in seen:
                continue
            seen.add(mark)
            frame = pd.DataFrame(cells) if "step" in meaning else pd.DataFrame(cells).assign(step=int(count))
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
    said = rows(path, "system_metrics", "run_id", "timestamp", "metrics")
    found = ((float(i), _seconds(time), flat(json_object(text))) for i, (of, time, text) in enumerate(said) if str(of) == run)
    return {name: curve for name, curve in curves_of(found, path.name).items() if names_a_gpu(name)}


def _seconds(text: Any) -> float:
    from datetime import datetime

    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return float("nan")


def _config(path: Path, run: str) -> dict[str, Any]:
    if not {"run_id", "config"} <= tables(path).get("configs", set()):
        return {}
    found = next((json_object(text) for of, text in rows(path, "configs", "run_id", "config") if str(of) == run), {})
    return {k: v for k, v in found.items() if not k.startswith("_")}
