"""Chat messages as plain text: who said what, with the tool calls written out and counted.

Four ways to write a conversation are known: role and content (OpenAI, with tool calls beside the content or as items of their own), content
blocks (Anthropic, Gemini's parts), from and value (ShareGPT), and choices that wrap a message. A cell may hold any of them as JSON text.
"""

from collections.abc import Mapping
from typing import Any

import orjson

CHARS = 100_000
"""Longest text kept of one response; the head and the tail stay."""
_MESSAGES = 1_000
_JSON_TEXT = 8 << 20
"""Longest cell of JSON text that is opened."""
_ROLES: Mapping[str, str] = {
    **dict.fromkeys(("human", "input"), "user"),
    **dict.fromkeys(("gpt", "model", "ai", "bot", "chatgpt", "function_call", "reasoning"), "assistant"),
    **dict.fromkeys(("observation", "function", "ipython", "function_call_output", "environment"), "tool"),
}
_WRITTEN_AS = ("role", "from", "type", "message")
_OPENS = ("[{", "[ {", "[\n")
"""How JSON text of messages begins."""
_UNREADABLE = ("image", "audio", "video", "file", "document")


def is_chat(value: Any) -> bool:
    """Whether a cell holds messages: a list of mappings with a role, a sender or a content, or such a list as JSON text."""
    if isinstance(value, str) and not value.startswith(_OPENS):
        return False
    items = _items(value)
    told = _WRITTEN_AS if isinstance(value, str) else (*_WRITTEN_AS, "content")
    return bool(items) and all(isinstance(m, Mapping) and any(k in m for k in told) for m in items) and any(map(_speaks, items))


def as_text(value: Any) -> str:
    """A cell as text: a string as it is, messages with their roles, anything else as JSON. Never longer than CHARS."""
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 - NaN, the only value that is not itself
        return ""
    if is_chat(value):
        messages = [_opened(m) for m in _items(value)]
        single = len(messages) == 1 and not _calls(messages[0])
        return shorten(_content(messages[0]) if single else "\n".join(map(_message, messages)))
    if isinstance(value, str):
        return shorten(value)
    items = _items(value)
    if items and all(isinstance(i, str) for i in items):
        return shorten("\n".join(items))
    return shorten(_json(value))


def split_chat(value: Any) -> tuple[Any, Any]:
    """Messages before the model's first word, and from there on; a cell that is no chat is all response."""
    items = _items(value) if is_chat(value) else []
    first = next((i for i, m in enumerate(items) if _role(_opened(m)) == "assistant"), None)
    return ("", value) if first is None else (items[:first], items[first:])


def tool_calls(value: Any) -> int:
    """How many tool calls the messages hold; 0 for plain text."""
    return sum(len(_calls(_opened(m))) for m in _items(value) if isinstance(m, Mapping))


def shorten(text: str) -> str:
    """The text, its middle left out when it is longer than CHARS."""
    if len(text) <= CHARS:
        return text
    half = CHARS // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _items(value: Any) -> list[Any]:
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


def _role(message: Mapping[str, Any]) -> str:
    said = message.get("role") or message.get("from") or message.get("type") or "unknown"
    role = _ROLES.get(str(said), str(said))
    blocks = _items(message.get("content"))
    results = [isinstance(b, Mapping) and b.get("type") == "tool_result" for b in blocks]
    return "tool" if results and all(results) else role


def _message(message: Mapping[str, Any]) -> str:
    calls = "".join(f"\n<tool_call>{_json(call)}</tool_call>" for call in _calls(message))
    return f"[{_role(message)}] {_content(message)}{calls}"


def _content(message: Mapping[str, Any]) -> str:
    """What a message says: its reasoning, then its text; calls are no part of it."""
    if "function_call" in (message.get("from"), message.get("type")):
        return ""
    thought = message.get("reasoning_content") or message.get("reasoning")
    content = next((message[k] for k in ("content", "value", "parts", "output", "summary") if message.get(k) is not None), "")
    parts = [content] if isinstance(content, str) else [said for block in _items(content) if (said := _block(block)) is not None]
    return "\n".join([f"<think>{thought}</think>", *parts] if isinstance(thought, str) and thought else parts)


def _block(block: Any) -> str | None:
    """One block of a content as text; None for a call, which is written out elsewhere."""
    if not isinstance(block, Mapping):
        return str(block)
    kind = str(block.get("type", ""))
    if kind in ("tool_use", "function_call", "tool_call") or "functionCall" in block:
        return None
    if kind == "tool_result":
        inner = block.get("content")
        said = inner if isinstance(inner, str) else "\n".join(b for b in map(_block, _items(inner)) if b is not None)
        return f"error: {said}" if block.get("is_error") else said
    if isinstance(block.get("thinking"), str):
        return f"<think>{block['thinking']}</think>"
    if any(name in kind for name in _UNREADABLE):
        return f"[{kind}]"
    return str(block["text"]) if "text" in block else _json(block)


def _calls(message: Mapping[str, Any]) -> list[Any]:
    """The tool calls of a message, wherever they are written: beside its content, in it, or as the message itself."""
    if message.get("from") == "function_call":
        return [message.get("value")]
    if message.get("type") == "function_call":
        return [{k: message[k] for k in ("name", "arguments") if k in message}]
    calls = [call.get("function", call) if isinstance(call, Mapping) else call for call in _items(message.get("tool_calls"))]
    if isinstance(message.get("function_call"), Mapping):
        calls.append(message["function_call"])
    for block in (*_items(message.get("content")), *_items(message.get("parts"))):
        if isinstance(block, Mapping) and block.get("type") == "tool_use":
            calls.append({"name": block.get("name"), "arguments": block.get("input")})
        elif isinstance(block, Mapping) and "functionCall" in block:
            calls.append(block["functionCall"])
    return calls


def _json(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY).decode()
    except (TypeError, ValueError):
        return str(value)
