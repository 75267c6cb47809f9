"""Chat messages, however they are written, as turns; and turns as plain text: who said what, with the tool calls written out.

Known are role and content (OpenAI, calls beside the content or as items of their own), content blocks (Anthropic, Gemini's parts), from
and value (ShareGPT), choices that wrap a message, and steps of an agent with what they observed. A cell may hold any of them as JSON text.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np
import orjson

from rl_advisor.features.text.turns import Turn
from rl_advisor.reading.parsing.bytes_in import json_object
from rl_advisor.reading.parsing.cells import as_number, first
from rl_advisor.reading.parsing.sample_names import NUMBERS, ROLES

CHARS = 100_000
"""Longest text kept of one response; the head and the tail stay."""
_MESSAGES = 1_000
_JSON_TEXT = 8 << 20
"""Longest cell of JSON text that is opened."""
_WRITTEN_AS = ("role", "from", "type")
_OPENS = ("[{", "[ {", "[\n")
"""How JSON text of messages begins."""
_UNREADABLE = ("image", "audio", "video", "file", "document")
_CALLS = ("tool_use", "function_call", "tool_call")


_COUNTED: Mapping[str, Callable[[list[float]], float]] = {"tokens": len, "trained": fmean, "logprob": fmean, "version": max}
"""How a list of one number a token becomes one number of the turn; other lists are summed."""
_BESIDE = ("metadata", "metrics", "extra", "extras", "info", "usage")


def is_chat(value: Any) -> bool:
    """Whether a cell holds messages: a list of mappings with a role, a sender or a content, or such a list as JSON text."""
    if isinstance(value, str) and not value.startswith(_OPENS):
        return False
    every = items(value)
    told = _WRITTEN_AS if isinstance(value, str) else (*_WRITTEN_AS, "content")
    told_all = all(isinstance(m, Mapping) and (any(k in m for k in told) or isinstance(m.get("message"), Mapping)) for m in every)
    return bool(every) and told_all and any(map(_speaks, every))


def turns_of(value: Any) -> tuple[Turn, ...]:
    """The turns of a cell that holds messages or turns; a text is one turn of the model; none for anything else."""
    if isinstance(value, tuple) and value and isinstance(value[0], Turn):
        return value
    if is_chat(value):
        turns = tuple(_turn(m) for m in items(value))  # several agents go by names of their own
        return turns if any(t.role == "assistant" for t in turns) else tuple(t._replace(role=_agent(t.role)) for t in turns)
    return (Turn("assistant", shorten(value)),) if isinstance(value, str) and value else ()


def _agent(role: str) -> str:
    return role if role in ("user", "tool", "system", "developer", "unknown") else "assistant"


def as_text(value: Any) -> str:
    """A cell as text: a string as it is, messages with their roles, anything else as JSON. Never longer than CHARS."""
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 - NaN, the only value that is not itself
        return ""
    if isinstance(value, str) and not is_chat(value):
        return shorten(value)
    if turns := turns_of(value):
        return written(turns)
    every = items(value)
    if every and all(isinstance(i, str) for i in every):
        return shorten("\n".join(every))
    return shorten(_json(value))


def written(turns: Sequence[Turn]) -> str:
    """Turns as one text, each behind its role, with its calls; a lone one without calls is its text."""
    if len(turns) == 1 and not turns[0].calls:
        return shorten(turns[0].text)
    return shorten("\n".join(map(_line, turns)))


def _line(turn: Turn) -> str:
    calls = "".join(f"\n<tool_call>{_call_text(*call)}</tool_call>" for call in turn.calls)
    return f"[{turn.role}] {'error: ' if turn.failed and not turn.text.lower().startswith('error') else ''}{turn.text}{calls}"


def _call_text(name: str, arguments: str) -> str:
    return f'{{"name":{_json(name.encode("utf-8", "replace").decode())},"arguments":{arguments}}}' if name else arguments


def split_chat(turns: Sequence[Turn]) -> tuple[tuple[Turn, ...], tuple[Turn, ...]]:
    """The turns before the model's first word, and from there on; where it says nothing, all are the answer."""
    first = next((i for i, turn in enumerate(turns) if turn.role == "assistant"), 0)
    return tuple(turns[:first]), tuple(turns[first:])


def shorten(text: str) -> str:
    """The text, its middle left out when it is longer than CHARS."""
    if len(text) <= CHARS:
        return text
    half = CHARS // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def turn_numbers(message: Mapping[str, Any]) -> dict[str, float]:
    """What was logged with a message or a step, in it or in the mappings beside its text; a list of one number a token is folded."""
    places = [message, *(inner for name in _BESIDE if isinstance(inner := message.get(name), Mapping))]
    found = {ours: next((v for place in places if (v := first(place, theirs)) is not None), None) for ours, theirs in NUMBERS.items()}
    known = {ours: as_number(v, _COUNTED.get(ours, sum)) for ours, v in found.items() if not isinstance(v, (str, Mapping, type(None)))}
    return {ours: number for ours, number in known.items() if np.isfinite(number)}


