"""Each verb as a tool: bounded arguments, a short answer with the same facts in both halves, and errors that give nothing away."""

import base64
import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import anyio
import orjson
from anyio import from_thread
from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ImageContent, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field

from rl_advisor import progress, tools
from rl_advisor.doors import folders
from rl_advisor.doors.budget import fit
from rl_advisor.doors.mistakes import NoSuchChoice
from rl_advisor.doors.output import readable
from rl_advisor.doors.remember import Memory
from rl_advisor.server.confinement import Outside, below, called, inside

LONGEST_ANSWER = 3800
"""Tokens of an answer, estimated from above; what is longer is cut, and says so."""
AT_ONCE = 4
TELL_EVERY = 0.2
"""Seconds between two notes of progress."""
READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)
LABEL = {"ifc": {"integrity": "untrusted", "confidentiality": "private"}}
"""Answers hold what a run wrote: not to be obeyed, not to be passed on."""
log = logging.getLogger("rl_advisor.server")
T = TypeVar("T")

Run = Annotated[str, Field(description="Run as list_runs names it, or a path below the allowed folders.", min_length=1, max_length=1024)]
Until = Annotated[float | None, Field(description="See the run as it was at this step.", ge=0)]
Metrics = Annotated[list[Annotated[str, Field(max_length=200)]], Field(description="Metric names, ours or the run's.", max_length=20)]
Panels = Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=6)]
Columns = Annotated[dict[str, str], Field(description="prompt, response, reward, step or group: the file's column.", max_length=8)]
Step = Annotated[int | None, Field(description="The latest when left out.", ge=0)]
Count = Annotated[int, Field(description="Samples of each kind.", ge=1, le=10)]


class Answer(BaseModel):
    """Facts about runs; text in objects with the key ``untrusted`` was written by the run."""

    model_config = ConfigDict(extra="allow")


class Judgement(Answer):
    """An assessment; see the skill for how to read it."""

    verdict: str
    call: str
    p_continue_pays: float
    confidence: str
    first_broken_link: str
    summary: str


Result = Annotated[CallToolResult, Answer]


def result_of(answer: dict[str, Any]) -> CallToolResult:
    """The answer, cut to size, as text and as structure."""
    short = fit(answer, LONGEST_ANSWER)
    return CallToolResult(content=[TextContent(type="text", text=orjson.dumps(short).decode())], structured_content=short, _meta=LABEL)


def picture_of(png: bytes) -> CallToolResult:
    """A picture alone: clients that show only the structured half would otherwise not show it."""
    return CallToolResult(content=[ImageContent(type="image", data=base64.b64encode(png).decode(), mime_type="image/png")], _meta=LABEL)


class Ear:
    """Hears how far the work has come, tells the client now and then, and calls the work off when the client has given up."""

    def __init__(self, ctx: Context[Any, Any]) -> None:
        """Tell the client of ``ctx``."""
        self.parts = 0
        self._ctx, self._told = ctx, 0.0

    def __call__(self, what: str, number: int, total: int) -> None:
        """One more part begins; a client that gave up is noticed here."""
        from_thread.check_cancelled()
        self.parts += 1
        if time.monotonic() - self._told > TELL_EVERY:
            self._told = time.monotonic()
            from_thread.run(self._ctx.report_progress, self.parts, None, f"{what} {number} of {total}")


def _only_while_wanted(*_: object) -> None:
    from_thread.check_cancelled()


class Desk:
    """Answers questions about the runs below some folders, a few at a time."""

    def __init__(self, roots: Sequence[Path], stores: Sequence[str] = ()) -> None:
        """Answer about what lies below the folders ``roots``, and below the addresses ``stores``."""
        self.roots = roots
        self._stores = stores
        self._places = anyio.CapacityLimiter(AT_ONCE)
        self._short: Memory[tuple[dict[str, Any], CallToolResult]] = Memory(64)

    def run(self, asked: str) -> Path | str:
        """The path of a run, or its address in a store, when it may be read."""
        return asked if below(self._stores, asked) else inside(self.roots, asked)

    async def ask(self, ctx: Context[Any, Any], question: Callable[[], dict[str, Any] | bytes]) -> CallToolResult:
        """The answer to a question that may take seconds; how far it has come is told at each file and pattern."""
        ear = Ear(ctx)
        answer = await self.work(lambda: self._answered(question), ear)
        await ctx.report_progress(ear.parts + 1, ear.parts + 1, "done")
        return answer

    async def work(self, job: Callable[[], T], ear: progress.Ear | None = None) -> T:
        """What a job gives, done in one of a few threads.

        When the client gives up, the job ends at its next file or pattern, and only then is its place free: work that nobody waits for
        does not pile up.
        """

        def heard() -> T:
            with progress.heard_by(ear or _only_while_wanted):
                return job()

        return await run_sync(heard, limiter=self._places)

    def _answered(self, question: Callable[[], dict[str, Any] | bytes]) -> CallToolResult:
        from rl_advisor.reading import UnreadableRun

        try:
            answer = question()
        except (Outside, NoSuchChoice) as mistake:
            raise ToolError(self._said(mistake)) from None
        except UnreadableRun as unreadable:
            raise ToolError(self._said(unreadable)) from None
        except OSError as gone:
            log.info("reading failed: %s", type(gone).__name__)
            raise ToolError("A file of this run could not be opened; it may just have been moved or deleted.") from None
        return picture_of(answer) if isinstance(answer, bytes) else self._shortened(answer)

    def _shortened(self, answer: dict[str, Any]) -> CallToolResult:
        # The tools give the same object for the same question about unchanged files; kept beside its result, its id stays its own.
        return self._short.get(id(answer), lambda: (answer, result_of(answer)))[1]

    def _said(self, error: Exception) -> str:
        """An error's message without where the folders lie."""
        text = str(error.args[0]) if error.args else REFUSED_WITHOUT_WORDS
        for root in self.roots:
            text = text.replace(f"{root}/", "").replace(str(root), ".")
        return readable(text, 1200)

    def listed(self, limit: int) -> dict[str, Any]:
        """The runs below all folders, newest first."""
        found = sorted(
            (p for root in self.roots for p in folders.runs_below(root)), key=lambda p: (folders.changed(p), str(p)), reverse=True
        )
        return tools.listing([(called(self.roots, p), p) for p in found[:limit]], len(found))


