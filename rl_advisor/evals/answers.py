"""What an advisor answered about a run, whether it signed an assessment or only filled in the line of an answers file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import AliasChoices, AliasPath, BaseModel, Field, ValidationError

from rl_advisor.output.errors import complaints


class Answer(BaseModel, frozen=True, populate_by_name=True):
    """The scored part of a judgement. What was not said is empty or None."""

    verdict: str = ""
    link: str = Field("", validation_alias="first_broken_link")
    call: Literal["", "continue", "stop", "undecided"] = ""
    p: float | None = Field(None, ge=0, le=1, validation_alias="p_continue_pays")
    """Probability that continuing pays."""
    best_step: float | None = Field(None, validation_alias=AliasChoices("best_step", AliasPath("best_checkpoint", "step")))
    onset: float | None = Field(None, validation_alias=AliasChoices("onset_step", AliasPath("onset", "step")))
    tokens: float | None = None
    seconds: float | None = None
    money: float | None = None
    """What the answer cost, in US dollars."""


def read_answer(said: Mapping[str, Any] | BaseModel) -> Answer:
    """The scored part of an assessment (as the contract has it) or of a flat line of an answers file.

    Raises:
        ValueError: a field is none of the allowed values.

    """
    raw = said.model_dump() if isinstance(said, BaseModel) else said
    return Answer.model_validate({name: value for name, value in raw.items() if value is not None})


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
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        try:
            raw = orjson.loads(line)
            about = key[raw["task"]] if "task" in raw and key else (str(raw["run"]), float(raw.get("cut", 1.0)))
            answer = read_answer(raw)
        except ValidationError as wrong:
            raise ValueError(f"{where}: {'; '.join(complaints(wrong))}") from None
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"{where}: an answer is a JSON object with a run, a verdict, a call, ... ({error!r})") from None
        if about in answers:
            raise ValueError(f"{where}: {about[0]} at cut {about[1]} is answered twice")
        answers[about] = answer
    return answers
