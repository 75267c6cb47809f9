"""How long an answer is for a model, and how to make it shorter without hiding that something is missing.

Tokens are estimated from above: numbers and punctuation cost far more than a quarter of a token per character.
"""

import itertools
import re
from collections.abc import Callable
from typing import Any

import orjson

from rl_advisor.output import Answer

_PIECES = re.compile(r"[A-Za-z]{1,5}|\d{1,3}|[^\sA-Za-z\d]"), re.compile(r"[^\x00-\x7f\s\d]")
"""What is one token: a few letters, a few digits, a sign; and the signs that are one more."""
_FEW_KEYS, _MOST_REPORTED = 12, 8
_HIGHEST, _STEP = 512.0, 0.8
"""The level at which cutting begins, and by how much it sinks until the answer fits."""
_LETTERS, _THINNED = 30, 4
"""Characters of a text that weigh as much as an entry of a list; how much sooner a curve is thinned, which keeps its shape."""


def tokens(value: Any) -> int:
    """Tokens of the value as JSON, estimated from above for the tokenizers in use."""
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return sum(len(piece.findall(text)) for piece in _PIECES)


def fit(value: Answer, limit: int, size: Callable[[Any], int] = tokens) -> Answer:
    """The answer within a ``limit`` of ``size``: all that is longer than a level is cut to it, and the level sinks until it fits.

    Lists of numbers, points or rows with a step are thinned evenly; other lists keep their head, so they must come in order of importance.
    ``cut`` says what was cut to what.
    """
    answer, level = value, _HIGHEST
    while size(answer) > limit and level >= 0:
        told: dict[str, str] = {}
        short = {key: _cut(part, f"/{key}", level, told) for key, part in value.items()}
        answer = {**short, "cut": _report(told)}
        level = level * _STEP if level > 1 else 0.0 if level > 0 else -1.0
    return answer


def _report(told: dict[str, str]) -> dict[str, str]:
    """What was cut to what, outermost first."""
    places = sorted(told, key=lambda place: place.count("/"))
    listed = {place: told[place] for place in places[:_MOST_REPORTED]}
    return listed | ({"elsewhere": f"{len(places) - _MOST_REPORTED} more"} if len(places) > _MOST_REPORTED else {})


def _cut(value: Any, place: str, level: float, told: dict[str, str]) -> Any:
    """The value with nothing in it that is longer than the level."""
    if not isinstance(value, str | list | dict):
        return value
    even = isinstance(value, list) and all(isinstance(v, int | float | list | None) or (isinstance(v, dict) and "step" in v) for v in value)
    most = int(level * _LETTERS if isinstance(value, str) else level / _THINNED if even else level)
    most = max(most, _FEW_KEYS if isinstance(value, dict) else 2 if even else 0) if level > 0 else 0
    if len(value) > most:
        told[place] = f"{most} of {len(value)} kept"
    if isinstance(value, str):
        return value if len(value) <= most else f"{value[: most * 2 // 3]} [...] {value[len(value) - most // 3 :]}" if most else ""
    if isinstance(value, dict):
        return {key: _cut(part, f"{place}/{key}", level, told) for key, part in itertools.islice(value.items(), most)}
    from rl_advisor.features.bins import evenly  # brings numpy, without which the server starts

    kept = [value[i] for i in evenly(len(value), most)] if even else value[:most]
    return [_cut(part, f"{place}/*", level, told) for part in kept]
