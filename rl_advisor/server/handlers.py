"""Each verb as a tool: bounded arguments, a short answer with the same facts in both halves, and errors that give nothing away."""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from rl_advisor import tools
from rl_advisor.output.budget import fit
from rl_advisor.server.confinement import Outside
from rl_advisor.server.dispatch import Dispatcher
from rl_advisor.server.picture import SHOWN_BY
from rl_advisor.server.results import Answer, picture_of, result_of
from rl_advisor.server.triaging import triage_tool
from rl_advisor.tools.runs import MOST_SOUND
from rl_advisor.workers import isolated

READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)

Run = Annotated[str, Field(description="A name from list_runs, or a path.", min_length=1, max_length=1024)]
Until = Annotated[float | None, Field(description="The run as it stood at this step.", ge=0, allow_inf_nan=False)]
Against = Annotated[list[Run], Field(description="Sound runs of the same set-up: what leaves their band is told.", max_length=MOST_SOUND)]
Metrics = Annotated[list[Annotated[str, Field(max_length=200)]], Field(description="Metric names, ours or the run's.", max_length=20)]
Panels = Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=6)]
Columns = Annotated[dict[str, str], Field(description="{'response': its column}; also prompt, reward, step, group.", max_length=8)]
Mapping = Annotated[dict[str, str], Field(description="{'reward/mean': its name in the run}", max_length=12)]
Step = Annotated[int | None, Field(description="The latest when left out.", ge=0)]
Name = Annotated[str, Field(description="As assess_run names it.", min_length=1, max_length=80)]
Detail = Literal["brief", "all"]
Pasted = Annotated[str, Field(max_length=10_000_000)]
Question = Annotated[str, Field(max_length=2_000)]
Framework = Annotated[str | None, Field(description="trl, verl, sb3, ...", max_length=40)]
File = Annotated[str | None, Field(max_length=1024)]
Plan = Annotated[str | None, Field(description="Folder or file of settings.", max_length=1024)]
Model = Annotated[str | None, Field(description="Its config.json.", max_length=1024)]
Audit = Annotated[int | None, Field(description="So many suspicious samples with reasons.", ge=1, le=50)]
Count = Annotated[int, Field(description="Samples of each kind.", ge=1, le=10)]


Verb = Callable[..., Any]
Result = Annotated[CallToolResult, Answer]


async def answered(desk: Dispatcher, ctx: Context[Any, Any], verb: str, runs: Sequence[str], **arguments: Any) -> CallToolResult:
    """The verb's answer about these runs, or the refusal as an error of the tool."""
    try:
        answer = await desk.ask(isolated.answer, runs, verb, arguments, ctx=ctx)
    except (Outside, isolated.Refused) as mistake:
        raise ToolError(desk.said(mistake)) from None
    return picture_of(answer) if isinstance(answer, bytes) else result_of(answer)


def pasted_tools(desk: Dispatcher) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The tools that take text from the conversation; what was pasted is not remembered."""

    async def explain_log(ctx: Context[Any, Any], text: Pasted, question: Question = "", framework: Framework = None) -> Result:
        return await of_text(desk, ctx, "explain_log", text=text, question=question, framework=framework)

    async def check_settings(ctx: Context[Any, Any], run: Run | None = None, text: Pasted = "", until: Until = None) -> Result:
        if run:
            return await answered(desk, ctx, "check_settings", [run], text=text, until=until)
        return await of_text(desk, ctx, "check_settings", run=None, text=text)

    return explain_log, check_settings


async def of_text(desk: Dispatcher, ctx: Context[Any, Any], verb: str, **arguments: Any) -> CallToolResult:
    """The verb's answer about nothing but its arguments, or the refusal as an error of the tool."""
    try:
        return result_of(await desk.once(isolated.answer, verb, (), arguments, ctx=ctx))
    except isolated.Refused as mistake:
        raise ToolError(desk.said(mistake)) from None


