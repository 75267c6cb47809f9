"""A row of the table: the fields that every one has, and how rows may be shown."""

import re
from collections.abc import Sequence
from typing import Any

from rl_advisor.output.clean import aliased, aliases, clean

Row = dict[str, Any]
CONTRACT = ("run", "verdict", "p", "cause", "call", "best_checkpoint", "step", "planned_steps", "error")
"""Fields that every row has, in this order."""


def shown(rows: Sequence[Row]) -> list[Row]:
    """The rows as they may stand in a terminal or another program's input: names of folders and of runs are text of strangers, too."""
    parts = [re.split("[/#]", row["run"]) for row in rows]
    among = aliases(name for names in parts for name in names)
    return [aliased(clean(row), names, among) for row, names in zip(rows, parts, strict=True)]
