"""The case file over the protocol: a worker reads the runs and judges; this process writes, only into the folder it was given for it."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context

from rl_advisor.server.dispatch import Dispatcher
from rl_advisor.workers import isolated


class Cases:
    """The two tools that write."""

    def __init__(self, desk: Dispatcher, folder: Path) -> None:
        """Keep cases about the runs of ``desk`` in ``folder``."""
        self._desk, self._folder = desk, folder

    def tools(self) -> Mapping[str, Callable[..., Awaitable[dict[str, Any]]]]:
        """What answers each of them."""
        return {"open_case": self.opened, "note_case": self.noted}

    async def opened(self, ctx: Context[Any, Any], run: str, question: str | None) -> dict[str, Any]:
        """A new case on a run."""
        from rl_advisor.tools.cases import shelf

        return await self._kept(
            await self._desk.ask(isolated.case, {"run": run, "question": question or ""}, ["run"], ctx)
            | {"run": run, "opened": shelf.now()}
        )

    async def noted(self, ctx: Context[Any, Any], name: str, run: str | None, changed: str | None, text: str | None) -> dict[str, Any]:
        """The case with a note, and with what a later run says of it."""
        from rl_advisor.tools.cases import advice, shelf

        case = await self._desk.quick(lambda: shelf.load(self._folder, name))
        told = advice.noted(case, text) if text else case
        if run is None:
            return await self._kept(told.model_dump(by_alias=True))
        asked = {"run": run, "first": case.run, "case": told.model_dump(by_alias=True), "changed": changed or ""}
        answer = await self._desk.ask(isolated.case, asked, ["run", "first"], ctx)
        answer["settled"][-1]["run"] = run
        return await self._kept(answer)

    async def _kept(self, case: Mapping[str, Any]) -> dict[str, Any]:
        from rl_advisor.tools.cases import shelf

        kept: dict[str, Any] = await self._desk.quick(lambda: shelf.keep(self._folder, shelf.CaseFile.model_validate(case)))
        return kept
