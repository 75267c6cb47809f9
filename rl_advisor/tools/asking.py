"""Asks a verb of the table: its runs are read and cut, its files found, its answer made safe."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rl_advisor.answers.verbs import Verb, verbs
from rl_advisor.discovery import function_of
from rl_advisor.output import Answer
from rl_advisor.output.clean import aliased, clean, is_name
from rl_advisor.output.errors import UnreadableRun, UsageError, no_such
from rl_advisor.output.names import names_of_run
from rl_advisor.output.wording import plain
from rl_advisor.tools.advisors import ADVISORS
from rl_advisor.tools.runs import as_asked, place, read

if TYPE_CHECKING:
    from rl_advisor.finding import Assessment
    from rl_advisor.run import Run

HOW = ("until", "mapping", "against", "planned", "goal")
"""Arguments that say how a run is read, and what is known of it besides."""


def ask(name: str, *given: Any, **named: Any) -> Any:
    """The answer of a verb, plain JSON (a picture as bytes); arguments are those of the table, in its order or by name.

    Raises:
        UsageError: the question cannot be answered so; the message names the choices.
        FileNotFoundError: nothing is there; the message names what is.
        rl_advisor.reading.UnreadableRun: something is there, and none of it could be read.
    """
    verb = verbs()[name]
    asked = dict(zip(verb.arguments, given, strict=False)) | named
    asked = {argument: value for argument, value in asked.items() if value is not None and (value or argument not in verb.paths)}
    for argument in verb.paths:
        if argument in asked:
            asked[argument] = place(asked[argument]) if isinstance(asked[argument], str | Path) else [place(p) for p in asked[argument]]
    function = function_of(verb.function)
    if not verb.about:
        return of_files(function, **asked)
    how = {name: asked.pop(name) for name in HOW if name in asked}
    how["mapping"] = {**how.get("mapping", {}), **asked.pop("columns", {})} or None
    if verb.table and (table := _table(verb, asked["run"], how)):
        return table
    runs = [as_asked(p, **how) for p in _several(asked.pop("run" if verb.about == "run" else "runs"))]
    return _safe(function(runs[0] if verb.about == "run" else runs, **asked), runs)


def judged(run: "Run", advisor: str = "builtin", options: Answer | None = None) -> Answer:
    """What an advisor makes of a run."""
    return judgement_of(run, advisor_named(advisor).assess(run, **(options or {})))


def judged_row(run: "Run") -> Answer:
    """What a table of judgements says of a run."""
    from rl_advisor.answers import run_table

    return run_table.judged(run, advisor_named("builtin").assess(run))


def judgement_of(run: "Run", assessment: "Assessment") -> Answer:
    """An assessment as ``assess_run`` gives it, for whoever has it already."""
    from rl_advisor.answers import judgement

    return _safe(judgement.judgement(run, assessment), [run])  # type: ignore[no-any-return]


def compared(runs: "list[Run]", probe: bool = False) -> Answer:
    """Runs side by side, or the pair that says why rewards do not rise."""
    from rl_advisor.answers.compare import compare
    from rl_advisor.answers.probe import probe as probed

    if probe and len(runs) != 2:
        raise UsageError(f"a probe is two runs, the one trained on the test prompts first; not {len(runs)}")
    return probed(*runs) if probe else compare(runs)


def explained(text: str, question: str = "", framework: str | None = None) -> Answer:
    """What pasted lines, or one word, say."""
    from rl_advisor.answers.explain import a_word, explain_run
    from rl_advisor.answers.explain.pasted import bounded, run_of
    from rl_advisor.output.clean import untrusted

    if word := a_word(text, question):
        return word
    run = run_of(text, framework)
    answer = explain_run(run, bounded(text), question)
    if crash := answer.get("crash"):
        crash["error"] = untrusted(crash["error"], "the pasted text")
    return _safe(answer, [run])  # type: ignore[no-any-return]


def advisor_named(name: str) -> ModuleType:
    """The advisor's module.

    Raises:
        UsageError: no such advisor; the message names them.
    """
    if name not in ADVISORS:
        raise no_such("advisor", name, ADVISORS)
    return import_module(f"rl_advisor.tools.advisors.{name}")


def of_files(function: Any, /, *given: Any, **asked: Any) -> Any:
    """What a function says of files that are no run, made safe.

    Raises:
        UsageError: it cannot use what it was given.
    """
    try:
        return clean(function(*given, **asked))
    except UnreadableRun:
        raise
    except ValueError as unfit:  # that it cannot use what it was given is the caller's mistake
        raise UsageError(str(unfit)) from unfit


def _table(verb: Verb, path: Path, how: Answer) -> Answer | None:
    """A row for each of several runs of a folder or file, worst first; None for a single run, or one that was asked for by name."""
    from rl_advisor.answers import run_table

    places = run_table.places_of(path, read(path, None, how["mapping"]))
    if not places:
        return None
    rows = run_table.rows_of(path, places, lambda one: as_asked(one, **how), function_of(verb.table))
    return aliased(clean({"runs": run_table.worst_first(rows)}), places)  # type: ignore[no-any-return]


def _several(found: Any) -> Sequence[Path]:
    return [found] if isinstance(found, Path) else found


def _safe(answer: Any, runs: "Sequence[Run]") -> Any:
    """The answer without anything that could harm a reader."""
    return answer if isinstance(answer, bytes) else aliased(clean(answer), [name for run in runs for name in names_of_run(run)])


NEAR = 0.75
"""How likely a guessed outcome is at most for the next best to be asked about."""
PLANS = (1.1, 4.0)
"""A run of unknown length is judged as if nearly over and as if hardly begun: times its last step."""


def questions(asked: Answer, answer: Answer) -> Iterator[Answer]:
    """The questions whose answer would change verdict or call of the run that ``assess_run`` was asked about so."""
    judge, how = advisor_named("builtin").assess, {name: asked[name] for name in HOW if asked.get(name) is not None}
    run = as_asked(asked["run"], **how)
    guess = run.outcome_guess
    if guess and guess.p < NEAR and is_name(guess.raw) and is_name(guess.runner_up):
        other = judge(as_asked(asked["run"], **how | {"mapping": {**how.get("mapping", {}), "reward/mean": guess.runner_up}}))
        if (other.verdict, other.call) != (answer["verdict"], answer["call"]):
            yield {
                "question": f"Which column is the outcome: {guess.raw}, which was taken, or {guess.runner_up}?",
                "decides": f"By {guess.runner_up} the run is {plain(other.verdict)}, {other.call}.",
                "argument": "mapping",
                "choices": [guess.raw, guess.runner_up],
            }
    if run.planned_steps is None and run.last_step:
        nearly, hardly = (judge(replace(run, planned_steps=round(times * run.last_step))).call for times in PLANS)
        if nearly != hardly:
            yield {
                "question": f"How many steps are planned? The last one logged is {run.last_step:.0f}.",
                "decides": f"Nearly over: {nearly}; hardly begun: {hardly}.",
                "argument": "planned",
            }
