"""Values that strangers nest: lists and mappings however they come, calls, and the numbers that stand beside a turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

import numpy as np
import orjson

from rl_advisor.features.text.speakers import decides, part_of
from rl_advisor.reading.parsing.cells import as_number, first
from rl_advisor.reading.parsing.sample_names import NUMBERS

CHARS = 100_000
"""Longest text kept of one turn or response; the head and the tail stay."""
_MOST, _JSON_TEXT, _NAME = 1_000, 8 << 20, 200
"""Items of a list that are looked at, longest cell of JSON text that is opened, and characters of a tool's name."""
OPENS = ("[{", "[ {", "[\n", "[[")
"""How JSON text of a list begins."""
_BESIDE = ("metadata", "metrics", "extra", "extras", "info", "usage", "step_result")
_NOT_TOLD = ("id", "type", "index", "call_id", "role", "timestamp", "name")
_COUNTED: Mapping[str, Callable[[list[float]], float]] = {"tokens": len, "trained": fmean, "logprob": fmean, "version": max}
"""How a list of one number a token becomes one number of the turn; other lists are summed."""
_LOGGED = {name: ours for ours, names in NUMBERS.items() for name in names}


def shorten(text: str) -> str:
    """The text, its middle left out when it is longer than CHARS."""
    if len(text) <= CHARS:
        return text
    half = CHARS // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def items(value: Any) -> list[Any]:
    """What a cell lists, as JSON text too; nothing where it is no list."""
    if isinstance(value, str):
        value = parsed(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value[:_MOST]) if isinstance(value, (list, tuple)) else []


def parsed(text: str) -> Any:
    """The list that a cell holds as JSON text; None for any other text."""
    if not text.startswith(OPENS) or len(text) > _JSON_TEXT:
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def as_json(value: Any) -> str:
    """A value as JSON text, whatever it holds."""
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY).decode()
    except (TypeError, ValueError):
        return str(value)


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: Any) -> list[dict[str, Any]]:
    """The mappings that a value lists."""
    return [v for v in items(value) if isinstance(v, dict)]


def turn_numbers(message: Mapping[str, Any]) -> dict[str, float]:
    """What was logged with a message or a step, in it or in the mappings beside its text; a list of one number a token is folded."""
    found: dict[str, float] = {}
    for place in (message, *(message[k] for k in _BESIDE if k in message)):
        for key, value in place.items() if isinstance(place, Mapping) else ():
            ours = _LOGGED.get(key, "")
            if ours and ours not in found and not isinstance(value, (str, Mapping, type(None))):
                number = as_number(value, _COUNTED.get(ours, sum))
                found |= {ours: number} if np.isfinite(number) else {}
    return found


def call_of(call: Any) -> tuple[str, str]:
    """Name and arguments of a call; the name is empty where it has none."""
    if not isinstance(call, Mapping):
        return "", shorten(call if isinstance(call, str) else as_json(call))
    if isinstance(inner := call.get("function"), Mapping):
        call = inner
    if len(call) == 1 and not part_of(only := str(next(iter(call)))):  # {"look": {"q": "x"}}
        call = {"name": only, "arguments": call[only]}
    name = (
        first(
            call,
            [k for want in ("name", "done", "who") for k in call if part_of(str(k)) == want and (want != "who" or decides(str(k)))],
            str,
        )
        or ""
    )
    told = first(call, [k for want in ("args", "asked") for k in call if part_of(str(k)) == want or k in ("with", "args")])
    if told is None:
        told = {k: v for k, v in call.items() if k not in _NOT_TOLD and v != name}
    return name[:_NAME], shorten(told if isinstance(told, str) else as_json(told))
