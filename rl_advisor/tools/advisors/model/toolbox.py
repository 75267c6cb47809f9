"""The tools that a model may call, bound to one run that was already read and cut: there is no path to name, so none to abuse."""

from typing import Any

from pydantic import BaseModel, ValidationError

from rl_advisor.answers.judgement import ORDER
from rl_advisor.answers.verbs import Argument, Verb, model_of, schema_of, verbs
from rl_advisor.discovery import function_of
from rl_advisor.finding import FindingView
from rl_advisor.output import Answer, shipped
from rl_advisor.output.budget import fit
from rl_advisor.output.clean import aliased, aliases, clean
from rl_advisor.output.errors import UsageError, complaints, no_such
from rl_advisor.output.names import names_of_run
from rl_advisor.run import Run
from rl_advisor.tools.advisors.model.turns import Tool

READING = ("until", "mapping", "columns", "detail")


class Exact(BaseModel, extra="forbid"):
    """Arguments and nothing besides."""


class Toolbox:
    """One run and what was found in it, ready to be asked about."""

    def __init__(self, run: Run, findings: list[FindingView]) -> None:
        """Gather the names that the run chose, once; ``aliases`` stand in answers for names that read like sentences."""
        self.run, self.findings, self.names = run, findings, frozenset(names_of_run(run))
        self.aliases = {alias: name for name, alias in aliases(self.names).items()}

    def call(self, tool: str, arguments: Any) -> tuple[Answer, bool]:
        """The answer to a call, made safe and cut to size, and whether the call was a mistake."""
        try:
            verb = offered().get(tool)
            if verb is None:
                raise no_such("tool", tool, offered())
            return self.safe(self._answer(verb, arguments), verb.longest), False
        except (ValidationError, UsageError) as wrong:
            told = complaints(wrong) if isinstance(wrong, ValidationError) else str(wrong.args[0])
            return self.safe({"mistake": told}, 800), True

    def _answer(self, verb: Verb, arguments: Any) -> Any:
        asked = model_of(verb.name, arguments_of(verb), Exact).model_validate(arguments).model_dump(exclude_none=True)
        if "metrics" in asked:
            asked["metrics"] = [self.aliases.get(name, name) for name in asked["metrics"]]
        return function_of(verb.function)(self if verb.bench else self.run, **asked)

    def safe(self, answer: Answer, longest: int) -> Answer:
        """The answer as a model may see it: clean, without names that read like sentences, at most so many tokens."""
        return fit(aliased(clean(answer), self.names), longest)


def offered() -> dict[str, Verb]:
    """The verbs that may be asked of a run that was already read."""
    return {name: verb for name, verb in verbs().items() if verb.model or verb.bench}


def arguments_of(verb: Verb) -> dict[str, Argument]:
    """The arguments that do not say which run, or how to read it."""
    return {name: argument for name, argument in verb.arguments.items() if name not in READING and not argument.get("path")}


def tools() -> tuple[Tool, ...]:
    """What the model is told about the tools."""
    return tuple(Tool(name, verb.says, schema_of(arguments_of(verb), set())) for name, verb in offered().items())


def findings(bench: Toolbox, outcome: str | None = None) -> Answer:
    """What the detectors found, or what of it came out so."""
    found = sorted((f for f in bench.findings if outcome in (None, f.outcome)), key=lambda f: ORDER.index(f.outcome))
    return {"findings": [f.model_dump() for f in found]}


def page(_: Toolbox, page: str) -> Answer:
    """A page of the skill."""
    pages = shipped.skill_pages()
    if page not in pages:
        raise no_such("page", page, pages)
    return {"page": page, "text": pages[page]}