TITLES = {
    "assess_run": "Judge a run",
    "check_critic": "Test a critic",
    "preflight": "Before training",
    "compare_engines": "Compare engines",
    "estimate_memory": "Estimate memory",
    "explain_finding": "Explain a finding",
    "check_settings": "Check settings",
    "compare_runs": "Compare runs",
    "explain_log": "Explain pasted lines",
    "gpu_phase_profile": "Profile GPU phases",
    "list_runs": "Find runs",
    "plot_curves": "Plot curves",
    "load_run": "See what a run holds",
    "spot_check_samples": "Read samples",
    "summarize_curves": "Measure curves",
    "triage_runs": "Judge all runs",
}


def tools_of(desk: Dispatcher) -> list[Tool]:
    """The tools, each a verb of :mod:`rl_advisor.tools` behind the folders' fence."""
    said: set[str] = set()
    return [
        _tool(verb, said)
        for verb in (*_about_a_run(desk), *_looks(desk), *_beside(desk), *_before(desk), triage_tool(desk), *pasted_tools(desk))
    ]


def _about_a_run(desk: Dispatcher) -> Iterable[Verb]:
    """The verbs that read, judge and explain one run."""

    async def assess_run(  # noqa: PLR0913
        ctx: Context[Any, Any],
        run: Run,
        until: Until = None,
        mapping: Mapping = {},  # noqa: B006
        detail: Detail = "brief",
        against: Against = [],  # noqa: B006
    ) -> Result:
        return await answered(desk, ctx, "assess_run", [run, *against], until=until, mapping=mapping, detail=detail)

    async def explain_finding(
        ctx: Context[Any, Any],
        run: Run,
        pattern: Name,
        until: Until = None,
        against: Against = [],  # noqa: B006
    ) -> Result:
        return await answered(desk, ctx, "explain_finding", [run, *against], pattern=pattern, until=until)

    async def load_run(
        ctx: Context[Any, Any],
        run: Run,
        until: Until = None,
        mapping: Mapping = {},  # noqa: B006
        detail: Detail = "brief",
    ) -> Result:
        return await answered(desk, ctx, "load_run", [run], until=until, mapping=mapping, detail=detail)

    async def spot_check_samples(  # noqa: PLR0913
        ctx: Context[Any, Any],
        run: Run,
        step: Step = None,
        count: Count = 2,
        until: Until = None,
        columns: Columns = {},  # noqa: B006
        audit: Audit = None,
        detail: Detail = "brief",
    ) -> Result:
        asked = {"step": step, "count": count, "until": until, "columns": columns, "audit": audit, "detail": detail}
        return await answered(desk, ctx, "spot_check_samples", [run], **asked)

    return assess_run, explain_finding, load_run, spot_check_samples


def _looks(desk: Dispatcher) -> Iterable[Verb]:
    """The verbs that measure and draw one run's curves and its GPUs."""

    async def summarize_curves(
        ctx: Context[Any, Any],
        run: Run,
        metrics: Metrics = [],  # noqa: B006
        until: Until = None,
        mapping: Mapping = {},  # noqa: B006
    ) -> Result:
        return await answered(desk, ctx, "summarize_curves", [run], metrics=metrics, until=until, mapping=mapping)

    async def plot_curves(ctx: Context[Any, Any], run: Run, metrics: Panels = [], until: Until = None) -> CallToolResult:  # noqa: B006
        return await answered(desk, ctx, "plot_curves", [run], metrics=metrics, until=until)

    async def gpu_phase_profile(ctx: Context[Any, Any], run: Run, until: Until = None) -> Result:
        return await answered(desk, ctx, "gpu_phase_profile", [run], until=until)

    return summarize_curves, plot_curves, gpu_phase_profile


