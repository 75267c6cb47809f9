"""CSV tables of metrics with a column that counts steps: RLlib's progress.csv, homemade logs, exports of W&B charts and TensorBoard."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from rl_advisor.intake.bytes_in import bare_name, head
from rl_advisor.intake.csv_in import read_table
from rl_advisor.run import Curve, Floats, Gap, Run

FORMAT = "metrics_csv"
APPENDED = "table"
"""How a growing file goes on, so that what was appended can be read alone."""
STEP_COLUMNS = (
    "step", "global_step", "train_global_step", "training_global_step", "_step", "training_iteration", "iteration", "iter", "update",
    "total_timesteps", "timesteps_total", "timesteps", "num_timesteps", "misc_total_timesteps", "timesteps_so_far", "total_env_interacts",
    "total_env_steps", "total_steps", "env_steps", "env_step", "environment_steps", "agent_steps", "actor_steps", "steps", "frames",
    "nb_steps", "episode", "episodes", "nb_episode", "evaluation_iteration", "epoch", "itr",
)  # fmt: skip
"""Column names that count rows, best first, in lower case with underscores."""
RUN_COLUMNS = ("run", "run_id", "run_name", "run_uuid", "seed", "trial_id", "experiment", "experiment_id", "exp_name")
_TENSORBOARD = ["wall time", "step", "value"]


def claims(path: Path) -> bool:
    """Whether the header has a column that counts steps and the first row has two numbers and no long text."""
    if not bare_name(path).endswith((".csv", ".tsv", ".txt")):
        return False
    names, first = _start(path)
    if "time/total_timesteps" in names or not _step_columns(names) or len(first) != len(names):
        return False
    numbers = sum(_is_number(cell) for cell in first)
    return numbers >= 2 and not any(len(cell) > 60 and not _is_number(cell) and not cell.startswith(("{", "[")) for cell in first)


def read(path: Path) -> Run:
    """Every numeric column as a curve; of several runs in one file that with most rows, the others are named in a gap."""
    table, gaps = read_table(path, separator=_separator(path))
    found = _step_columns([str(c) for c in table.columns])
    if not found or table.empty:
        return Run(gaps=gaps or (Gap(path.name, "no rows"),), formats=(FORMAT,))
    table, more = _one_run(table, path.name)
    step, steps = _counting(table, found)
    curves: dict[str, Curve] = {}
    for column in table.columns:
        value = pd.to_numeric(table[column], errors="coerce").to_numpy(np.float64)
        known = np.isfinite(steps) & ~np.isnan(value)
        name = _name(str(column), list(map(str, table.columns)), path)
        if name is not None and column != step and known.any():
            curves[name] = Curve(name, name, path.name, steps[known], value[known])
    return Run(curves=curves, gaps=(*gaps, *more), formats=(FORMAT,), step_unit=_unit(step))


def _start(path: Path) -> tuple[list[str], list[str]]:
    """The header's names and the cells of the first row."""
    text = head(path, 262_144).decode("utf-8", "replace").splitlines()[:2]
    rows = list(csv.reader(text, delimiter=_separator(path)))
    return (rows[0], rows[1]) if len(rows) == 2 else ([], [])


def _separator(path: Path) -> str:
    """What stands between cells; a ``.txt`` is a table only with tabs (Spinning Up's progress.txt)."""
    return "," if bare_name(path).endswith(".csv") else "\t"


def _step_columns(names: Sequence[str]) -> list[str]:
    """The columns that may count rows, best first."""
    plain = {_plain(name): name for name in reversed(names)}
    return [plain[key] for key in STEP_COLUMNS if key in plain]


def _plain(name: str) -> str:
    """The name in lower case with underscores between its words."""
    return re.sub(r"[ ./-]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()).lower())


def _counting(table: pd.DataFrame, columns: Sequence[str]) -> tuple[str, Floats]:
    """The first of the columns that goes up, with its numbers: ``steps`` is often the length of an episode. Else the first."""
    numbers = [(name, pd.to_numeric(table[name], errors="coerce").to_numpy(np.float64)) for name in columns]
    for name, steps in numbers:
        known = steps[np.isfinite(steps)]
        if known.size > 1 and known[-1] > known[0] and (np.diff(known) < 0).sum() <= max(2, known.size // 50):
            return name, steps
    return numbers[0]


def _unit(column: str) -> str:
    """What a step column counts, as far as its name says so."""
    words = _plain(column).replace("_", " ")
    kinds = (
        ("env steps", r"timestep|env(?:ironment)? (?:step|interact)|frame"),
        ("iterations", r"iter"),
        ("episodes", r"episode"),
        ("epochs", r"epoch"),
        ("updates", r"update"),
    )
    return next((unit for unit, pattern in kinds if re.search(pattern, words)), "steps")


def _one_run(table: pd.DataFrame, source: str) -> tuple[pd.DataFrame, tuple[Gap, ...]]:
    for column in table.columns:
        if str(column).lower() in RUN_COLUMNS and 1 < table[column].nunique() <= max(2, len(table) // 3):
            counts = table[column].value_counts()
            others = ", ".join(map(str, counts.index[1:6]))[:200]
            why = f"holds {len(counts)} runs by its column {column}; {counts.index[0]} was read, not {others}"
            return table[table[column] == counts.index[0]], (Gap(source, why[:400]),)
    return table, ()


def _name(column: str, columns: Sequence[str], path: Path) -> str | None:
    """The metric's name: TensorBoard's export has it in the file name only, W&B's behind the run's name; None for bounds and clocks."""
    if [c.lower() for c in columns] == _TENSORBOARD:
        return path.stem if column.lower() == "value" else None
    if " - " in column:
        return None if column.endswith(("__MIN", "__MAX")) else column.split(" - ", 1)[1]
    return column


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
