"""A provider on the loopback: plays a script over real HTTP in Anthropic's words or in OpenAI's, and keeps what it was sent."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Says:
    """A turn of the scripted model: words and tool calls."""

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    """Names and arguments; arguments that are text are sent as they are."""
    stop: str | None = None
    thought: str = ""
    """Said to itself before; a signed block of its own where the protocol knows such."""
    usage: tuple[int, int, int, int] = (1000, 200, 300, 100)
    """Fresh, cached, stored, written."""


@dataclass(frozen=True)
class Fails:
    """An answer that is none."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "api_error"


DROP = "drop"
"""The connection ends in the middle of an answer."""
GARBAGE = "garbage"
"""An answer that is no JSON."""
OTHER = "other"
"""An answer that is not what the protocol says."""


@dataclass
class Provider:
    """A running server, its script, and the requests it got."""

    url: str
    script: list[Any]
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


Spoken = Callable[[Says, int], bytes]


@contextmanager
def provider(spoken: Spoken, kind: str, script: list[Any]) -> Iterator[Provider]:
    """A server that answers with ``script``, one line a request, until the block ends."""
    state = Provider("", script)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            state.requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            state.headers.append(dict(self.headers))
            line = state.script.pop(0) if state.script else Fails(400)
            _play(self, line, spoken, kind, len(state.requests))

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _play(handler: BaseHTTPRequestHandler, line: Any, spoken: Spoken, kind: str, number: int) -> None:
    if isinstance(line, Fails):
        _send(handler, line.status, "application/json", json.dumps(refusal(spoken, line.kind)).encode(), line.headers)
    elif line == GARBAGE:
        _send(handler, 200, kind, b"{this is no json", {})
    elif line == OTHER:
        _send(handler, 200, kind, b'{"pong": [1]}', {})
    elif line == DROP:
        body = spoken(Says(text="I was about to say"), number)
        _send(handler, 200, kind, body[: len(body) // 2], {}, promised=len(body))
        handler.close_connection = True
    else:
        _send(handler, 200, kind, spoken(line, number), {})


def _send(
    handler: BaseHTTPRequestHandler, status: int, kind: str, body: bytes, headers: dict[str, str], promised: int | None = None
) -> None:
    handler.send_response(status)
    for name, value in {"content-type": kind, "content-length": str(promised or len(body)), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def refusal(spoken: Spoken, kind: str) -> dict[str, Any]:
    """An error as each provider words it."""
    if spoken is anthropic:
        return {"type": "error", "error": {"type": kind, "message": "no"}, "request_id": "req_1"}
    return {"error": {"message": "no", "type": kind, "param": None, "code": kind}}


def anthropic(says: Says, number: int) -> bytes:
    """The turn as Anthropic answers it."""
    fresh, cached, stored, written = says.usage
    usage = {"input_tokens": fresh, "cache_read_input_tokens": cached, "cache_creation_input_tokens": stored, "output_tokens": written}
    content: list[dict[str, Any]] = [{"type": "thinking", "thinking": says.thought, "signature": "c2lnbmVk"}] if says.thought else []
    content += [{"type": "text", "text": says.text}] if says.text else []
    content += [{"type": "tool_use", "id": f"toolu_{number}_{i}", "name": n, "input": given} for i, (n, given) in enumerate(says.calls)]
    stop = {"stop_reason": says.stop or ("tool_use" if says.calls else "end_turn"), "stop_sequence": None, "usage": usage}
    return json.dumps({"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m", "content": content, **stop}).encode()


def openai(says: Says, number: int) -> bytes:
    """The turn as a server of chat completions answers it."""
    fresh, cached, stored, written = says.usage
    calls = [
        {
            "id": f"call_{number}_{i}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for i, (name, given) in enumerate(says.calls)
    ]
    message = {"role": "assistant", "content": says.text or None, "refusal": None, **({"tool_calls": calls} if calls else {})}
    sent, details = fresh + cached + stored, {"cached_tokens": cached, "cache_write_tokens": stored}
    usage = {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written, "prompt_tokens_details": details}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": says.stop or ("tool_calls" if calls else "stop")}
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1, "model": "m"}
    return json.dumps({**head, "choices": [choice], "usage": usage}).encode()
