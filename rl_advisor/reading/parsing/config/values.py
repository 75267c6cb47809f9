"""What a setting's text says, a number, a truth value, nothing, or text; and settings that are nested as one flat table, bounded."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rl_advisor.run import Named

TEXT_LIMIT = 300_000
"""Characters of a text that are looked at for settings."""
VALUE_LIMIT, KEY_LIMIT, VISIT_LIMIT = 500, 3_000, 60_000
"""Characters of a value, names that are kept, and those that are looked at, whether or not their values are of a kind that is kept."""
_LOGGED = re.compile(r"loss|rewards?|grad_norm|kl|actor_loss|step_time|entropy|return|(?s:.*/.*)")
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
    logged = [v for k, v in table.items() if _LOGGED.fullmatch(str(k))]
    return any(isinstance(v, int | float) or not isinstance(typed(v), str | Mapping | list) for v in logged)


def flat(config: Mapping[Any, Any]) -> Named:
    """Dotted name -> number, text, bool, None or short list of such; at most 3,000 names and ten levels."""
    out: Named = {}
    _fill(out, config, "", 0, iter(range(VISIT_LIMIT)))
    return out


def _fill(out: Named, config: Mapping[Any, Any], prefix: str, depth: int, left: Iterator[int]) -> None:
    for key, value in config.items():
        if len(out) >= KEY_LIMIT or depth > 10 or next(left, None) is None:
            return
        name = f"{prefix}{key}"[:200]
        if isinstance(value, Mapping):
            inner = value["value"] if set(value) <= {"value", "desc"} and "value" in value else value  # a W&B config.yaml
            if isinstance(inner, Mapping):
                _fill(out, inner, f"{name}.", depth + 1, left)
                continue
            value = inner  # noqa: PLW2901
        if isinstance(value, str):
            out[name] = value[:VALUE_LIMIT]
        elif value is None or isinstance(value, bool | int | float):
            out[name] = value
        elif isinstance(value, list) and len(value) <= 20 and all(isinstance(v, str | int | float | None) for v in value):
            out[name] = [v[:VALUE_LIMIT] if isinstance(v, str) else v for v in value]
