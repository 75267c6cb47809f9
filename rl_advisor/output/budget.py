"""How long an answer is for a model, and how to make it shorter without hiding that something is missing.

Tokens are estimated from above: numbers and punctuation cost far more than a quarter of a token per character.
"""

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import orjson

_PIECES = re.compile(r"([A-Za-z]+)|(\d+)|([^\sA-Za-z\d])")
_SHORT_TEXT, _FEW_KEYS, _FEW_POINTS, _FEW_ROWS, _ROUNDS = 160, 12, 10, 6, 400
_SHORTEST_TEXT, _MOST_REPORTED = 40, 8
_THIN_FIRST = 4
"""How much sooner a list of numbers is thinned than a list of things is cut: a curve keeps its shape, a list loses its tail."""

Place = tuple[str, ...]


def tokens(value: Any) -> int:
    """Tokens of the value as JSON, estimated from above for the tokenizers in use."""
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    total = 0
    for word, number, other in _PIECES.findall(text):
        total += -(-len(word) // 5) if word else -(-len(number) // 3) if number else 1 if other.isascii() else 2
    return total


def fit(value: dict[str, Any], limit: int, size: Callable[[Any], int] = tokens) -> dict[str, Any]:
    """The answer within a ``limit`` of ``size``: the heaviest lists and texts are halved until it fits, ``cut`` says which and to what.

    Lists of numbers or points are thinned evenly; other lists keep their head, so they must come in order of importance.
    """
    original: dict[Place, int] = {}
    kept: dict[Place, int] = {}
    hard, short = False, value
    for _ in range(_ROUNDS):
        answer = {**short, "cut": _report(original, kept)} if kept else short
        if size(answer) <= limit:
            return answer
        place = _heaviest(short, hard)
        if place is None and hard:
            break
        if place is None:
            hard = True
            continue
        short = _changed(short, place, partial(_halved, place=place, hard=hard, original=original, kept=kept))
    return {**short, "cut": _report(original, kept)}


def _report(original: dict[Place, int], kept: dict[Place, int]) -> dict[str, str]:
    """What was cut to what, outermost first; what lies inside something that is gone is not named."""
    gone = {p for p in kept if not kept[p]}
    places = sorted((p for p in kept if not any(p[:n] in gone for n in range(len(p)))), key=len)
    listed = {"/" + "/".join(p): f"{kept[p]} of {original[p]} kept" for p in places[:_MOST_REPORTED]}
    return listed | ({"elsewhere": f"{len(places) - _MOST_REPORTED} more"} if len(places) > _MOST_REPORTED else {})


def _heaviest(value: Any, hard: bool) -> Place | None:
    """The place (list items alike) whose own content, without what could be cut inside it, costs most.

    ``hard`` also gives up what is otherwise left whole: short texts, small records, the last points of a curve.
    """
    weight: dict[Place, int] = defaultdict(int)
    for place, own in _weights(value, (), hard):
        weight[place] += own
    return max(weight, key=lambda p: (weight[p], p)) if weight else None


def _weights(value: Any, place: Place, hard: bool) -> Iterator[tuple[Place, int]]:
    """Places that can be cut, with the tokens each holds by itself."""
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if _can_be_cut(value, place, hard):
        cuttable = sum(tokens(v) for v in inside if _can_be_cut(v, (*place, "*"), hard))
        yield place, (tokens(value) - cuttable) * (_THIN_FIRST if isinstance(value, dict) or _is_numeric(value) or _is_series(value) else 1)
    for key, part in value.items() if isinstance(value, dict) else (("*", p) for p in inside):
        if isinstance(part, dict | list | str):
            yield from _weights(part, (*place, str(key)), hard)


def _can_be_cut(value: Any, place: Place, hard: bool) -> bool:
    if isinstance(value, list):
        return len(value) > (0 if hard else _FEW_POINTS if _is_numeric(value) else _FEW_ROWS if _is_series(value) else 0)
    if isinstance(value, str):
        return len(value) > (_SHORTEST_TEXT if hard else _SHORT_TEXT) and bool(place)
    if isinstance(value, dict) and place:
        return len(value) > (0 if hard else _FEW_KEYS) and (hard or place[-1] != "*")
    return False


def _changed(value: Any, place: Place, change: Callable[[Any], Any]) -> Any:
    """A copy of ``value`` with ``change`` applied to every part at ``place``."""
    if not place:
        return change(value)
    if isinstance(value, list) and place[0] == "*":
        return [_changed(v, place[1:], change) for v in value]
    if isinstance(value, dict) and place[0] in value:
        return {**value, place[0]: _changed(value[place[0]], place[1:], change)}
    return value


def _halved(part: Any, place: Place, hard: bool, original: dict[Place, int], kept: dict[Place, int]) -> Any:
    """About half of the list, dict or text; what it was and what is left is noted."""
    if not _can_be_cut(part, place, hard):
        return part
    half: Any
    if isinstance(part, str):
        half = f"{part[: len(part) // 3]} [...] {part[len(part) - len(part) // 6 :]}"
    elif isinstance(part, dict):
        half = dict(list(part.items())[: len(part) // 2])
    elif len(part) > 2 and (_is_numeric(part) or _is_series(part)):
        half = [*part[:-1:2], part[-1]]
    else:
        half = part[: len(part) * 3 // 4]
    original[place] = max(original.get(place, 0), len(part))
    kept[place] = len(half)
    return half


def _is_numeric(value: Any) -> bool:
    """Whether a value is a list of numbers or of points."""
    return isinstance(value, list) and all(isinstance(v, int | float | list | None) for v in value)


def _is_series(value: Any) -> bool:
    """Whether a value is a list of rows in order of their step."""
    if not isinstance(value, list) or len(value) <= _FEW_ROWS or not all(isinstance(v, dict) and "step" in v for v in value):
        return False
    steps = [v["step"] for v in value]
    return all(isinstance(s, int | float) for s in steps) and all(a < b for a, b in itertools.pairwise(steps))
