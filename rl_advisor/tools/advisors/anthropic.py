"""The advisor that asks one of Anthropic's models, through Anthropic's own client: here is only how it speaks."""

from typing import Any

from rl_advisor.output import Answer
from rl_advisor.tools.advisors.model.provider import advisor
from rl_advisor.tools.advisors.model.session import ModelOptions
from rl_advisor.tools.advisors.model.turns import Conversation, Ending, Entry, call_of, turn_of, usage

_ENDINGS: dict[str, Ending] = {"refusal": "refused", "max_tokens": "cut", "model_context_window_exceeded": "cut"}


def _client(_: ModelOptions, common: Answer) -> Any:
    import anthropic

    client = anthropic.Anthropic(**common)
    return client if client.api_key or client.auth_token or getattr(client, "credentials", None) else None


def _send(client: Any, wished: ModelOptions, conversation: Conversation) -> Entry:
    return turn(client.messages.create(**request(wished.model, conversation)))


def request(model: str, conversation: Conversation) -> Answer:
    """The arguments of the client: everything up to the newest message is cached by the provider."""
    tools = [{"name": t.name, "description": t.description, "input_schema": dict(t.schema)} for t in conversation.tools]
    return {
        "model": model,
        "max_tokens": conversation.room,
        "system": [{"type": "text", "text": conversation.instructions, "cache_control": {"type": "ephemeral"}}],
        "tools": tools,
        "messages": [_message(entry) for entry in conversation.entries],
        "cache_control": {"type": "ephemeral"},
    }


def turn(message: Any) -> Entry:
    """The client's message in the driver's words."""
    used = message.usage
    return turn_of(
        "".join(b.text for b in message.content if b.type == "text"),
        [call_of(b.id, b.name, b.input) for b in message.content if b.type == "tool_use"],
        usage(used.input_tokens, used.cache_read_input_tokens or 0, used.cache_creation_input_tokens or 0, used.output_tokens),
        _ENDINGS.get(message.stop_reason, "done"),
        message.to_dict(mode="json", warnings=False)["content"],
    )


def _message(entry: Entry) -> Answer:
    if entry["role"] == "model":
        return {"role": "assistant", "content": entry["raw"] or [{"type": "text", "text": "(nothing)"}]}
    parts: list[Answer] = [
        {"type": "tool_result", "tool_use_id": r["id"], "content": r["answer"], "is_error": bool(r["failed"])}
        for r in entry.get("results", ())
    ]
    return {"role": "user", "content": parts + ([{"type": "text", "text": entry["text"]}] if entry.get("text") else [])}


assess = advisor("anthropic", "claude-opus-5-5", _client, _send)
