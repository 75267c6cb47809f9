"""How an answer leaves the server: as text and as structure, labelled as what a run wrote."""

import base64
from typing import Any

import orjson
from mcp_types import CallToolResult, ImageContent, TextContent
from pydantic import BaseModel, ConfigDict

LABEL = {"ifc": {"integrity": "untrusted", "confidentiality": "private"}}
"""Answers hold what a run wrote: not to be obeyed, not to be passed on."""


class Answer(BaseModel):
    """Facts about runs; text in objects with the key ``untrusted`` was written by the run."""

    model_config = ConfigDict(extra="allow")


def result_of(answer: dict[str, Any]) -> CallToolResult:
    """The answer as text and as structure."""
    return CallToolResult(content=[TextContent(type="text", text=orjson.dumps(answer).decode())], structured_content=answer, _meta=LABEL)


def picture_of(png: bytes) -> CallToolResult:
    """A picture alone: clients that show only the structured half would otherwise not show it."""
    return CallToolResult(content=[ImageContent(type="image", data=base64.b64encode(png).decode(), mime_type="image/png")], _meta=LABEL)
