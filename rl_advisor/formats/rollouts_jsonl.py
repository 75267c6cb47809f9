"""Responses in JSON lines or CSV: rollout dumps with one response a line, and any such file with a response-like text column."""

import csv
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rl_advisor.intake.chat import is_chat
from rl_advisor.intake.json_rows import LONGEST, cut_of, decoded, json_lines
from rl_advisor.intake.reservoir import Place, Reservoir
from rl_advisor.intake.rollout_table import as_number, layout_of, path_step, roles, rollout_table
from rl_advisor.run import Run

FORMAT = "rollouts_jsonl"
_LINES = (".jsonl", ".ndjson", ".json")
_CELLS = (".csv", ".tsv")
_LOOK = 20
"""Lines looked at to tell what a file is."""
_SMALL = 32 << 20
"""Size in bytes up to which every row is kept."""


def claims(path: Path) -> bool:
    """Whether the first readable rows hold a response: text or chat messages under a response-like name, or a known writer's columns."""
    if path.suffix.lower() not in (*_LINES, *_CELLS):
        return False
    try:
        rows = [row for _, row in islice(_rows(path), _LOOK) if row]
    except OSError:
        return False
    return any(_holds_response(row) for row in rows)


def read(path: Path) -> Run:
    """The responses of one file, at most a bounded sample a step when it is large; what was left out or corrupt is a gap."""
    if path.stat().st_size <= _SMALL:
        kept = Reservoir(rows_per_step=10**9, budget=4 * _SMALL)
        _read_whole(path, kept)
    else:
        kept = Reservoir()
        (_read_whole if path.suffix.lower() in _CELLS else _read_skipping)(path, kept)
    rows = kept.table()
    table, gaps = rollout_table(_unfold(rows), path) if len(rows) else (pd.DataFrame(), ())
    return Run(curves=kept.curves(path.name), rollouts=table, files=(path.name,), formats=(FORMAT,), gaps=(*kept.gaps(path.name), *gaps))


def _read_whole(path: Path, kept: Reservoir) -> None:
    """Offer every row, decoded as a whole."""
    said = path_step(path)
    for number, row in _rows(path):
        if row is None:
            kept.corrupt += 1
        elif kept.offer(place := _place(number, row, said)):
            kept.keep(place, row)


def _read_skipping(path: Path, kept: Reservoir) -> None:
    """Offer every row with its response skipped, which is most of a line; only rows that are kept are decoded as a whole."""
    said, cut = path_step(path), None
    for number, line in json_lines(path):
        brief = cut.brief(line) if cut is not None and line is not None else None
        row = brief[0] if brief is not None else None if line is None else decoded(line)
        if row is None or line is None:
            kept.corrupt += 1
            continue
        place = _place(number, row, said, brief[1] if brief is not None else None)
        if kept.offer(place) and (whole := decoded(line)) is not None:
            kept.keep(place, whole)
        if brief is None:
            cut = cut_of(row, line, _places(tuple(row))[2])


def _place(number: int, row: dict[str, Any], said: int | None, size: int | None = None) -> Place:
    """What decides whether a row is kept: its step, reward, length in bytes, and prompt."""
    at_step, at_reward, at_response, at_prompt = _places(tuple(row))
    step, reward, prompt = row.get(at_step, said), row.get(at_reward, nan), row.get(at_prompt, "")
    if not isinstance(step, (int, float, str)):
        step = None
    if type(reward) is not float:
        reward = as_number(reward)
    if type(prompt) is not str:
        prompt = str(prompt)[:2_000]
    if size is None:
        response = row.get(at_response)
        size = len(response.encode("utf-8", "replace")) if isinstance(response, str) else sum(len(str(v)) for v in row.values())
    return number, step, reward, size, prompt


@lru_cache(maxsize=64)
def _places(names: tuple[str, ...]) -> tuple[str, str, str, str]:
    """The names that step, reward, response and prompt go by in a row of these names; one that is in no row where there is none."""
    raw = {ours: raw for raw, ours in roles(names)[0].items()}
    return raw.get("step", "\0"), raw.get("reward", "\0"), raw.get("response", "\0"), raw.get("prompt", "\0")


def _holds_response(row: dict[str, Any]) -> bool:
    layout = layout_of(row)
    if layout is not None and "response" not in {*layout.meaning.values(), *row}:
        return True
    meaning, _ = roles(list(row))
    value = next((row[raw] for raw, ours in meaning.items() if ours == "response"), None)
    return is_chat(value) or (isinstance(value, str) and not _is_number(value))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Row number (from 0) and the row; None for one that cannot be read. Blank lines count but give nothing."""
    return _csv_rows(path) if path.suffix.lower() in _CELLS else _json_rows(path)


def _json_rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | None]]:
    for number, line in json_lines(path):
        yield number, None if line is None else decoded(line)


def _csv_rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | None]]:
    csv.field_size_limit(LONGEST)
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        reader = csv.DictReader((line.replace("\0", "") for line in file), delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
        try:
            for number, row in enumerate(reader):
                yield number, None if None in row or None in row.values() else row
        except csv.Error:
            yield -1, None


def _unfold(rows: pd.DataFrame) -> pd.DataFrame:
    """Trajectory summaries without text keep what they measured: tokens the model wrote, turns, and the mean of each of its metrics."""
    if not {"traj_idx", "steps"} <= set(rows.columns):
        return rows
    turns = [[s for s in steps if isinstance(s, dict)] if isinstance(steps, list) else [] for steps in rows["steps"]]
    rows = rows.drop(columns=["steps"])
    rows["length"] = [float(sum(_float(s.get("ac_len")) for s in t)) for t in turns]
    rows["turns"] = [float(len(t)) for t in turns]
    metrics = [[s["metrics"] for s in t if isinstance(s.get("metrics"), dict)] for t in turns]
    for name in sorted({str(k) for ms in metrics for m in ms for k in m})[:50]:
        rows[name] = [float(np.mean([_float(m.get(name)) for m in ms])) if ms else np.nan for ms in metrics]
    return rows


def _float(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else np.nan
