"""The commands of ``case``: predict first, run the experiment, then let the later run settle what was believed."""

from pathlib import Path
from typing import Any

import click

from rl_advisor.cli.options import command
from rl_advisor.cli.show import show
from rl_advisor.cli.waiting import busy
from rl_advisor.output import Answer


@click.group()
def case() -> None:
    """Keep what was believed of a run, the one experiment and its prediction, and settle it by the run that followed."""


@command("case open", case.command)
def open_(run: str, question: str, cases: Path, as_json: bool) -> None:
    """Open a case on RUN: the belief with its odds, the experiment, and what each outcome of it would mean."""
    _show(busy(run, lambda: _tools().open_case(cases, run, question)), as_json)


@command("case note", case.command)
def note(name: str, text: str, cases: Path, as_json: bool) -> None:
    """Add TEXT to the case NAME."""
    _show(_tools().note_case(cases, name, text), as_json)


@command("case settle", case.command)
def settle(name: str, runs: tuple[str, ...], changed: str, cases: Path, as_json: bool) -> None:
    """Judge the case NAME by a later run: confirmed, refuted, open, or not tested.

    Of several RUNS the one is taken whose settings differ from the first run's as proposed.
    """
    _show(busy(runs[-1], lambda: _tools().settle_case(cases, name, runs, changed)), as_json)


@command("case list", case.command)
def list_(cases: Path, as_json: bool) -> None:
    """List the cases, and what the odds were worth over those that are settled."""
    from rl_advisor.tools.cases.shelf import listed, overview

    found = listed(cases)
    if as_json:
        show("cases", found, as_json)
    else:
        click.echo(overview(found), nl=False)


def _tools() -> Any:
    from rl_advisor.tools import cases

    return cases


def _show(answer: Answer, as_json: bool) -> None:
    from rl_advisor.tools.cases.shelf import CaseFile, page

    if as_json:
        show("case", answer, as_json)
    else:
        click.echo(page(CaseFile.model_validate({k: v for k, v in answer.items() if k != "p"})), nl=False)
