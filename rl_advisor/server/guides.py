"""Ready questions (prompts), runs and reports as resources, and completions of run and metric names."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import orjson
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.server.mcpserver.prompts.base import Prompt
from mcp_types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from rl_advisor.discovery import function_of, table
from rl_advisor.output import Answer, shipped
from rl_advisor.output.clean import is_name
from rl_advisor.server.confinement import called
from rl_advisor.server.dispatch import Dispatcher, Function
from rl_advisor.server.results import LABEL
from rl_advisor.tools.workers import isolated

MOST_COMPLETIONS, MOST_NAMED = 50, 16


def offer_prompts(server: MCPServer[Any]) -> None:
    """Offer the ready questions; their texts stand in ``prompts/``."""
    for name, row in table(__file__, "prompts.toml").items():
        server.add_prompt(Prompt(**row, name=name, fn=partial(_filled, name)))


def _filled(prompt: str, **given: str) -> str:
    """A prompt's text with names put in; one that reads like a sentence is not: nobody's folder speaks in a prompt."""
    ((field, value),) = given.items()
    names = [n.strip() for n in value.split(",") if n.strip()][:MOST_NAMED] if field == "runs" else [value]
    spoken = ", ".join(f"`{n}`" if is_name(n) else "`[the run that the user means]`" for n in names)
    return shipped.prompt(prompt).replace("{runs}", spoken)


def offer_resources(server: MCPServer[Any], desk: Dispatcher) -> None:
    """Offer what a run holds, and its report, as resources."""

    async def told(function: Function, asked: Answer, where: str) -> Any:
        try:
            found = await desk.ask(function, asked, (where,))
        except isolated.Refused:
            raise ResourceNotFoundError("no such run, or nothing of that name in it") from None
        return orjson.dumps(found).decode() if isinstance(found, dict) else found

    def offer(name: str, title: str, mime_type: str, function: str, question: Answer) -> None:
        @server.resource(f"run://{{+run}}/{name}{{?metric,until}}", name=name, title=title, mime_type=mime_type, meta=LABEL)
        async def page(run: str, metric: str = "", until: float | None = None) -> Any:
            shown = {"metrics": [metric]} if metric and "metrics" in question else {}
            return await told(function_of(function), {**question, **shown, "run": run, "until": until}, "run")

    for name, page in table(__file__, "pages.toml").items():
        offer(name, **page)

    @server.resource(
        "runs://{+runs}/page.html{?until}", name="runs page", title="The page on several runs", mime_type="text/html", meta=LABEL
    )
    async def several(runs: str, until: float | None = None) -> Any:
        return await told(isolated.several, {"runs": runs.split(","), "until": until}, "runs")


def offer_completions(server: MCPServer[Any], desk: Dispatcher) -> None:
    """Complete run names everywhere, and metric names where the run is known."""

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
    async def complete(
        ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, context: CompletionContext | None
    ) -> Completion | None:
        del ref
        if argument.name not in {"metric", "run", "runs"}:
            return None
        done, comma, typed = argument.value.rpartition(",") if argument.name == "runs" else ("", "", argument.value)
        known = (context.arguments if context else None) or {}
        try:
            if argument.name == "metric":
                names = await desk.ask(isolated.metrics, {"run": known.get("run", "")})
            else:
                names = [called(desk.roots, p) for p in await desk.found()]
        except isolated.Refused:  # a run that may not or cannot be read has no names
            names = ()
        told = [f"{done}{comma}{n}" for n in _fitting(names, typed.strip())]
        return Completion(values=told[:MOST_COMPLETIONS], total=len(told), has_more=len(told) > MOST_COMPLETIONS)


def _fitting(names: Sequence[str], typed: str) -> Sequence[str]:
    """Names that begin with, or else contain, what was typed; only such as read like names."""
    fitting = [n for n in names if typed.lower() in n.lower() and is_name(n) and len(n) <= 100]
    return sorted(fitting, key=lambda n: (not n.lower().startswith(typed.lower()), n))
