"""The command ``eval``: an advisor, or answers made elsewhere, scored on labelled runs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rl_advisor.answers import run_folders
from rl_advisor.output.clean import clean
from rl_advisor.output.errors import UsageError
from rl_advisor.run import Run

Scores = dict[str, Any]


def corpus(path: str | None) -> Path:
    """The folder of a corpus.

    Raises:
        NoSuchChoice: none is named, or it has no labels.
        FileNotFoundError: there is no such folder.
    """
    if path is None:
        raise UsageError("eval needs a corpus: a folder with runs/ and labels.json")
    folder = run_folders.existing(path)
    if not (folder / "labels.json").is_file():
        raise UsageError(f"{folder} is no corpus: it lacks labels.json beside runs/")
    return folder


def judgements(folder: Path, cuts: Sequence[float]) -> int:
    """How many judgements an evaluation of the corpus takes."""
    return sum(1 for _ in (folder / "runs").iterdir()) * (len(set(cuts) - {1.0}) + 1)


def score(folder: Path, cuts: Sequence[float], advisor: str, rows: bool = False, tick: Callable[[], object] = int) -> Scores:
    """The scores of an advisor on a corpus; ``tick`` is called after each judgement.

    Raises:
        NoSuchChoice: the labels say nothing about a cut.
    """
    from rl_advisor.evals.harness import evaluate
    from rl_advisor.tools import advisor_named

    assess = advisor_named(advisor).assess

    def judged(run: Run) -> Any:
        answer = assess(run)
        tick()
        return answer

    return _or_mistake(lambda: evaluate(folder, judged, tuple(cuts), rows=rows))


def score_file(folder: Path, answers: str, rows: bool = False, key: str | None = None) -> Scores:
    """The scores of answers made elsewhere.

    Raises:
        NoSuchChoice: the file answers what the corpus does not ask, or a line is no answer.
        FileNotFoundError: there is no such file.
    """
    from rl_advisor.evals.harness import score_answers

    file, tasks = run_folders.existing(answers), None if key is None else run_folders.existing(key)
    return _or_mistake(lambda: score_answers(folder, file, key=tasks, rows=rows))


def _or_mistake(work: Callable[[], Scores]) -> Scores:
    """The scores as plain JSON; what the harness refuses is the caller's mistake."""
    try:
        return clean(work())  # type: ignore[no-any-return]
    except ValueError as wrong:
        raise UsageError(str(wrong)) from wrong
