"""Cells that hold messages, however they are written, as turns; and turns as plain text: who said what, with the calls written out."""

from collections.abc import Mapping, Sequence
from typing import Any

from rl_advisor.features.text.turns import Turn
from rl_advisor.reading.parsing.episode_places import told_apart
from rl_advisor.reading.parsing.inferred_turns import heard
from rl_advisor.reading.parsing.nested_values import OPENS, as_json, items, shorten

_WRITTEN_AS = ("role", "from", "type", "content")


def is_chat(value: Any) -> bool:
    """Whether a cell holds messages: a list of mappings with a role, a sender or a content, or such a list as JSON text."""
    if isinstance(value, str) and not value.startswith(OPENS):
        return False
    every = items(value)
    told_all = all(isinstance(m, Mapping) and (any(k in m for k in _WRITTEN_AS) or isinstance(m.get("message"), Mapping)) for m in every)
    return bool(every) and told_all and any(map(_speaks, every))


def _speaks(message: Mapping[str, Any]) -> bool:
    """Whether it says something that a message says; a mapping that merely has a type does not."""
    inner = message.get("message")
    return any(k in (inner if isinstance(inner, Mapping) else message) for k in ("content", "value", "parts", "tool_calls", "arguments"))


def turns_of(value: Any) -> tuple[Turn, ...]:
    """The turns of a cell that holds messages or turns; none for anything else."""
    return value if isinstance(value, tuple) else told_apart(heard(items(value))) if is_chat(value) else ()


def as_text(value: Any) -> str:
    """A cell as text: a string as it is, messages with their roles, anything else as JSON. Never longer than CHARS."""
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 - NaN, the only value that is not itself
        return ""
    if turns := turns_of(value):
        return written(turns)
    every = [value] if isinstance(value, str) else items(value)
    return shorten("\n".join(every) if every and all(isinstance(one, str) for one in every) else as_json(value))


def written(turns: Sequence[Turn]) -> str:
    """Turns as one text, each behind its role, with its calls; a lone one without calls is its text."""
    if len(turns) == 1 and not turns[0].calls:
        return shorten(turns[0].text)
    return shorten("\n".join(map(_line, turns)))


def _line(turn: Turn) -> str:
    calls = "".join(f"\n<tool_call>{_call_text(*call)}</tool_call>" for call in turn.calls)
    return f"[{turn.role}] {'error: ' if turn.failed else ''}{turn.text}{calls}"


def _call_text(name: str, arguments: str) -> str:
    return f'{{"name":{as_json(name.encode("utf-8", "replace").decode())},"arguments":{arguments}}}' if name else arguments


def split_chat(turns: Sequence[Turn]) -> tuple[tuple[Turn, ...], tuple[Turn, ...]]:
    """The turns before the model's first word, and from there on; where it says nothing, all are the answer."""
    first = next((i for i, turn in enumerate(turns) if turn.role == "assistant"), 0)
    return tuple(turns[:first]), tuple(turns[first:])
