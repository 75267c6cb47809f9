"""The ``trainer_state.json`` that transformers' Trainer keeps: one row for each log call, with its step."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rl_advisor.reading.parsing.bytes_in import bare_name, document, head, json_values, parse_json
from rl_advisor.reading.parsing.columns import Row, curves_of
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Run

FORMAT = "trainer_state"
_MARKS = {b"log_history", b"global_step"}
_FIELD = re.compile(rb'"(log_history|global_step)"\s*:')


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is a JSON object with the name of a trainer state, or with its fields under any name."""
    if not bare_name(path).endswith(".json") or not head(path, 1).startswith(b"{"):
        return False
    return bare_name(path).endswith("trainer_state.json") or set(_FIELD.findall(head(path, 65_536))) >= _MARKS


def read(path: Path, _: Request = WHOLE) -> Run:
    """The rows of ``log_history`` as curves over optimizer updates, without the closing summary (``train_runtime``), which is no step."""
    text = document(path)
    no_gap: tuple[Gap, ...] = ()
    try:
        state, gaps = parse_json(text), no_gap
    except ValueError:
        state, gaps = (
            _salvage(text.decode("utf-8", "replace")),
            (Gap(path.name, "the JSON ends early or is damaged; rows before that were kept"),),
        )
    if not isinstance(state, dict):
        return Run(gaps=(*gaps, Gap(path.name, "no JSON object")), formats=(FORMAT,))
    history = state.get("log_history")
    rows = list(_rows(history if isinstance(history, list) else []))
    planned = state.get("max_steps")
    return Run(
        curves=curves_of(rows, path.name),
        gaps=gaps if rows else (*gaps, Gap(path.name, "log_history holds no row")),
        formats=(FORMAT,),
        planned_steps=planned if isinstance(planned, int) and planned > 0 else None,
    )


def _rows(history: list[Any]) -> Iterator[Row]:
    for row in history:
        if isinstance(row, dict) and "train_runtime" not in row and isinstance(row.get("step"), int | float):
            yield float(row["step"]), math.nan, {k: v for k, v in row.items() if k != "step"}


def _salvage(text: str) -> dict[str, Any]:
    begin = re.search(r'"log_history"[^\[]{0,100}\[', text)
    planned = re.search(r'"max_steps":\s*(\d+)', text)
    rows = json_values(text, begin.end())[0] if begin else []
    return {"log_history": rows, "max_steps": int(planned.group(1)) if planned else None}
