"""The advisor that asks an OpenAI model, or any server that speaks chat completions (vLLM, Ollama, SGLang), through OpenAI's own client."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from rl_advisor.advisors import builtin
from rl_advisor.advisors.model.failures import failure
from rl_advisor.advisors.model.session import ModelOptions, advise, model_options
from rl_advisor.advisors.model.turns import Ask, Busy, Conversation, Entry, ToolCall, Turn, Unavailable, Usage
from rl_advisor.advisors.model.wire import bounded
from rl_advisor.assessment import Assessment
from rl_advisor.run import Run

DEFAULT = "gpt-6.1-sol"
TIMEOUT = 300.0
_ENDINGS = {"content_filter": "refused", "length": "cut"}


def assess(  # noqa: PLR0913 - each is one option of the command line
    run: Run,
    *,
    model: str | None = None,
    base_url: str | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    transcript: str | Path | None = None,
    sleep: Callable[[float], None] | None = None,
) -> Assessment:
    """The model's assessment of a run as it stands; the built-in one, saying so, when the model cannot be asked or fails.

    ``max_cost`` is in US dollars, ``max_tokens`` counts everything sent and written; ``transcript`` is a file to resume from.
    A server of your own is named by ``base_url``; it needs ``model``, and no key.
    """
    rest = {"max_cost": max_cost, "max_tokens": max_tokens, "transcript": transcript} | ({"sleep": sleep} if sleep else {})
    return advise("openai", run, builtin.assess(run), connect, model_options(DEFAULT, model, base_url, **rest))


def connect(wished: ModelOptions) -> Ask:
    """The function that asks the model.

    Raises:
        Unavailable: the client library or the key is missing.
    """
    try:
        import httpx2
        import openai
    except ImportError:
        raise Unavailable("its client library is not installed (pip install 'rl-advisor[openai]')") from None
    # A server of one's own asks for no key, but the client insists on one.
    key = "none" if wished.base_url and not os.environ.get("OPENAI_API_KEY") else None
    try:
        client = openai.OpenAI(api_key=key, max_retries=0, timeout=TIMEOUT, base_url=wished.base_url, http_client=bounded(httpx2, TIMEOUT))
    except openai.OpenAIError:
        raise Unavailable("there is no key; set OPENAI_API_KEY") from None

    def ask(conversation: Conversation) -> Turn:
        try:
            with client.chat.completions.create(**request(wished, conversation)) as stream:
                return turn(stream)
        except openai.APIStatusError as error:
            raise failure(error.status_code, error.response.headers, error.code) from error
        except (openai.APIError, httpx2.HTTPError) as error:
            raise Busy(f"the connection failed ({type(error).__name__})") from error
        except ValueError as broken:
            raise Busy("the provider's answer was no message") from broken

    return ask


def request(wished: ModelOptions, conversation: Conversation) -> dict[str, Any]:
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
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def turn(stream: Any) -> Turn:
    """The streamed pieces put together in the loop's words.

    Raises:
        ValueError: the stream ended before the turn did.
    """
    text, reason, usage = "", None, Usage()
    calls: dict[int, dict[str, str]] = {}
    for chunk in stream:
        usage = _usage(chunk.usage) if chunk.usage else usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            reason = choice.finish_reason or reason
            reason = "content_filter" if getattr(choice.delta, "refusal", None) else reason
            for piece in choice.delta.tool_calls or ():
                _joined(calls.setdefault(piece.index, {"id": "", "name": "", "arguments": ""}), piece)
    if reason is None:
        raise ValueError("the stream ended before the turn did")
    made = tuple(ToolCall(c["id"], c["name"], _object(c["arguments"])) for c in calls.values())
    raw: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        raw["tool_calls"] = [
            {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["arguments"]}} for c in calls.values()
        ]
    return Turn(text, made, usage, _ENDINGS.get(reason, "done"), raw)  # type: ignore[arg-type]


def _joined(call: dict[str, str], piece: Any) -> None:
    """Add one piece of a call to what came of it before."""
    call["id"] = piece.id or call["id"]
    if piece.function is not None:
        call["name"] += piece.function.name or ""
        call["arguments"] += piece.function.arguments or ""


def _object(arguments: str) -> dict[str, Any] | None:
    """The arguments of a call; none at all is an empty object, as some servers send it."""
    try:
        value = orjson.loads(arguments or "{}")
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _usage(used: Any) -> Usage:
    details = used.prompt_tokens_details
    cached = (details and details.cached_tokens) or 0
    stored = (details and details.cache_write_tokens) or 0
    return Usage(used.prompt_tokens - cached - stored, cached, stored, used.completion_tokens)


def _messages(entry: Entry) -> list[dict[str, Any]]:
    if entry["role"] == "model":
        return [entry["raw"]] if entry["raw"]["content"] or "tool_calls" in entry["raw"] else []
    answers: list[dict[str, Any]] = [{"role": "tool", "tool_call_id": r["id"], "content": r["answer"]} for r in entry.get("results", ())]
    return answers + ([{"role": "user", "content": entry["text"]}] if entry.get("text") else [])
