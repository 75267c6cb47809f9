"""How an answer leaves the server: as text and as structure, and whatever leaves it labelled as what a run wrote."""

import base64
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import orjson
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import Annotations, CallToolResult, ImageContent, ResourceLink, TextContent

from rl_advisor.output.errors import no_such

LABEL = {"ifc": {"integrity": "untrusted", "confidentiality": "private"}}
"""Answers hold what a run wrote: not to be obeyed, not to be passed on."""
_ANSWERS = frozenset({"tools/call", "resources/read", "prompts/get", "completion/complete"})
"""Requests whose answers may hold words of a run, refusals and errors of tools too."""
_OURS = "skill://"
MARKDOWN = "text/markdown"


FOR_THE_MODEL, FOR_THE_PERSON = Annotations(audience=["assistant"], priority=1.0), Annotations(audience=["user"], priority=0.8)


def result_of(answer: dict[str, Any], run: str = "") -> CallToolResult:
    """The answer as text and as structure; for a client that shows things to a person, with the sentence and the report on ``run``."""
    text = orjson.dumps(answer).decode()
    if not run or "why" not in answer:
        return CallToolResult(content=[TextContent(text=text)], structured_content=answer)
    sentence = answer.get("words") or f"{answer['verdict'].replace('_', ' ')}, {answer['call']}: {answer['why']}."
    where = f"run://{quote(run, safe='/')}/report.md"
    link = ResourceLink(uri=where, name="report.md", title="The report on the run", mime_type=MARKDOWN, annotations=FOR_THE_PERSON)
    for_both = [TextContent(text=text, annotations=FOR_THE_MODEL), TextContent(text=sentence, annotations=FOR_THE_PERSON), link]
    return CallToolResult(content=for_both, structured_content=answer)


def picture_of(png: bytes) -> CallToolResult:
    """A picture alone: clients that show only the structured half would otherwise not show it."""
    return CallToolResult(content=[ImageContent(type="image", data=base64.b64encode(png).decode(), mime_type="image/png")])


async def labelled(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """The answer of any request, with the label where it may hold words of a run; pages of the skill are ours."""
    answer = await call_next(ctx)
    ours = str((ctx.params or {}).get("uri", "")).startswith(_OURS)
    if isinstance(answer, dict) and ctx.method in _ANSWERS and not ours:
        return {**answer, "_meta": {**(answer.get("_meta") or {}), **LABEL}}
    return answer


async def asked_of(names: Sequence[str], ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """The answer of any request; a tool that is none of ``names`` is refused with those that are near, as a run or a metric would be."""
    name = (ctx.params or {}).get("name")
    if ctx.method != "tools/call" or name in names:
        return await call_next(ctx)
    refused = CallToolResult(content=[TextContent(text=str(no_such("tool", name, names)))], is_error=True)
    return refused.model_dump(by_alias=True, mode="json", exclude_none=True)
