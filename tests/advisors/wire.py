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
ENDS = "ends"
"""A whole answer of HTTP that holds half a turn."""
BREAKS = "breaks"
"""The provider reports an error in the middle of its answer, as it does when it is overloaded."""
GARBAGE = "garbage"
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
    elif line == BREAKS:
        _send(handler, 200, kind, broken_off(spoken, number), {})
    elif line == GARBAGE:
        _send(handler, 200, kind, b"data: {this is no json\n\n", {})
    elif line == ENDS:
        begin = spoken(Says(text="I was about to say", calls=(("load_run", {}),)), number).split(b"\n\n")
        _send(handler, 200, kind, b"\n\n".join(begin[:-4]) + b"\n\n", {})
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


def broken_off(spoken: Spoken, number: int) -> bytes:
    """The begin of an answer, then an error instead of the rest."""
    begin = b"\n\n".join(spoken(Says(text="I was about to say"), number).split(b"\n\n")[:2]) + b"\n\n"
    error = json.dumps(refusal(spoken, "overloaded_error")).encode()
    return begin + (b"event: error\n" if spoken is anthropic else b"") + b"data: " + error + b"\n\n"


def halves(text: str) -> tuple[str, str]:
    """A text in two pieces, as streams bring it."""
    return text[: len(text) // 2], text[len(text) // 2 :]


def anthropic(says: Says, number: int) -> bytes:
    """The turn as Anthropic streams it."""
    fresh, cached, stored, written = says.usage
    usage = {"input_tokens": fresh, "cache_read_input_tokens": cached, "cache_creation_input_tokens": stored, "output_tokens": 1}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, "stop_sequence": None, "usage": usage}}]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if says.thought:
        deltas = [{"type": "thinking_delta", "thinking": says.thought}, {"type": "signature_delta", "signature": "c2lnbmVk"}]
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if says.text:
        blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": part} for part in halves(says.text)]))
    for i, (name, arguments) in enumerate(says.calls):
        written_as = arguments if isinstance(arguments, str) else json.dumps(arguments)
        block = {"type": "tool_use", "id": f"toolu_{number}_{i}", "name": name, "input": {}}
        blocks.append((block, [{"type": "input_json_delta", "partial_json": part} for part in ("", *halves(written_as))]))
    for i, (block, deltas) in enumerate(blocks):
        events += [{"type": "content_block_start", "index": i, "content_block": block}, {"type": "ping"}]
        events += [{"type": "content_block_delta", "index": i, "delta": delta} for delta in deltas]
        events += [{"type": "content_block_stop", "index": i}]
    stop = says.stop or ("tool_use" if says.calls else "end_turn")
    events.append({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": written}})
    events.append({"type": "message_stop"})
    return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)


def openai(says: Says, number: int) -> bytes:
    """The turn as a server of chat completions streams it."""
    fresh, cached, stored, written = says.usage
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    chunks = [chunk({"role": "assistant", "content": says.text or None})]
    for i, (name, arguments) in enumerate(says.calls):
        written_as = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call = {"index": i, "id": f"call_{number}_{i}", "type": "function", "function": {"name": name, "arguments": ""}}
        chunks.append(chunk({"tool_calls": [call]}))
        chunks += [chunk({"tool_calls": [{"index": i, "function": {"arguments": part}}]}) for part in halves(written_as)]
    chunks.append(chunk({}, says.stop or ("tool_calls" if says.calls else "stop")))
    sent = fresh + cached + stored
    usage = {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}
    chunks.append(
        {**head, "choices": [], "usage": {**usage, "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": stored}}}
    )
    return b"".join(f"data: {json.dumps(c)}\n\n".encode() for c in chunks) + b"data: [DONE]\n\n"