def _beside(desk: Dispatcher) -> Iterable[Verb]:
    """The verbs about several runs, or about none yet."""

    async def list_runs(limit: Annotated[int, Field(ge=1, le=200)] = 50) -> Result:
        try:
            return result_of(fit(await desk.listed(limit), isolated.LONGEST_ANSWER))
        except isolated.Refused as mistake:
            raise ToolError(desk.said(mistake)) from None

    async def compare_runs(
        ctx: Context[Any, Any], runs: Annotated[list[Run], Field(min_length=2, max_length=16)], until: Until = None, probe: bool = False
    ) -> Result:
        return await answered(desk, ctx, "compare_runs", runs, until=until, probe=probe)

    async def compare_engines(ctx: Context[Any, Any], trainer: Run, engine: Run, until: Until = None) -> Result:
        return await answered(desk, ctx, "compare_engines", [trainer, engine], until=until)

    async def estimate_memory(  # noqa: PLR0913
        ctx: Context[Any, Any],
        config: Run,
        gpus: Annotated[int, Field(ge=1, le=100_000)] = 1,
        stage: Annotated[int, Field(description="ZeRO stage, 3 for FSDP.", ge=0, le=3)] = 0,
        lora_rank: Annotated[int, Field(ge=0, le=65_536)] = 0,
        micro_batch: Annotated[int, Field(ge=1, le=1_000_000)] = 1,
        tokens: Annotated[int, Field(description="Prompt and response.", ge=1, le=10_000_000)] = 2048,
    ) -> Result:
        setup = {"gpus": gpus, "stage": stage, "lora_rank": lora_rank, "micro_batch": micro_batch, "tokens": tokens}
        return await answered(desk, ctx, "estimate_memory", [config], **setup)

    return list_runs, compare_runs, compare_engines, estimate_memory


def _before(desk: Dispatcher) -> Iterable[Verb]:
    """The verbs about a plan and about one saved batch."""

    async def preflight(  # noqa: PLR0913
        ctx: Context[Any, Any],
        plan: Plan = None,
        random: File = None,
        scripted: File = None,
        rewards: File = None,
        train: File = None,
        test: File = None,
        model: Model = None,
        gpus: Annotated[int, Field(ge=1, le=100_000)] = 1,
        gib: Annotated[float | None, Field(description="Of one GPU.", gt=0, allow_inf_nan=False)] = None,
    ) -> Result:
        named = {"plan": plan, "random": random, "scripted": scripted, "rewards": rewards, "train": train, "test": test, "model": model}
        given = {name: file for name, file in named.items() if file}
        if not given:
            raise ToolError("Give a plan, episodes of a random and a scripted policy, rewards, prompts to train and test on, or a model.")
        return await answered(desk, ctx, "preflight", [*given.values()], given=[*given], gpus=gpus, gib=gib)

    async def check_critic(ctx: Context[Any, Any], batch: Run) -> Result:
        return await answered(desk, ctx, "check_critic", [batch])

    return preflight, check_critic


def _tool(function: Callable[..., Any], said: set[str]) -> Tool:
    """The tool with its own docstring or else the verb's, and a schema without what names say or an earlier tool ``said``."""
    description = " ".join((function.__doc__ or getattr(tools, function.__name__).__doc__ or "").split())
    structured = function.__name__ != "plot_curves"
    tool = Tool.from_function(
        function,
        title=TITLES[function.__name__],
        description=description,
        annotations=READ_ONLY,
        structured_output=structured,
        meta=SHOWN_BY.get(function.__name__),
    )
    _bare(tool.parameters, said)
    if tool.output_schema:
        tool.output_schema.pop("description", None)
        _bare(tool.output_schema, said)
    return tool


BOUNDS = (
    "maxLength",
    "minLength",
    "maxItems",
    "minItems",
    "maxProperties",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "additionalProperties",
)
"""What the arguments are held to anyway, with an error that says so."""


def _bare(schema: Any, said: set[str]) -> None:
    """Take out of a schema what names, defaults, errors and earlier tools say: it costs every client tokens."""
    if isinstance(schema, list):
        for part in schema:
            _bare(part, said)
    if isinstance(schema, dict):
        if isinstance(schema.get("title"), str):
            del schema["title"]
        if (words := schema.get("description")) in said:
            del schema["description"]
        elif isinstance(words, str):
            said.add(words)
        if "default" in schema and schema["default"] in (None, "", 0.0, [], {}):
            del schema["default"]
        if schema.get("properties") == {}:
            del schema["properties"]
        if {"type": "null"} in (choices := schema.get("anyOf", [])) and len(choices) == 2:
            # What may be left out need not be null as well.
            schema |= {k: v for k, v in choices[choices[0] == {"type": "null"}].items() if k not in schema}
            del schema["anyOf"]
        for name in BOUNDS:
            schema.pop(name, None)
        for name, part in schema.items():
            for inner in part.values() if name == "properties" else (part,):
                _bare(inner, said)
