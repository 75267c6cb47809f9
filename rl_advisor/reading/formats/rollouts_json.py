"""Responses in one JSON document: a list of rows, a table with ``columns`` and ``data`` as W&B keeps it, or one episode a file.

Episodes are rLLM's ``episode_....json`` and SWE-agent's ``.traj``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from rl_advisor.reading.parsing.bytes_in import bare_name, document, head, parse_json
from rl_advisor.reading.parsing.completions import completions_table
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.rollout_table import roles
from rl_advisor.reading.parsing.trajectories import STEPS, TRAJECTORIES, holds_response, unfolded
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.run import Gap, Run

FORMAT = "rollouts_json"
SIZE_LIMIT = 64 << 20
_LOOK = 20
_COLUMNS = re.compile(rb'"columns"\s{0,4}:\s{0,4}(\[[^\[\]{}]{0,20000}\])')


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether it is a list of rows or a table that hold responses, or an object with trajectories that do."""
    name = bare_name(path)
    if not name.endswith((".json", ".traj")):
        return False
    start = head(path, 65_536).lstrip()
    if name.endswith(".table.json"):
        named = _COLUMNS.search(start)
        return named is not None and "response" in roles(list(map(str, _parsed(named[1]) or ())), ask.columns)[0].values()
    listed = start.startswith(b"[") and start[1:].lstrip().startswith(b"{")
    if not listed and not (start.startswith(b"{") and any(f'"{key}"'.encode() in start for key in (TRAJECTORIES, "messages", *STEPS))):
        return False
    try:
        return any(holds_response(row, ask.columns) for row in _rows(path)[0][:_LOOK])
    except (OverflowError, *PACK_ERRORS):
        return False


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The responses of one document; rows of the wrong width are left out and counted."""
    import pandas as pd

    rows, lost = _rows(path)
    why = f"{lost} rows could not be read and were skipped" if lost else "" if rows else "the document is damaged or holds no rows"
    gaps = (Gap(path.name, why),) if why else ()
    if not rows:
        return Run(files=(path.name,), formats=(FORMAT,), gaps=gaps)
    flat = unfolded(pd.DataFrame(rows))
    table, said = completions_table(flat, path, ask.columns)
    return Run(rollouts=table, columns=tuple(map(str, flat.columns)), files=(path.name,), formats=(FORMAT,), gaps=(*gaps, *said))


def _rows(path: Path) -> tuple[list[dict[str, Any]], int]:
    """The rows of a document, and how many are none."""
    found = _parsed(document(path, SIZE_LIMIT))
    if isinstance(found, dict) and isinstance(names := found.get("columns"), list) and isinstance(data := found.get("data"), list):
        cells = [row for row in data if isinstance(row, list) and len(row) == len(names)]
        return [dict(zip(map(str, names), row, strict=True)) for row in cells], len(data) - len(cells)
    rows = found if isinstance(found, list) else [found]
    return [row for row in rows if isinstance(row, dict)], 0


def _parsed(text: bytes) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        return None
