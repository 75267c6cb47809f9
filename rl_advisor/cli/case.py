"""The commands of ``case``: predict first, run the experiment, then let the later run settle what was believed."""

from pathlib import Path
from typing import Any

import click

from rl_advisor.cli.options import JSON
from rl_advisor.cli.show import show
from rl_advisor.cli.waiting import busy

CASES = click.option(
    "--cases",
    type=click.Path(file_okay=False, path_type=Path),
    default="cases",
    show_default=True,
    metavar="DIR",
    help="Where cases are kept.",
)


@click.group()
def case() -> None:
    """Keep what was believed of a run, the one experiment and its prediction, and settle it by the run that followed."""


@case.command("open")
@click.argument("run", type=click.Path())
@click.option("--question", default="", metavar="TEXT", help="What you want to know.")
@CASES
@JSON
def open_(run: str, question: str, cases: Path, as_json: bool) -> None:
    """Open a case on RUN: the belief with its odds, the experiment, and what each outcome of it would mean."""
    _show(busy(run, lambda: _tools().open_case(cases, run, question)), as_json)


@case.command()
@click.argument("name")
@click.argument("text")
@CASES
@JSON
def note(name: str, text: str, cases: Path, as_json: bool) -> None:
    """Add TEXT to the case NAME."""
    _show(_tools().note_case(cases, name, text), as_json)


@case.command()
@click.argument("name")
@click.argument("runs", nargs=-1, required=True, type=click.Path())
@click.option("--changed", default="", metavar="TEXT", help="What was changed, where no logged setting shows it.")
@CASES
@JSON
def settle(name: str, runs: tuple[str, ...], changed: str, cases: Path, as_json: bool) -> None:
    """Judge the case NAME by a later run: confirmed, refuted, open, or not tested.

    Of several RUNS the one is taken whose settings differ from the first run's as proposed.
    """
    _show(busy(runs[-1], lambda: _tools().settle_case(cases, name, runs, changed)), as_json)


@case.command("list")
@CASES
@JSON
def list_(cases: Path, as_json: bool) -> None:
    """List the cases, and what the odds were worth over those that are settled."""
    from rl_advisor.tools.cases import advice, shelf

    if as_json:
        show("cases", advice.listed(cases), as_json)
    else:
        click.echo(shelf.overview([shelf.load(cases, name) for name in shelf.names(cases)]), nl=False)


def _tools() -> Any:
    from rl_advisor.tools import cases

    return cases


def _show(answer: dict[str, Any], as_json: bool) -> None:
    from rl_advisor.tools.cases.shelf import CaseFile, page

    if as_json:
        show("case", answer, as_json)
    else:
        click.echo(page(CaseFile.model_validate({k: v for k, v in answer.items() if k != "p"})), nl=False)
