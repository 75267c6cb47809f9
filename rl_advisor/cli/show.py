"""An answer on standard output: one JSON document, or the page of its kind."""

import sys
from typing import Any

import click

from rl_advisor.cli.door import MISTAKE, UNREADABLE


def show(kind: str, answer: Any, as_json: bool, *, whole: bool = False) -> None:
    """Print it; ``whole`` leaves nothing out. A table of several runs ends with the exit code for a mistake, for one was asked about."""
    if as_json:
        import orjson

        click.echo(orjson.dumps(answer))
    else:
        from rl_advisor.cli import printing

        click.echo(printing.text(kind, answer, whole=whole), color=True)  # the page itself decides on colours
    if kind == "gpu" and not answer["gpus"] and not answer["phases"]:
        sys.exit(UNREADABLE)
    if kind in ("load", "assess") and isinstance(answer.get("runs"), list):
        click.echo("rl-advisor: several runs lie here; name one of them", err=True)
        sys.exit(MISTAKE)
