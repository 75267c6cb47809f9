"""What a person at a terminal sees while something takes long: that it began, and from one second on how far it has come."""

import sys
import time
from collections.abc import Callable
from typing import TypeVar

import click

from rl_advisor.cli.own_limits import bounded
from rl_advisor.output.progress import listening

T = TypeVar("T")
SILENT_S, EVERY_S = 1.0, 0.2
_CLEAN = "\x1b[2K"


def busy(what: str, work: Callable[[], T]) -> T:
    """The result of ``work`` within the command's own limits; nothing is said where nobody watches."""
    with bounded():
        return told(what, work)


def told(what: str, work: Callable[[], T]) -> T:
    """The result of ``work``, which may take as long as it does."""
    if not sys.stderr.isatty():
        return work()
    began = last = time.monotonic()

    def ear(part: str, number: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - began > SILENT_S and now - last > EVERY_S:
            last = now
            click.echo(f"{_CLEAN}{part} {number:,} of {total:,} ({now - began:.0f} s)\r", err=True, nl=False)

    click.echo(f"reading {what} ...\r", err=True, nl=False)
    with listening(ear):
        result = work()
    click.echo(f"{_CLEAN}\r", err=True, nl=False)
    return result
