"""The commands that judge a run: ``assess`` prints the judgement, ``report`` writes it where it is looked at."""

from typing import Any

import click

from rl_advisor.cli.gate import Gate
from rl_advisor.cli.options import command
from rl_advisor.cli.show import show
from rl_advisor.cli.waiting import busy, told
from rl_advisor.output import Answer

BUILTIN = ("price",)
"""Options that the built-in advisor knows; the others are for those that ask a model."""


@command("assess")
def assess(run: str, verbose: bool, as_json: bool, **asked: Any) -> None:
    """Judge RUN: verdict, continue or stop, what broke first, best checkpoint, what to do next."""
    gate = Gate(asked["fail_on"], asked["fail_on_cost"])
    answer, judged = _judged(run, asked, ())
    if asked["out"]:
        click.echo("".join(f"rl-advisor: the page is {file}\n" for file in asked["out"]), err=True, nl=False)
    gate.close(judged, lambda: show("assess", answer["judgement"], as_json, whole=verbose))


@command("report")
def report(run: str, to: tuple[str, ...], as_json: bool, **asked: Any) -> None:
    """Write the judgement of RUN as a page, or where its curves are looked at.

    \b
    --to tensorboard[:FOLDER]             event files beside the run or in FOLDER
    --to wandb[:[ENTITY/]PROJECT[/RUN]]   a W&B run that is there, or one of its own
    --to mlflow[:[SERVER][/RUN_ID]]       tags, a page and marks of an MLflow run
    --to trackio[:PROJECT[/RUN]]          an alert and marks in Trackio
    """  # noqa: D301
    if not asked["out"] and not to:
        raise click.UsageError("report needs --out FILE or --to TRACKER")
    gate = Gate(asked["fail_on"], asked["fail_on_cost"])
    answer, judged = _judged(run, asked, to)
    gate.close(judged, lambda: show("report", answer["written"], as_json))


def _judged(run: str, asked: Answer, to: tuple[str, ...]) -> tuple[Answer, list[Answer]]:
    """The judgement and where it was written; what the gate looks at, a judgement for each run that lies there."""
    from rl_advisor import tools
    from rl_advisor.tools import report_file

    report_file.look_ahead(asked["out"], to)
    judge = asked["advisor"]
    options = _told(judge, asked)
    how = {name: asked[name] for name in tools.HOW}
    if not asked["out"] and not to:
        found = busy(run, lambda: tools.ask("assess_run", run, **how, advisor=judge, options=options))
        several = found.get("runs")
        return {"judgement": found}, several if isinstance(several, list) else [found]

    def written() -> Answer:
        whole = tools.as_asked(run, **how)
        signed = tools.advisor_named(judge).assess(whole, **options)
        return {"written": report_file.report(whole, signed, asked["out"], to, run), "judgement": tools.judgement_of(whole, signed)}

    answer = busy(run, written)
    return answer, [answer["judgement"]]


def _told(advisor: str, asked: Answer) -> Answer:
    """What the advisor is told of the options given; of those that it makes no use of a person is told."""
    given = {
        name: asked[name] for name in ("price", "model", "base_url", "max_cost", "max_tokens", "transcript") if asked[name] is not None
    }
    known = {name: value for name, value in given.items() if (name in BUILTIN) == (advisor == "builtin")}
    if lost := [f"--{name.replace('_', '-')}" for name in given if name not in known]:
        click.echo(f"rl-advisor: the {advisor} advisor makes no use of {', '.join(lost)}.", err=True)
    return known


@command("eval")
def evaluate(corpus: str, answers: str | None, key: str | None, advisor: str, as_json: bool, **how: Any) -> None:
    """Score an advisor, or answers made elsewhere, on labelled runs: a folder with runs/ and labels.json."""
    from rl_advisor.answers import run_folders
    from rl_advisor.tools import advisor_named, of_files

    folder = run_folders.existing(corpus)
    if answers is not None:
        from rl_advisor.evals.harness import score_answers

        file, tasks = run_folders.existing(answers), None if key is None else run_folders.existing(key)
        scores = of_files(score_answers, folder, file, key=tasks, rows=how["rows"])
    else:
        from rl_advisor.evals.harness import evaluate as scored

        assess = advisor_named(advisor).assess
        scores = told(folder.name, lambda: of_files(scored, folder, assess, **how))
    show("eval", scores, as_json)
