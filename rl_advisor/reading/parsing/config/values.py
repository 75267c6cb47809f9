"""What a setting's text says: a number, a truth value, nothing, or text."""

import re
from collections.abc import Mapping
from typing import Any

from rl_advisor.reading.parsing.flat_config import flat
from rl_advisor.run import Named

TEXT_LIMIT = 300_000
"""Characters of a text that are looked at for settings."""
VALUE_LIMIT = 500
METRICS = frozenset(("loss", "reward", "grad_norm", "kl", "rewards", "actor_loss", "step_time", "entropy", "return"))
"""Names of what is logged and never set."""
_NUMBER = re.compile(r"[+-]?(?:\d{1,30}(?:_\d{3}){0,8}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,4})?")
_WORDS = {"true": True, "false": False, "null": None, "none": None, "~": None}


def typed(value: Any) -> Any:
    """The number, truth value or None that a text stands for; anything else as it is, cut to 500 characters."""
    if not isinstance(value, str):
        return value
    text = value.strip().strip("'\"")[:VALUE_LIMIT]
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if not _NUMBER.fullmatch(text):
        return text
    number = float(text.replace("_", ""))
    return int(number) if number.is_integer() and abs(number) >= 1 and abs(number) < 1e15 else number


def typed_flat(table: Mapping[Any, Any]) -> Named:
    """What a table holds, flat, each text as what it says."""
    return {key: typed(value) for key, value in flat(table).items()}


def measured(table: Mapping[Any, Any]) -> bool:
    """Whether a table holds metrics instead of settings: numbers under names of what is logged, or names with a slash."""
    logged = [v for k, v in table.items() if str(k).rpartition("/")[2] in METRICS or "/" in str(k)]
    return any(isinstance(v, int | float) or not isinstance(typed(v), str | Mapping | list) for v in logged)
