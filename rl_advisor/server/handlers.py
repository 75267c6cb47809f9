"""Each verb of the table as a tool: bounded arguments, a short answer with the same facts in both halves, errors that give nothing away."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from mcp.server.apps import client_supports_apps
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Resolve, build_resolver_plans
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp_types import CallToolResult, ToolAnnotations

from rl_advisor.answers.verbs import Verb, model_of, schema_of, verbs
from rl_advisor.output import Answer
from rl_advisor.output.budget import fit
from rl_advisor.output.errors import UsageError
from rl_advisor.server.dispatch import Client, Dispatcher, Work
from rl_advisor.server.picture import SHOWN_BY
from rl_advisor.server.questions import can_ask, completed, open_facts, which_run
from rl_advisor.server.results import picture_of, result_of
from rl_advisor.server.triaging import Triage
from rl_advisor.tools.workers import isolated

READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
PICTURES = ("plot_curves",)
"""Tools whose answer has no structured half."""


def tools_of(desk: Dispatcher, cases: Path | None = None) -> list[Tool]:
    """The tools, each a verb behind the folders' fence; those that write only where a folder for ``cases`` was given."""
    said: set[str] = set()
    triage = Triage(desk)

    async def listed(_: Client, limit: int) -> Answer:
        return fit(await desk.listed(limit), isolated.LONGEST_ANSWER)

    own: dict[str, Work] = {
        "list_runs": listed,
        "triage_runs": triage.page,
        **(case_tools(desk, cases) if cases else {}),
    }
    shown = [verb for verb in verbs().values() if not verb.bench and (verb.about != "case" or verb.name in own)]
    return [_tool(verb, own.get(verb.name) or _asked(desk, verb), desk, said) for verb in shown]


def _asked(desk: Dispatcher, verb: Verb) -> Work:
    """What asks a worker."""

    async def ask(ctx: Client, **arguments: Any) -> Any:
        return await desk.ask(isolated.answer, {"verb": verb.name, **arguments}, verb.paths, ctx)

    return ask


def _tool(verb: Verb, work: Work, desk: Dispatcher, said: set[str]) -> Tool:
    """The tool, whose schema leaves out what an earlier one ``said``."""
    back = {"which": which_run(desk)} if verb.about == "run" else {}
    back |= {"facts": open_facts(desk)} if verb.name == "assess_run" else {}
    resolved = {name: (Resolve(ask), True) for name, ask in back.items()}

    async def answered(ctx: Client, **given: Any) -> CallToolResult:
        told = completed(given, {name: given.pop(name) for name in back})
        try:
            answer = await work(ctx, **told)
        except (isolated.Refused, UsageError, OSError) as mistake:
            raise ToolError(desk.said(mistake)) from None
        return (
            picture_of(answer)
            if isinstance(answer, bytes)
            else result_of(answer, told.get("run", "") if can_ask(ctx) or client_supports_apps(ctx) else "")
        )

    arguments = {name: argument for name, argument in verb.arguments.items() if not argument.get("terminal")}
    return Tool(
        fn=answered,
        name=verb.name,
        title=verb.title,
        description=f"{verb.says} {verb.reach}",
        parameters=schema_of(arguments, said),
        fn_metadata=FuncMetadata(
            arg_model=model_of(verb.name, arguments, ArgModelBase),
            output_schema=None if verb.name in PICTURES else {"type": "object"},
        ),
        is_async=True,
        context_kwarg="ctx",
        resolved_params=resolved,
        resolver_plans=build_resolver_plans(resolved, set(arguments)),
        annotations=WRITES if verb.about == "case" else READ_ONLY,
        meta=SHOWN_BY.get(verb.name),
    )


def case_tools(desk: Dispatcher, folder: Path) -> Mapping[str, Callable[..., Awaitable[Answer]]]:
    """What answers each of the two tools that write."""
    from rl_advisor.tools.cases import shelf

    async def kept(case: Mapping[str, Any]) -> Answer:
        return dict(await desk.quick(lambda: shelf.keep(folder, shelf.CaseFile.model_validate(case))))

    async def opened(ctx: Client, run: str, question: str | None) -> Answer:
        """A new case on a run."""
        answer = await desk.ask(isolated.case, {"run": run, "question": question or ""}, ["run"], ctx)
        return await kept(answer | {"run": run, "opened": shelf.now()})  # another worker's answer may be remembered

    async def noted(ctx: Client, name: str, run: str | None, changed: str | None, text: str | None) -> Answer:
        """The case with a note, and with what a later run says of it."""
        case = await desk.quick(lambda: shelf.load(folder, name))
        told = (case.noted(text) if text else case).model_dump(by_alias=True)
        if run is None:
            return await kept(told)
        asked = {"run": run, "first": case.run, "case": told, "changed": changed or ""}
        answer = await desk.ask(isolated.case, asked, ["run", "first"], ctx)
        answer["settled"][-1]["run"] = run
        return await kept(answer)

    return {"open_case": opened, "note_case": noted}
