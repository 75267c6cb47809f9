"""Chat messages as plain text: who said what, with the tool calls written out and counted."""

from collections.abc import Mapping
from typing import Any

import orjson

CHARS = 100_000
"""Longest text kept of one response; the head and the tail stay."""
_MESSAGES = 1_000


def is_chat(value: Any) -> bool:
    """Whether a cell holds messages: a list of mappings with a role or a content."""
    items = _items(value)
    return bool(items) and all(isinstance(m, Mapping) and ("role" in m or "content" in m) for m in items)


def as_text(value: Any) -> str:
    """A cell as text: a string as it is, messages with their roles, anything else as JSON. Never longer than CHARS."""
    if isinstance(value, str):
        return shorten(value)
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 - NaN, the only value that is not itself
        return ""
    if is_chat(value):
        items = _items(value)
        single = len(items) == 1 and not _calls(items[0])
        return shorten(_content(items[0]) if single else "\n".join(_message(m) for m in items))
    items = _items(value)
    if items and all(isinstance(i, str) for i in items):
        return shorten("\n".join(items))
    return shorten(_json(value))


def split_chat(value: Any) -> tuple[Any, Any]:
    """Messages before the model's first word, and from there on; a cell that is no chat is all response."""
    items = _items(value)
    first = next((i for i, m in enumerate(items) if isinstance(m, Mapping) and m.get("role") == "assistant"), None)
    return ("", value) if first is None else (items[:first], items[first:])


def tool_calls(value: Any) -> int:
    """How many tool calls the messages hold; 0 for plain text."""
    return sum(len(_calls(m)) for m in _items(value) if isinstance(m, Mapping))


def shorten(text: str) -> str:
    """The text, its middle left out when it is longer than CHARS."""
    if len(text) <= CHARS:
        return text
    half = CHARS // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _items(value: Any) -> list[Any]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value[:_MESSAGES]) if isinstance(value, (list, tuple)) else []


def _message(message: Mapping[str, Any]) -> str:
    said = _content(message)
    calls = "".join(f"\n<tool_call>{_json(call)}</tool_call>" for call in _calls(message))
    return f"[{message.get('role', 'unknown')}] {said}{calls}"


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = _items(content)
    return "\n".join(str(p.get("text", _json(p))) if isinstance(p, Mapping) else str(p) for p in parts)


def _calls(message: Mapping[str, Any]) -> list[Any]:
    calls = _items(message.get("tool_calls"))
    return [call.get("function", call) if isinstance(call, Mapping) else call for call in calls]


def _json(value: Any) -> str:
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY).decode()
    except (TypeError, ValueError):
        return str(value)