REFUSED_WITHOUT_WORDS = "The run could not be read."


TITLES = {
    "assess_run": "Judge a run",
    "compare_runs": "Compare runs",
    "gpu_phase_profile": "Profile GPU phases",
    "list_runs": "Find runs",
    "plot_curves": "Plot curves",
    "load_run": "See what a run holds",
    "spot_check_samples": "Read samples",
    "summarize_curves": "Measure curves",
}


def tools_of(desk: Desk) -> list[Tool]:
    """The tools, each a verb of :mod:`rl_advisor.tools` behind the folders' fence."""

    async def list_runs(limit: Annotated[int, Field(ge=1, le=200)] = 50) -> Result:
        return await desk.work(lambda: result_of(desk.listed(limit)))

    async def load_run(ctx: Context[Any, Any], run: Run) -> Result:
        return await desk.ask(ctx, lambda: tools.load_run(desk.run(run)))

    async def summarize_curves(ctx: Context[Any, Any], run: Run, metrics: Metrics = [], until: Until = None) -> Result:  # noqa: B006
        return await desk.ask(ctx, lambda: tools.summarize_curves(desk.run(run), metrics, until))

    async def plot_curves(ctx: Context[Any, Any], run: Run, metrics: Panels = [], until: Until = None) -> CallToolResult:  # noqa: B006
        return await desk.ask(ctx, lambda: tools.plot_curves(desk.run(run), metrics, until))

    async def spot_check_samples(  # noqa: PLR0913
        ctx: Context[Any, Any],
        run: Run,
        step: Step = None,
        count: Count = 2,
        until: Until = None,
        columns: Columns = {},  # noqa: B006
    ) -> Result:
        return await desk.ask(ctx, lambda: tools.spot_check_samples(desk.run(run), step, count, until, columns))

    async def gpu_phase_profile(ctx: Context[Any, Any], run: Run) -> Result:
        return await desk.ask(ctx, lambda: tools.gpu_phase_profile(desk.run(run)))

    async def assess_run(ctx: Context[Any, Any], run: Run, until: Until = None) -> Annotated[CallToolResult, Judgement]:
        return await desk.ask(ctx, lambda: tools.assess_run(desk.run(run), until))

    async def compare_runs(ctx: Context[Any, Any], runs: Annotated[list[Run], Field(min_length=2, max_length=16)]) -> Result:
        return await desk.ask(ctx, lambda: tools.compare_runs([desk.run(r) for r in runs]))

    verbs = (assess_run, compare_runs, gpu_phase_profile, list_runs, plot_curves, load_run, spot_check_samples, summarize_curves)
    return [_tool(verb) for verb in verbs]


def _tool(function: Callable[..., Any]) -> Tool:
    """The tool with the verb's own docstring, and a schema without what the name already says."""
    description = " ".join((getattr(tools, function.__name__).__doc__ or "").split())
    structured = function.__name__ != "plot_curves"
    tool = Tool.from_function(
        function, title=TITLES[function.__name__], description=description, annotations=READ_ONLY, structured_output=structured
    )
    _bare(tool.parameters)
    if tool.output_schema:
        tool.output_schema.pop("description", None)
        _bare(tool.output_schema)
    return tool


def _bare(schema: Any) -> None:
    """Take out of a schema what only repeats names or defaults: it costs every client tokens."""
    if isinstance(schema, list):
        for part in schema:
            _bare(part)
    if isinstance(schema, dict):
        for name, said_anyway in (("title", str), ("additionalProperties", bool)):
            if isinstance(schema.get(name), said_anyway):
                del schema[name]
        if "default" in schema and schema["default"] is None:
            del schema["default"]
        for name, part in schema.items():
            for inner in part.values() if name == "properties" else (part,):
                _bare(inner)
