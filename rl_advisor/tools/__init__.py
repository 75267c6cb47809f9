"""The verbs: what can be asked of runs, each by its name in the table (``answers/verbs.toml``).

``tools.assess_run("runs/grpo-17", until=200)`` answers with plain JSON in which text is made safe; command line and server ask the same:
runs are read (once for as long as their files stay the same) and cut, files found, the answer made safe.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rl_advisor.answers import run_folders
from rl_advisor.answers.verbs import Verb, verbs
from rl_advisor.discovery import function_of
from rl_advisor.output import Answer
from rl_advisor.output.clean import aliased, clean, is_name
from rl_advisor.output.errors import UnreadableRun, UsageError, no_such
from rl_advisor.output.names import names_of_run
from rl_advisor.output.wording import plain
from rl_advisor.tools.advisors import ADVISORS

if TYPE_CHECKING:
    from rl_advisor.finding import Assessment
    from rl_advisor.run import Run

HOW = ("until", "mapping", "against", "planned", "goal")
"""Arguments that say how a run is read, and what is known of it besides."""


def __getattr__(name: str) -> Any:
    if name not in verbs():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return partial(ask, name)


def ask(name: str, *given: Any, **named: Any) -> Any:
    """The answer of a verb, plain JSON (a picture as bytes); arguments are those of the table, in its order or by name.

    Raises:
        UsageError: the question cannot be answered so; the message names the choices.
        FileNotFoundError: nothing is there; the message names what is.
        rl_advisor.reading.UnreadableRun: something is there, and none of it could be read.
    """
    verb = verbs()[name]
    asked = {a: value for a, value in (dict(zip(verb.arguments, given, strict=False)) | named).items() if value is not None}
    for argument in verb.paths:
        if found := asked.pop(argument, None):
            asked[argument] = place(found) if isinstance(found, str | Path) else [place(p) for p in found]
    function, one = function_of(verb.function), verb.about == "run"
    if not verb.about:
        return of_files(function, **asked)
    how = {name: asked.pop(name) for name in HOW if name in asked}
    how["mapping"] = {**how.get("mapping", {}), **asked.pop("columns", {})} or None
    if verb.table and (table := _table(verb, asked["run"], how)):
        return table
    runs = [as_asked(p, **how) for p in ([asked.pop("run")] if one else asked.pop("runs"))]
    return _safe(function(runs[0] if one else runs, **asked), runs)


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


MOST_SOUND = 16
"""Sound runs that one run is measured against."""


def read(run: str | Path, until: float | None = None, mapping: Mapping[str, str] | None = None) -> "Run":
    """The run at that path or address, as it looked at ``until``; read once for as long as its files stay the same.

    Raises:
        FileNotFoundError: nothing is there; the message names what is.
        NoSuchChoice: ``mapping`` names what no file has; the message names the nearest.
        rl_advisor.reading.UnreadableRun: something is there, and none of it could be read.
    """
    path = place(run)
    try:
        whole = _read(path, tuple((mapping or {}).items()), run_folders.fingerprint(path))
    except KeyError as unknown:
        # Only the caller's mapping raises it: a name that no file has.
        if not mapping:
            raise
        raise UsageError(str(unknown.args[0])) from unknown
    except UnreadableRun as unreadable:
        if str(run).startswith(str(path)):
            raise
        # Where the copy of a store lies means nothing to who gave an address.
        raise UnreadableRun(str(unreadable).replace(str(path), path.name), unreadable.shapes) from unreadable
    return whole if until is None else whole.until(until)


@lru_cache(8)
def _read(path: Path, said: tuple[tuple[str, str], ...], _: object) -> "Run":
    """As ``read_run``; a few lines of which no reader knows a name, or in which there is no table, as pasted lines are read."""
    from rl_advisor.answers.explain.pasted import run_of_few
    from rl_advisor.judgement.proven import few
    from rl_advisor.reading import read_run

    mapping = dict(said) or None
    try:
        run = read_run(path, mapping=mapping)
    except UnreadableRun:
        pasted = None if mapping else run_of_few(path)
        if pasted is None or not (pasted.curves or pasted.config or pasted.events):
            raise
        return pasted
    unknown = not mapping and few(run) and not any(c.explained for c in run.curves.values())
    return pasted if unknown and (pasted := run_of_few(path)).curves else run


def place(run: str | Path) -> Path:
    """Where the run lies on this machine; text that is an address of a store is fetched first, a ``Path`` never is.

    Raises what ``folders.existing`` and ``rl_advisor.reading.remote.copies.fetch`` raise.
    """
    if isinstance(run, str) and "://" in run:
        from rl_advisor.reading.remote import copies

        if copies.is_address(run):
            return copies.local_copy(run)
    return run_folders.existing(run)


def as_asked(  # noqa: PLR0913
    run: str | Path,
    until: float | None = None,
    mapping: Mapping[str, str] | None = None,
    against: Sequence[str | Path] = (),
    planned: int | None = None,
    goal: float | None = None,
) -> "Run":
    """The run as it was read, beside the sound runs against which it is measured, with the plan and the goal that somebody knows of.

    Raises:
        UsageError: too many runs; and what ``read`` raises.
    """
    if len(against) > MOST_SOUND:
        raise UsageError(f"{len(against)} sound runs were named; {MOST_SOUND} are enough")
    whole, sound = read(run, until, mapping), tuple(read(other, None, mapping) for other in against)
    known = sound or planned or goal is not None
    return replace(whole, sound=sound, planned_steps=planned or whole.planned_steps, goal=goal) if known else whole
