"""The commands of ``case``: predict first, run the experiment, then let the later run settle what was believed."""

from pathlib import Path

import click

from rl_advisor.cli.options import command
from rl_advisor.cli.show import show
from rl_advisor.cli.waiting import busy


@click.group()
def case() -> None:
    """Keep what was believed of a run, the one experiment and its prediction, and settle it by the run that followed."""


@command("case open", case.command)
def open_(run: str, question: str, cases: Path, as_json: bool) -> None:
    """Open a case on RUN: the belief with its odds, the experiment, and what each outcome of it would mean."""
    from rl_advisor.tools.cases import open_case

    show("case", busy(run, lambda: open_case(cases, run, question)), as_json)


@command("case note", case.command)
def note(name: str, text: str, cases: Path, as_json: bool) -> None:
    """Add TEXT to the case NAME."""
    from rl_advisor.tools.cases import note_case

    show("case", note_case(cases, name, text), as_json)


@command("case settle", case.command)
def settle(name: str, runs: tuple[str, ...], changed: str, cases: Path, as_json: bool) -> None:
    """Judge the case NAME by a later run: confirmed, refuted, open, or not tested.

    Of several RUNS the one is taken whose settings differ from the first run's as proposed.
    """
    from rl_advisor.tools.cases import settle_case

    show("case", busy(runs[-1], lambda: settle_case(cases, name, runs, changed)), as_json)


@command("case list", case.command)
def list_(cases: Path, as_json: bool) -> None:
    """List the cases, and what the odds were worth over those that are settled."""
    from rl_advisor.tools.cases.shelf import listed

    show("cases", listed(cases), as_json)
