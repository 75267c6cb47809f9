"""What an advisor answered about a run, whether it signed an assessment or only filled in the line of an answers file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel

_LINE_LIMIT = 10_000_000
COSTS = ("tokens", "seconds", "money")
"""What an answer may say about its own price."""


@dataclass(frozen=True)
class Answer:
    """The scored part of a judgement. What was not said is empty or None."""

    verdict: str = ""
    link: str = ""
    call: str = ""
    p: float | None = None
    """Probability that continuing pays."""
    best_step: float | None = None
    onset: float | None = None
    tokens: float | None = None
    seconds: float | None = None
    money: float | None = None
    """What the answer cost, in US dollars."""


def read_answer(said: Mapping[str, Any] | BaseModel) -> Answer:
    """The scored part of an assessment (as the contract has it) or of a flat line of an answers file.

    Raises:
        ValueError: ``call`` or ``p_continue_pays`` is none of the allowed values.

    """
    raw = said.model_dump() if isinstance(said, BaseModel) else said
    call, p = raw.get("call") or "", raw.get("p_continue_pays")
    if call not in ("", "continue", "stop", "undecided"):
        raise ValueError(f"call is {call!r}; it is continue, stop or undecided")
    if p is not None and not 0 <= p <= 1:
        raise ValueError(f"p_continue_pays is {p}; it lies between 0 and 1")
    return Answer(
        verdict=raw.get("verdict") or "",
        link=raw.get("first_broken_link") or "",
        call=call,
        p=None if p is None else float(p),
        best_step=_either(raw, "best_step", "best_checkpoint"),
        onset=_either(raw, "onset_step", "onset"),
        **{name: None if raw.get(name) is None else float(raw[name]) for name in COSTS},
    )


def _either(raw: Mapping[str, Any], flat: str, nested: str) -> float | None:
    inner = raw.get(nested)
    value = raw.get(flat) if raw.get(flat) is not None else (inner or {}).get("step")
    return None if value is None else float(value)


Key = Mapping[str, tuple[str, float]]
"""Which run, and which share of it, a task of a pack shows."""


def read_key(path: Path) -> Key:
    """The key of exported task packs."""
    return {task: (str(what["run"]), float(what["cut"])) for task, what in orjson.loads(path.read_bytes()).items()}


def read_answers(path: Path, key: Key | None = None) -> dict[tuple[str, float], Answer]:
    """Answers by run and share of the run seen, from a JSON-lines file; ``cut`` of a line is that share, 1 where it is left out.

    With a key, lines name a ``task`` instead.

    Raises:
        ValueError: a line is no JSON object with a ``run`` (or a ``task`` of the key), or answers a run twice.

    """
    answers: dict[tuple[str, float], Answer] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if line.strip():
            about, answer = _line(line, f"{path.name}, line {number}", key or {})
            if about in answers:
                raise ValueError(f"{path.name}, line {number}: {about[0]} at cut {about[1]} is answered twice")
            answers[about] = answer
    return answers


def _line(line: bytes, where: str, key: Key) -> tuple[tuple[str, float], Answer]:
    if len(line) > _LINE_LIMIT:
        raise ValueError(f"{where}: longer than {_LINE_LIMIT} bytes")
    try:
        raw = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"{where}: no JSON ({error})") from None
    try:
        about = key[raw["task"]] if "task" in raw and key else (str(raw["run"]), float(raw.get("cut", 1.0)))
        return about, read_answer(raw)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{where}: an answer is an object with a run, a verdict, a call, ... ({error!r})") from None