def items(value: Any) -> list[Any]:
    """What a cell lists, as JSON text too; nothing where it is no list."""
    if isinstance(value, str):
        value = _parsed(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value[:_MESSAGES]) if isinstance(value, (list, tuple)) else []


def _parsed(text: str) -> Any:
    """A list of mappings that a cell holds as JSON text; None for any other text."""
    if not text.startswith(_OPENS) or len(text) > _JSON_TEXT:
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _speaks(message: Mapping[str, Any]) -> bool:
    """Whether it says something that a message says; a mapping that merely has a type does not."""
    return any(k in _opened(message) for k in ("content", "value", "parts", "tool_calls", "arguments"))


def _opened(message: Any) -> Mapping[str, Any]:
    """The message itself where it lies inside a choice."""
    inner = message.get("message") if isinstance(message, Mapping) else None
    return inner if isinstance(inner, Mapping) else message if isinstance(message, Mapping) else {"content": str(message)}


def _turn(item: Any) -> Turn:
    message = _opened(item)
    whole = {**message, **item} if isinstance(item, Mapping) else message
    blocks = [b for name in ("content", "parts") for b in items(message.get(name)) if isinstance(b, Mapping)]
    results = [b for b in blocks if b.get("type") == "tool_result"]
    said = str(message.get("role") or message.get("from") or message.get("type") or "unknown")
    ran = str(message.get("content"))[:10] == "exitcode: "
    role = "tool" if ran or (results and len(results) == len(blocks)) else ROLES.get(said, said)
    failed = any(m.get("is_error") is True or m.get("status") in ("error", "failed") for m in (message, *results))
    stop = str(first(whole, ("finish_reason", "stop_reason")) or "")[:80]
    return Turn(role[:40], _content(message), tuple(_calls(message, blocks)), failed, stop, turn_numbers(whole))


def _content(message: Mapping[str, Any]) -> str:
    """What a message says: its reasoning, then its text; calls are no part of it."""
    if "function_call" in (message.get("from"), message.get("type")):
        return ""
    thought = message.get("reasoning_content") or message.get("reasoning") or message.get("thinking")
    content = first(message, ("content", "value", "parts", "output", "summary"))
    parts = [content] if isinstance(content, str) else [said for block in items(content) if (said := _block(block)) is not None]
    if message.get("type") == "reasoning" and any(parts):
        parts = ["<think>", *parts, "</think>"]
    return "\n".join([f"<think>{thought}</think>", *parts] if isinstance(thought, str) and thought else parts)


def _block(block: Any) -> str | None:
    """One block of a content as text; None for a call, which is written out elsewhere."""
    if not isinstance(block, Mapping):
        return str(block)
    kind = str(block.get("type", ""))
    if kind in _CALLS or "functionCall" in block:
        return None
    if kind == "tool_result":
        inner = block.get("content")
        return inner if isinstance(inner, str) else "\n".join(b for b in map(_block, items(inner)) if b is not None)
    if isinstance(block.get("thinking"), str):
        return f"<think>{block['thinking']}</think>"
    if any(name in kind for name in _UNREADABLE):
        return f"[{kind}]"
    return str(block["text"]) if "text" in block else _json(block)


def _calls(message: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """The tool calls of a message, wherever they are written: as the message itself, beside its content, or in it."""
    if message.get("from") == "function_call":
        yield call_of(message.get("value"))
    elif message.get("type") == "function_call":
        yield call_of(message)
    for call in (*items(message.get("tool_calls")), message.get("function_call")):
        if call is not None:
            yield call_of(call.get("function") or call if isinstance(call, Mapping) else call)
    for block in blocks:
        if block.get("type") in _CALLS or "functionCall" in block:
            yield call_of(block.get("functionCall", block))


def call_of(call: Any) -> tuple[str, str]:
    """Name and arguments of a call; the name is empty where it has none."""
    if isinstance(call, str) and call.startswith("{") and len(call) <= _JSON_TEXT:
        call = json_object(call) or call
    if not isinstance(call, Mapping):
        return "", shorten(call if isinstance(call, str) else _json(call))
    name = first(call, ("name", "function_name", "tool_name", "tool", "action", "function"), str) or ""
    told = first(call, ("arguments", "args", "input", "parameters", "kwargs"))
    return name[:200], shorten(told if isinstance(told, str) else _json({} if told is None else told))


def _json(value: Any) -> str:
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY).decode()
    except (TypeError, ValueError):
        return str(value)
