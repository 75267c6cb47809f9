"""What a person at a terminal sees while something takes long: that it began, and from one second on how far it has come."""

import sys
import time
from collections.abc import Callable
from typing import TypeVar

import click

from rl_advisor.progress import listening

T = TypeVar("T")
SILENT_S, EVERY_S = 1.0, 0.2
_CLEAN = "\x1b[2K"


def busy(what: str, work: Callable[[], T]) -> T:
    """The result of ``work``; nothing is said where nobody watches."""
    if not sys.stderr.isatty():
        return work()
    began = told = time.monotonic()

    def ear(part: str, number: int, total: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - began > SILENT_S and now - told > EVERY_S:
            told = now
            click.echo(f"{_CLEAN}{part} {number:,} of {total:,} ({now - began:.0f} s)\r", err=True, nl=False)

    click.echo(f"reading {what} ...\r", err=True, nl=False)
    with listening(ear):
        result = work()
    click.echo(f"{_CLEAN}\r", err=True, nl=False)
    return result
