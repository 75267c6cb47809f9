"""Ready questions (prompts), runs and reports as resources, and completions of run and metric names."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import orjson
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.server.mcpserver.prompts.base import Prompt
from mcp_types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from rl_advisor.discovery import table
from rl_advisor.output import shipped
from rl_advisor.output.clean import is_name
from rl_advisor.server.confinement import called
from rl_advisor.server.dispatch import Dispatcher
from rl_advisor.server.results import LABEL, MARKDOWN
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

    async def told(function: Callable[..., Any], **asked: Any) -> Any:
        try:
            return await desk.ask(function, asked, ("runs" if "runs" in asked else "run",))
        except isolated.Refused:
            raise ResourceNotFoundError("no such run, or nothing of that name in it") from None

    @server.resource("run://{+run}/inventory", name="run inventory", title="What a run holds", mime_type="application/json", meta=LABEL)
    async def inventory(run: str) -> str:
        return orjson.dumps(await told(isolated.answer, verb="load_run", run=run, detail="all")).decode()

    @server.resource(
        "run://{+run}/curve{?metric}", name="curve", title="One curve of a run, measured", mime_type="application/json", meta=LABEL
    )
    async def curve(run: str, metric: str = "reward/mean") -> str:
        return orjson.dumps(await told(isolated.answer, verb="summarize_curves", run=run, metrics=[metric], detail="all")).decode()

    @server.resource("run://{+run}/page.html{?until}", name="run page", title="The page on a run", mime_type="text/html", meta=LABEL)
    async def page(run: str, until: float | None = None) -> str:
        return str(await told(isolated.page, run=run, until=until))

    @server.resource(
        "runs://{+runs}/page.html{?until}", name="runs page", title="The page on several runs", mime_type="text/html", meta=LABEL
    )
    async def several(runs: str, until: float | None = None) -> str:
        return str(await told(isolated.several, runs=runs.split(","), until=until))

    @server.resource("run://{+run}/report.md", name="run report", title="The report on a run", mime_type=MARKDOWN, meta=LABEL)
    async def report(run: str) -> str:
        return str(await told(isolated.report, run=run))

    @server.resource("run://{+run}/curves.png{?metric}", name="curves", title="Curves of a run", mime_type="image/png", meta=LABEL)
    async def curves(run: str, metric: str = "") -> bytes:
        return bytes(await told(isolated.answer, verb="plot_curves", run=run, metrics=[metric] if metric else []))


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
