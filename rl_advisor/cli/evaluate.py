"""The command ``eval``: an advisor, or answers made elsewhere, scored on labelled runs."""

from itertools import count
from pathlib import Path
from typing import Any

from rl_advisor.cli.options import command
from rl_advisor.cli.show import show
from rl_advisor.cli.waiting import told
from rl_advisor.output import Answer
from rl_advisor.output.errors import UsageError, as_usage_error
from rl_advisor.output.progress import report_progress


@command("eval")
def evaluate(corpus: str | None, answers: str | None, key: str | None, advisor: str, as_json: bool, **how: Any) -> None:
    """Score an advisor, or answers made elsewhere, on labelled runs: a folder with runs/ and labels.json."""
    from rl_advisor.answers import run_folders
    from rl_advisor.output.clean import clean

    if corpus is None:
        raise UsageError("eval needs a corpus: a folder with runs/ and labels.json")
    folder = run_folders.existing(corpus)
    if not (folder / "labels.json").is_file():
        raise UsageError(f"{folder} is no corpus: it lacks labels.json beside runs/")
    if answers is not None:
        from rl_advisor.evals.harness import score_answers

        file, tasks = run_folders.existing(answers), None if key is None else run_folders.existing(key)
        scores = as_usage_error(lambda: score_answers(folder, file, key=tasks, rows=how["rows"]))
    else:
        scores = as_usage_error(lambda: told(folder.name, lambda: _scored(folder, advisor, **how)))
    show("eval", clean(scores), as_json)


def _scored(folder: Path, advisor: str, cuts: tuple[float, ...], rows: bool) -> Answer:
    """The scores of an advisor; its judgements are counted while they are made."""
    from rl_advisor.evals.harness import evaluate as scored
    from rl_advisor.tools import advisor_named

    assess = advisor_named(advisor).assess
    number, total = count(1), sum(1 for _ in (folder / "runs").iterdir()) * (len(set(cuts) - {1.0}) + 1)

    def judged(run: Any) -> Any:
        report_progress("judgement", next(number), total)
        return assess(run)

    return scored(folder, judged, cuts, rows=rows)
