"""The scripted providers speak as the providers do: every event and every request is what the official clients' own types say."""

import pydantic
import wire
from wire import Says

TURN = Says(text="Let me look.", thought="What first?", calls=(("load_run", {}), ("summarize_curves", {"metrics": ["kl/ref"]})))
LOOK = Says(calls=(("load_run", {}),), thought="What first?")


def unknown(model: pydantic.BaseModel, path: str = "") -> list[str]:
    """Fields that the official types do not know, however deep."""
    own = [f"{path}{name}" for name in model.model_extra or {}]
    for name in type(model).model_fields:
        value = getattr(model, name)
        for item in value if isinstance(value, list) else [value]:
            own += unknown(item, f"{path}{name}.") if isinstance(item, pydantic.BaseModel) else []
    return own


def test_answers_are_of_the_official_types() -> None:
    """Each answer is the client's, without a field that it does not know."""
    from anthropic.types import Message
    from openai.types.chat import ChatCompletion

    message = Message.model_validate_json(wire.anthropic(TURN, 1))
    assert [b.type for b in message.content] == ["thinking", "text", "tool_use", "tool_use"]
    answer = ChatCompletion.model_validate_json(wire.openai(TURN, 1))
    assert (answer.choices[0].finish_reason, answer.usage.prompt_tokens_details.cached_tokens) == ("tool_calls", 200)
    assert unknown(message) + unknown(answer) == []


def test_errors_are_of_the_official_types() -> None:
    """An error of Anthropic's is one of its kinds."""
    from anthropic.types.shared import ErrorResponse

    for kind in ("rate_limit_error", "overloaded_error", "api_error", "billing_error"):
        assert ErrorResponse.model_validate(wire.refusal(wire.anthropic, kind)).error.type == kind


def test_requests_hold_what_the_client_may_send(speaker, run, judgement) -> None:
    """Nothing is sent that the provider's own parameters do not know, and everything that they require."""
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

    asked = {"anthropic": MessageCreateParamsNonStreaming, "openai": CompletionCreateParamsNonStreaming}[speaker.name]
    with speaker.play([LOOK, Says(calls=(("give_assessment", judgement),))]) as provider:
        speaker.assess(run, provider)
    for request in provider.requests:
        assert set(request) <= set(asked.__annotations__)
        assert asked.__required_keys__ <= set(request)


def test_thoughts_are_sent_back_as_they_came(speaker, run, judgement) -> None:
    """A signed block of thought stands unchanged before the calls in the next request, or the provider would refuse it."""
    with speaker.play([LOOK, Says(calls=(("give_assessment", judgement),))]) as provider:
        assert speaker.assess(run, provider).p_continue_pays == 0.11
    if speaker.name == "anthropic":
        content = provider.requests[1]["messages"][1]["content"]
        assert content[0] == {"type": "thinking", "thinking": "What first?", "signature": "c2lnbmVk"}
        assert content[1]["type"] == "tool_use"
