"""The advisor that asks an OpenAI model, or any server that speaks chat completions (vLLM, Ollama, SGLang): here is only how it speaks."""

import os
from collections import Counter
from typing import Any

import orjson

from rl_advisor.output import Answer
from rl_advisor.tools.advisors.model.provider import advisor
from rl_advisor.tools.advisors.model.session import ModelOptions
from rl_advisor.tools.advisors.model.turns import Conversation, Ending, Entry, call_of, turn_of, usage

_ENDINGS: dict[str, Ending] = {"content_filter": "refused", "length": "cut"}


def _client(wished: ModelOptions, common: Answer) -> Any:
    import openai

    # A server of one's own asks for no key, but the client insists on one.
    key = os.environ.get("OPENAI_API_KEY") or ("none" if wished.base_url else None)
    return openai.OpenAI(api_key=key, **common) if key else None


def _send(client: Any, wished: ModelOptions, conversation: Conversation) -> Entry:
    return turn(client.chat.completions.create(**request(wished, conversation)))


def request(wished: ModelOptions, conversation: Conversation) -> Answer:
    """The arguments of the client. The beginning never changes, which is what providers cache by themselves."""
    tools = [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": dict(t.schema)}}
        for t in conversation.tools
    ]
    # Servers other than OpenAI's know the older of two names for the same limit; OpenAI's newer models know only the other.
    limit = "max_tokens" if wished.base_url else "max_completion_tokens"
    messages = [{"role": "system", "content": conversation.instructions}]
    return {
        "model": wished.model,
        limit: conversation.room,
        "tools": tools,
        "messages": messages + [m for entry in conversation.entries for m in _messages(entry)],
    }


def turn(answer: Any) -> Entry:
    """The client's answer in the driver's words."""
    choice = answer.choices[0]
    said = choice.message
    made = [call_of(c.id, c.function.name, _object(c.function.arguments)) for c in said.tool_calls or ()]
    ending = "refused" if said.refusal else _ENDINGS.get(choice.finish_reason, "done")
    raw = said.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True)
    return turn_of(said.content or "", made, _usage(answer.usage), ending, raw)


def _object(arguments: str) -> Any:
    """The arguments of a call; none at all is an empty object, as some servers send it."""
    try:
        return orjson.loads(arguments or "{}")
    except orjson.JSONDecodeError:
        return None


def _usage(used: Any) -> Counter[str]:
    details = used.prompt_tokens_details
    cached = (details and details.cached_tokens) or 0
    stored = (details and details.cache_write_tokens) or 0
    return usage(used.prompt_tokens - cached - stored, cached, stored, used.completion_tokens)


def _messages(entry: Entry) -> list[Answer]:
    if entry["role"] == "model":
        return [entry["raw"]] if entry["text"] or entry["calls"] else []
    answers: list[Answer] = [{"role": "tool", "tool_call_id": r["id"], "content": r["answer"]} for r in entry.get("results", ())]
    return answers + ([{"role": "user", "content": entry["text"]}] if entry.get("text") else [])


assess = advisor("openai", "gpt-6.1-sol", _client, _send)
