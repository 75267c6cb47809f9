"""The command ``eval``: an advisor, or answers made elsewhere, scored on labelled runs."""

from typing import Any

from rl_advisor.cli.options import command
from rl_advisor.cli.show import show
from rl_advisor.cli.waiting import told
from rl_advisor.output.errors import UsageError, as_usage_error


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
        from rl_advisor.evals.harness import evaluate as scored
        from rl_advisor.tools import advisor_named

        assess = advisor_named(advisor).assess
        scores = as_usage_error(lambda: told(folder.name, lambda: scored(folder, assess, **how)))
    show("eval", clean(scores), as_json)
