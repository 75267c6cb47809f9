"""The terminal door: one command per verb, for people and, with ``--json``, for programs.

Everything heavy is imported inside the command that needs it, so that ``rl-advisor --help`` answers at once.
"""

import os
import sys
from collections.abc import Mapping
from typing import Any, TextIO

# One thread is three times faster on problems as small as ours; numpy reads this when it is imported, which happens later.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import click

from rl_advisor import __version__
from rl_advisor.cli import ask, extras, gate
from rl_advisor.cli.case import case
from rl_advisor.cli.compare import compare
from rl_advisor.cli.door import MISTAKE, Door
from rl_advisor.cli.gate import gated
from rl_advisor.cli.options import ADVISOR, AGAINST, JSON, MAP, OUT, RUN, UNTIL, Several, model_options
from rl_advisor.cli.serve import serve
from rl_advisor.cli.triage import triage
from rl_advisor.cli.waiting import busy


@click.group(cls=Door, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rl-advisor")
def main() -> None:
    """Read what a reinforcement-learning run left behind; say whether it is healthy, what broke first, and what to do next."""


@main.command()
@RUN
@MAP
@JSON
def load(run: str, mapping: tuple[str, ...], as_json: bool) -> None:
    """Show what was found and read in RUN, and what was not."""
    from rl_advisor import tools

    _show("load", busy(run, lambda: tools.load_run(run, _roles(mapping))), as_json)


@main.command()
@RUN
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only this metric; may be repeated.")
@UNTIL
@MAP
@JSON
def curves(run: str, metrics: tuple[str, ...], until: float | None, mapping: tuple[str, ...], as_json: bool) -> None:
    """Measure the curves of RUN: direction, best point, onset, change points."""
    from rl_advisor import tools

    _show("curves", busy(run, lambda: tools.summarize_curves(run, metrics, until, _roles(mapping))), as_json)


@main.command()
@RUN
@click.option("--step", type=int, help="Step of the samples; the latest when left out.")
@click.option("--count", type=click.IntRange(1, 50), default=3, show_default=True, help="Samples of each kind.")
@click.option("--audit", type=click.IntRange(1, 1000), metavar="N", help="List the N most suspicious samples, why, and how common that is.")
@click.option("--reward", type=click.File("r", errors="replace"), metavar="FILE.py", help="The reward's code: read, never run.")
@UNTIL
@click.option("--map", "mapping", multiple=True, metavar="ROLE=COLUMN", help="Say which column plays a role: response=final_text.")
@JSON
def samples(  # noqa: PLR0913
    run: str,
    step: int | None,
    count: int,
    audit: int | None,
    reward: TextIO | None,
    until: float | None,
    mapping: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show why episodes of RUN failed, what is paid, and the best rewarded, the worst rewarded and random samples."""
    from rl_advisor import tools

    code = reward.read(1 << 20) if reward else ""
    _show("samples", busy(run, lambda: tools.spot_check_samples(run, step, count, until, _roles(mapping), audit, code)), as_json)


@main.command(cls=Several)
@RUN
@UNTIL
@ADVISOR
@AGAINST
@click.option("--price", type=click.FloatRange(0), metavar="SHARE", help="What the whole budget costs, as a share of the score's scale.")
@model_options
@MAP
@OUT
@gated
@click.option("--verbose", "-v", is_flag=True, help="Show everything that was looked at.")
@JSON
def assess(  # noqa: PLR0913
    run: str,
    until: float | None,
    advisor: str,
    against: tuple[str, ...],
    price: float | None,
    mapping: tuple[str, ...],
    out: tuple[str, ...],
    fail_on: tuple[str, ...],
    fail_on_cost: float | None,
    verbose: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Judge RUN: verdict, continue or stop, what broke first, best checkpoint, what to do next."""
    from rl_advisor import tools

    judge = _available(advisor)
    told = _told(judge, {"price": price}, asked)

    def judged() -> dict[str, Any]:
        if not out:
            return tools.assess_run(run, until, judge, _roles(mapping), told, against)
        from rl_advisor.tools import report_file

        for file in out:
            report_file.renderer(file)  # a wrong ending is said before the reading begins
        whole = tools.beside(tools.read(run, until, _roles(mapping)), against, _roles(mapping))
        signed = tools.advisor_named(judge).assess(whole, **told)
        report_file.report(whole, signed, out, (), run)
        return tools.judgement_of(whole, signed)

    answer = busy(run, judged)
    for file in out:
        click.echo(f"rl-advisor: the page is {file}", err=True)
    several = answer.get("runs")
    rows = several if isinstance(several, list) else [answer]
    gate.close(rows, fail_on, fail_on_cost, lambda: _show("assess", answer, as_json, whole=verbose))


@main.command(cls=Several)
@RUN
@OUT
@click.option("--to", multiple=True, metavar="TRACKER[:WHERE]", help="Show it beside the curves; may be repeated.")
@UNTIL
@ADVISOR
@AGAINST
@model_options
@MAP
@gated
@JSON
def report(  # noqa: PLR0913
    run: str,
    out: tuple[str, ...],
    to: tuple[str, ...],
    until: float | None,
    advisor: str,
    against: tuple[str, ...],
    mapping: tuple[str, ...],
    fail_on: tuple[str, ...],
    fail_on_cost: float | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Write the judgement of RUN as a page, or where its curves are looked at.

    \b
    --to tensorboard[:FOLDER]             event files beside the run or in FOLDER
    --to wandb[:[ENTITY/]PROJECT[/RUN]]   a W&B run that is there, or one of its own
    --to mlflow[:[SERVER][/RUN_ID]]       tags, a page and marks of an MLflow run
    --to trackio[:PROJECT[/RUN]]          an alert and marks in Trackio
    """  # noqa: D301
    from rl_advisor import tools
    from rl_advisor.tools import report_file

    if not out and not to:
        raise click.UsageError("report needs --out FILE or --to TRACKER")
    for file in out:
        report_file.renderer(file)  # a wrong ending or tracker is said before the reading begins
    for target in to:
        report_file.tracker(target)
    judge = _available(advisor)
    told = _told(judge, {}, asked)
    signed: dict[str, Any] = {}

    def judged() -> dict[str, Any]:
        roles = _roles(mapping)
        whole = tools.beside(tools.read(run, until, roles), against, roles)
        assessment = tools.advisor_named(judge).assess(whole, **told)
        signed.update(assessment.model_dump())
        return report_file.report(whole, assessment, out, to, run)

    answer = busy(run, judged)
    gate.close([signed], fail_on, fail_on_cost, lambda: _show("report", answer, as_json))


@main.command("eval")
@click.argument("corpus", required=False, type=click.Path())
@click.option("--answers", type=click.Path(), metavar="FILE.jsonl", help="Score answers made elsewhere.")
@click.option("--key", type=click.Path(), metavar="key.json", help="The key of the exported tasks that were answered.")
@click.option(
    "--cut", "cuts", multiple=True, type=click.FloatRange(0, 1, min_open=True), metavar="SHARE", help="Judge this share of each run."
)
@click.option("--rows", is_flag=True, help="Add one row per run.")
@ADVISOR
@JSON
def evaluate(  # noqa: PLR0913
    corpus: str | None, answers: str | None, key: str | None, cuts: tuple[float, ...], rows: bool, advisor: str, as_json: bool
) -> None:
    """Score an advisor, or answers made elsewhere, on labelled runs: a folder with runs/ and labels.json."""
    from rl_advisor.cli import evaluate

    folder = evaluate.corpus(corpus)
    if answers is not None:
        _show("eval", evaluate.score_file(folder, answers, rows, key), as_json)
        return
    judge, total = _available(advisor), evaluate.judgements(folder, cuts)
    with click.progressbar(length=total, label="judging", file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
        scores = evaluate.score(folder, cuts, judge, rows, lambda: bar.update(1))
    _show("eval", scores, as_json)


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL; put it where your shell looks, or evaluate it."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion is known for {shell}")
    click.echo(kind(main, {}, "rl-advisor", "_RL_ADVISOR_COMPLETE").source())


def _roles(mapping: tuple[str, ...]) -> Mapping[str, str]:
    """``ROLE=NAME`` pairs as a table."""
    wrong = [pair for pair in mapping if not all(pair.partition("=")[::2])]
    if wrong:
        raise click.UsageError(f"--map takes ROLE=NAME, for example reward/mean=my_score; not {wrong[0]!r}")
    return dict(pair.split("=", 1) for pair in mapping)


def _told(advisor: str, own: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """What the advisor is told of the options given; the built-in one knows ``own``, the others ``asked``."""
    known, other = (own, asked) if advisor == "builtin" else (asked, own)
    lost = [f"--{name.replace('_', '-')}" for name, value in other.items() if value is not None]
    if lost:
        click.echo(f"rl-advisor: the {advisor} advisor makes no use of {', '.join(lost)}.", err=True)
    return {name: value for name, value in known.items() if value is not None}


def _available(advisor: str) -> str:
    """The advisor, or the built-in one, with a warning, when it cannot be loaded; a missing client it reports itself."""
    from rl_advisor import tools

    try:
        tools.advisor_named(advisor)
    except ImportError as missing:
        click.echo(f"rl-advisor: the {advisor} advisor cannot be loaded ({missing}); the built-in advisor answers instead.", err=True)
        return "builtin"
    return advisor


def _show(kind: str, answer: dict[str, Any], as_json: bool, *, whole: bool = False) -> None:
    """Print the answer as one JSON document or as text; ``whole`` leaves nothing out."""
    if as_json:
        extras.show(answer, as_json)
    else:
        from rl_advisor.cli import printing

        click.echo(printing.text(kind, answer, whole=whole), color=True)  # the page itself decides on colours
    if kind in ("load", "assess") and isinstance(answer.get("runs"), list):
        click.echo("rl-advisor: several runs lie here; name one of them", err=True)
        sys.exit(MISTAKE)


for _command in (*extras.COMMANDS, *ask.COMMANDS, case, compare, serve, triage):
    main.add_command(_command)
