"""Ready questions (prompts), runs and reports as resources, and completions of run and metric names."""

from collections.abc import Sequence
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp_types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference
from pydantic import Field

from rl_advisor import tools
from rl_advisor.doors import shipped
from rl_advisor.doors.mistakes import NoSuchChoice
from rl_advisor.doors.output import is_name, readable
from rl_advisor.server.answers import Desk
from rl_advisor.server.confinement import Outside, called

LONGEST_REPORT = 200_000
MOST_COMPLETIONS = 50
RunName = Annotated[str, Field(description="Run as list_runs names it.")]


def _filled(name: str, field: str, value: str) -> str:
    """A prompt's text with names put in."""
    return shipped.prompt(name).replace("{" + field + "}", value)


def _spoken(name: str) -> str:
    """The name, unless it reads like a sentence: nobody's folder speaks in a prompt."""
    return name if is_name(name) else "[the run that the user means]"


def offer_prompts(server: MCPServer[Any]) -> None:
    """Offer the four ready questions; their texts stand in ``prompts/``."""

    @server.prompt(title="Diagnose a run", description="Find out whether a run is healthy and what broke first.")
    def diagnose_run(run: RunName) -> str:
        return _filled("diagnose_run", "run", _spoken(run))

    @server.prompt(title="Stop or continue", description="Decide whether training on is worth it, and which checkpoint to keep.")
    def stop_or_continue(run: RunName) -> str:
        return _filled("stop_or_continue", "run", _spoken(run))

    @server.prompt(title="Report on a finished run", description="Write up a finished run for people who were not there.")
    def post_run_report(run: RunName) -> str:
        return _filled("post_run_report", "run", _spoken(run))

    @server.prompt(title="Compare seeds", description="Tell luck from effect among several runs.")
    def compare_seeds(runs: Annotated[str, Field(description="Run names, separated by commas.")]) -> str:
        names = [r.strip() for r in runs.split(",") if r.strip()]
        return _filled("compare_seeds", "runs", ", ".join(f"`{_spoken(n)}`" for n in names[:16]))


def offer_resources(server: MCPServer[Any], desk: Desk) -> None:
    """Offer what a run holds, and its report, as resources."""

    @server.resource("run://{+run}/inventory", name="run inventory", title="What a run holds", mime_type="application/json")
    async def inventory(run: str) -> str:
        return await _read(desk, run, lambda path: _json(tools.load_run(path)))

    @server.resource("run://{+run}/curve{?metric}", name="curve", title="One curve of a run, measured", mime_type="application/json")
    async def curve(run: str, metric: str = "reward/mean") -> str:
        return await _read(desk, run, lambda path: _json(tools.summarize_curves(path, [metric])))

    @server.resource("run://{+run}/report.md", name="run report", title="The report on a run", mime_type="text/markdown")
    async def report(run: str) -> str:
        return await _read(desk, run, _report)


async def _read(desk: Desk, run: str, make: Any) -> str:
    """What ``make`` gives for a run that may be read."""
    from rl_advisor.reading import UnreadableRun

    try:
        path = desk.run(run)
        return str(await desk.work(lambda: make(path)))
    except (Outside, UnreadableRun, NoSuchChoice):
        raise ResourceNotFoundError("no such run, or nothing of that name in it") from None


def _json(answer: dict[str, Any]) -> str:
    import orjson

    return orjson.dumps(answer).decode()


def _report(path: Any) -> str:
    from rl_advisor import writing

    whole = tools.read(path)
    return readable(writing.renderer("report.md")(whole, tools.advisor_named("builtin").assess(whole)), LONGEST_REPORT)


def offer_completions(server: MCPServer[Any], desk: Desk) -> None:
    """Complete run names everywhere, and metric names where the run is known."""

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
    async def complete(
        ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, context: CompletionContext | None
    ) -> Completion | None:
        del ref
        if argument.name == "metric":
            run = (context.arguments if context else None) or {}
            return _some(await desk.work(lambda: _metrics(desk, run.get("run", ""), argument.value)))
        if argument.name not in {"run", "runs"}:
            return None
        done, _, typed = argument.value.rpartition(",") if argument.name == "runs" else ("", "", argument.value)
        names = await desk.work(lambda: _names(desk, typed.strip()))
        return _some([f"{done},{n}" if done else n for n in names])


def _some(names: Sequence[str]) -> Completion:
    """The first names, and how many there are."""
    return Completion(values=list(names[:MOST_COMPLETIONS]), total=len(names), has_more=len(names) > MOST_COMPLETIONS)


def _metrics(desk: Desk, run: str, typed: str) -> Sequence[str]:
    """Metric names of a run that contain what was typed; none when the run may not or cannot be read."""
    from rl_advisor.reading import UnreadableRun

    try:
        names = tools.read(desk.run(run)).curves
    except (Outside, UnreadableRun, NoSuchChoice, OSError):
        return ()
    fitting = [n for n in names if typed.lower() in n.lower() and is_name(n) and len(n) <= 100]
    return sorted(fitting, key=lambda n: (not n.lower().startswith(typed.lower()), n))


def _names(desk: Desk, typed: str) -> Sequence[str]:
    """Names of runs that begin with, or else contain, what was typed; only such as read like names."""
    from rl_advisor.doors import folders

    names = [called(desk.roots, p) for root in desk.roots for p in folders.runs_below(root)]
    fitting = [n for n in names if typed.lower() in n.lower() and is_name(n) and len(n) <= 100]
    return sorted(fitting, key=lambda n: (not n.lower().startswith(typed.lower()), n))
