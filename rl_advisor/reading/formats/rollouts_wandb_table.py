"""Responses in the tables that W&B keeps on disk: one JSON document with ``columns`` and ``data``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.completions import completions_table
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.rollout_table import roles
from rl_advisor.run import Gap, Run

if TYPE_CHECKING:
    pass

FORMAT = "rollouts_wandb_table"
_LARGEST = 64 << 20
_COLUMNS = re.compile(rb'"columns"\s{0,4}:\s{0,4}(\[[^\[\]{}]{0,20000}\])')


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether the file is such a table with a response-like column."""
    if not path.name.endswith(".table.json"):
        return False
    try:
        with confined_files.opened(path) as file:
            found = _COLUMNS.search(file.read(65_536))
        names = orjson.loads(found[1]) if found else []
    except (OSError, orjson.JSONDecodeError):
        return False
    return "response" in roles([str(n) for n in names], ask.columns)[0].values()


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The responses of one table; rows of the wrong width are left out and counted."""
    import pandas as pd

    files, formats = (path.name,), (FORMAT,)
    if path.stat().st_size > _LARGEST:
        return Run(files=files, formats=formats, gaps=(Gap(path.name, f"a table of more than {_LARGEST >> 20} MiB is not read"),))
    try:
        with confined_files.opened(path) as file:
            document = orjson.loads(file.read(_LARGEST))
        names, data = [str(n) for n in document["columns"]], document["data"]
        rows = [row for row in data if isinstance(row, list) and len(row) == len(names)]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        return Run(files=files, formats=formats, gaps=(Gap(path.name, f"no readable table: {error}"[:300]),))
    gaps = (Gap(path.name, f"{len(data) - len(rows)} rows could not be read and were skipped"),) if len(rows) < len(data) else ()
    if not rows:
        return Run(files=files, formats=formats, gaps=gaps)
    table, said = completions_table(pd.DataFrame(rows, columns=names), path, ask.columns)
    return Run(rollouts=table, columns=tuple(names), files=files, formats=formats, gaps=(*gaps, *said))
