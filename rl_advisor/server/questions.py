"""Asks the person back where the client can and the answer would differ: which run is meant, and what its files leave open."""

from collections.abc import Mapping
from typing import Any, Literal

from mcp.server.mcpserver.resolve import Elicit
from mcp_types.version import is_version_at_least
from pydantic import BaseModel, Field, create_model

from rl_advisor.output import Answer
from rl_advisor.server.confinement import Outside
from rl_advisor.server.dispatch import Client, Dispatcher, Work
from rl_advisor.tools.workers import isolated

Given = Mapping[str, Any]
_BACK = "2026-07-28"
"""From this revision on a question is an answer; before, it takes a way from the server to the client, which not every transport has."""


def can_ask(ctx: Client) -> bool:
    """Whether the client shows a form to a person, and can be reached."""
    capabilities = ctx.client_capabilities
    elicits = capabilities.elicitation if capabilities else None
    shows = elicits is not None and (elicits.form is not None or elicits.url is None)
    return shows and (is_version_at_least(ctx.protocol_version or "", _BACK) or ctx.session.can_send_request)


def which_run(desk: Dispatcher) -> Work:
    """What asks which run is meant where none goes by the name and some nearly do."""

    async def which(ctx: Client, run: str) -> Any:
        if not can_ask(ctx):
            return None
        try:
            await desk.run(run)
        except Outside as refused:
            if near := refused.near:
                return _form("No run goes by that name. Which is meant?", run=(Literal[near], ...))
        return None

    return which


def open_facts(desk: Dispatcher) -> Work:
    """What asks for the facts that would change a judgement."""

    async def facts(  # noqa: PLR0913 - what the protocol's library hands in by name
        ctx: Client, run: str, until: float | None, mapping: dict[str, str], planned: int | None, goal: float | None
    ) -> Any:
        if not can_ask(ctx):
            return None
        try:
            asked = {"verb": "assess_run", "run": run, "until": until, "mapping": mapping, "planned": planned, "goal": goal}
            told = (await desk.ask(isolated.answer, asked)).get("ask", ())
        except isolated.Refused:
            return None  # the tool says why
        kinds = {a["argument"]: (Literal[*a["choices"]] if "choices" in a else int, a["question"]) for a in told}
        fields: Answer = {name: (kind | None, Field(None, description=said)) for name, (kind, said) in kinds.items()}
        return _form(" ".join(f"{a['question']} {a['decides']}" for a in told), **fields) if told else None

    return facts


def _form(message: str, **fields: Any) -> Elicit[BaseModel]:
    return Elicit(message, create_model("Form", **fields))


def completed(arguments: Given, outcomes: Given) -> Answer:
    """The arguments with what the person said; a form that was left or refused changes nothing."""
    said: Answer = {}
    for outcome in outcomes.values():
        data = getattr(outcome, "data", None)
        said |= data.model_dump(exclude_none=True) if isinstance(data, BaseModel) else {}
    if "mapping" in said:
        said["mapping"] = {**arguments["mapping"], "reward/mean": said["mapping"]}
    return {**arguments, **said}
