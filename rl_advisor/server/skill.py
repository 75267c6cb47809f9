"""The skill, served by the server itself: listed with digests and readable page by page (extension ``io.modelcontextprotocol/skills``)."""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.extension import Extension, MethodBinding, ResourceBinding
from mcp.server.mcpserver.resources import TextResource
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams, RequestParams

from rl_advisor.output import Answer, shipped

DAY_MS = 86_400_000
_HEADING = re.compile(r"^# +(.*)", re.MULTILINE)
CACHING = {"ttlMs": DAY_MS, "cacheScope": "public"}


class GetSkill(RequestParams):
    """Which skill is wanted: the address of its SKILL.md."""

    uri: str


class Skills(Extension):
    """Offers the one skill of this project."""

    identifier = "io.modelcontextprotocol/skills"

    def resources(self) -> Sequence[ResourceBinding]:
        """Give every page of the skill as a resource."""
        return [ResourceBinding(_resource(path, text)) for path, text in shipped.skill_pages().items()]

    def methods(self) -> Sequence[MethodBinding]:
        """Answer ``skills/list`` and ``skills/get``."""
        return [MethodBinding("skills/list", PaginatedRequestParams, _listed), MethodBinding("skills/get", GetSkill, _got)]


def address(path: str) -> str:
    """The address of a page of the skill."""
    return f"skill://{shipped.SKILL}/{path}"


def _resource(path: str, text: str) -> TextResource:
    told = shipped.frontmatter(text) if path == "SKILL.md" else {"name": f"{shipped.SKILL}/{path}"}
    title = next(iter(_HEADING.findall(text)), shipped.SKILL)
    return TextResource(
        uri=address(path), name=told["name"], description=told.get("description"), title=title, text=text, mime_type="text/markdown"
    )


def entry() -> Answer:
    """The skill as the extension lists it: address, frontmatter, and every page with its digest and size."""
    pages = shipped.skill_pages()
    resources = [
        {"uri": address(path), "digest": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}", "size": len(text.encode())}
        for path, text in pages.items()
    ]
    return {"uri": address("SKILL.md"), "frontmatter": shipped.frontmatter(pages["SKILL.md"]), "resources": resources}


async def _listed(_: ServerRequestContext[Any, Any], __: PaginatedRequestParams) -> Answer:
    return {"skills": [entry()], **CACHING}


async def _got(_: ServerRequestContext[Any, Any], params: GetSkill) -> Answer:
    if params.uri != address("SKILL.md"):
        raise MCPError(INVALID_PARAMS, f"no such skill; there is {address('SKILL.md')}")
    return {"skill": entry(), **CACHING}
