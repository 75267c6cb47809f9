"""The case file over the protocol: a worker reads the runs and judges; this process writes, only into the folder it was given for it."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context

from rl_advisor.server.dispatch import Dispatcher
from rl_advisor.workers import isolated


def case_tools(desk: Dispatcher, folder: Path) -> Mapping[str, Callable[..., Awaitable[dict[str, Any]]]]:
    """What answers each of the two tools that write."""
    from rl_advisor.tools.cases import shelf

    async def kept(case: Mapping[str, Any]) -> dict[str, Any]:
        return dict(await desk.quick(lambda: shelf.keep(folder, shelf.CaseFile.model_validate(case))))

    async def opened(ctx: Context[Any, Any], run: str, question: str | None) -> dict[str, Any]:
        """A new case on a run."""
        answer = await desk.ask(isolated.case, {"run": run, "question": question or ""}, ["run"], ctx)
        return await kept(answer | {"run": run, "opened": shelf.now()})  # another worker's answer may be remembered

    async def noted(ctx: Context[Any, Any], name: str, run: str | None, changed: str | None, text: str | None) -> dict[str, Any]:
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
