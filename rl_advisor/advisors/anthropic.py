"""The advisor that asks one of Anthropic's models, through Anthropic's own client."""

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

DEFAULT = "claude-opus-5-5"
TIMEOUT = 300.0
_ENDINGS = {"refusal": "refused", "max_tokens": "cut", "model_context_window_exceeded": "cut"}


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
    """
    rest = {"max_cost": max_cost, "max_tokens": max_tokens, "transcript": transcript} | ({"sleep": sleep} if sleep else {})
    return advise("anthropic", run, builtin.assess(run), connect, model_options(DEFAULT, model, base_url, **rest))


def connect(wished: ModelOptions) -> Ask:
    """The function that asks the model.

    Raises:
        Unavailable: the client library or the key is missing.
    """
    try:
        import anthropic
        import httpx2
    except ImportError:
        raise Unavailable("its client library is not installed (pip install 'rl-advisor[anthropic]')") from None
    try:
        client = anthropic.Anthropic(max_retries=0, timeout=TIMEOUT, base_url=wished.base_url, http_client=bounded(httpx2, TIMEOUT))
    except anthropic.AnthropicError as wrong:
        raise Unavailable(f"its client could not be set up ({type(wrong).__name__})") from None
    if not (client.api_key or client.auth_token or getattr(client, "credentials", None)):
        raise Unavailable("there is no key; set ANTHROPIC_API_KEY")

    def ask(conversation: Conversation) -> Turn:
        try:
            with client.messages.stream(**request(wished.model, conversation)) as stream:
                return turn(stream.get_final_message())
        except anthropic.APIStatusError as error:
            raise failure(error.status_code, error.response.headers, error.type) from error
        except (anthropic.APIConnectionError, anthropic.APIResponseValidationError, httpx2.HTTPError) as error:
            raise Busy(f"the connection failed ({type(error).__name__})") from error
        except (ValueError, AssertionError) as broken:
            # The client's own words for a stream that ends too early or is no JSON.
            raise Busy("the provider's answer was no message") from broken

    return ask


def request(model: str, conversation: Conversation) -> dict[str, Any]:
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


def turn(message: Any) -> Turn:
    """The client's message in the loop's words."""
    raw = orjson.loads(message.to_json())["content"]
    used = message.usage
    return Turn(
        text="".join(b.text for b in message.content if b.type == "text"),
        calls=tuple(_call(b) for b in message.content if b.type == "tool_use"),
        usage=Usage(used.input_tokens, used.cache_read_input_tokens or 0, used.cache_creation_input_tokens or 0, used.output_tokens),
        ending=_ENDINGS.get(message.stop_reason or "", "done"),  # type: ignore[arg-type]
        raw=raw,
    )


def _call(block: Any) -> ToolCall:
    return ToolCall(block.id, block.name, block.input if isinstance(block.input, dict) else None)


def _message(entry: Entry) -> dict[str, Any]:
    if entry["role"] == "model":
        return {"role": "assistant", "content": entry["raw"] or [{"type": "text", "text": "(nothing)"}]}
    parts: list[dict[str, Any]] = [
        {"type": "tool_result", "tool_use_id": r["id"], "content": r["answer"], "is_error": bool(r["failed"])}
        for r in entry.get("results", ())
    ]
    return {"role": "user", "content": parts + ([{"type": "text", "text": entry["text"]}] if entry.get("text") else [])}
