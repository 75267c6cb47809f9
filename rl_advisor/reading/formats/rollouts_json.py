"""Responses in one JSON document: a list of rows, or one episode a file (rLLM's ``episode_....json``, SWE-agent's ``.traj``)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rl_advisor.reading.parsing.bytes_in import bare_name, document, head, parse_json
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.rollout_table import rollout_table
from rl_advisor.reading.parsing.trajectories import STEPS, TRAJECTORIES, holds_response, unfolded
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.run import Gap, Run

if TYPE_CHECKING:
    pass

FORMAT = "rollouts_json"
SIZE_LIMIT = 64_000_000
_LOOK = 20


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether it is a list of rows that hold responses, or an object with trajectories that do."""
    name = bare_name(path)
    if not name.endswith((".json", ".traj")) or name.endswith(".table.json"):
        return False
    start = head(path, 65_536).lstrip()
    listed = start.startswith(b"[") and start[1:].lstrip().startswith(b"{")
    if not listed and not (start.startswith(b"{") and any(f'"{key}"'.encode() in start for key in (TRAJECTORIES, "messages", *STEPS))):
        return False
    return any(holds_response(row, ask.columns) for row in _rows(path)[:_LOOK])


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The responses of one document."""
    import pandas as pd

    rows = _rows(path)
    if not rows:
        return Run(files=(path.name,), formats=(FORMAT,), gaps=(Gap(path.name, "the document is damaged or holds no rows"),))
    flat = unfolded(pd.DataFrame(rows))
    table, gaps = rollout_table(flat, path, ask.columns)
    return Run(rollouts=table, columns=tuple(map(str, flat.columns)), files=(path.name,), formats=(FORMAT,), gaps=gaps)


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        found = parse_json(document(path, SIZE_LIMIT))
    except (ValueError, OverflowError, *PACK_ERRORS):
        return []
    return [row for row in (found if isinstance(found, list) else [found]) if isinstance(row, dict)]
