"""What goes wrong in a command, as one line and an exit code: 1 a fault of ours, 2 the caller's mistake, 3 data that could not be read."""

import errno
import os
import sys
import traceback
from typing import Any

import click

from rl_advisor.output.errors import UnreadableRun, UsageError

FAULT, MISTAKE, UNREADABLE = 1, 2, 3
TRACE = "RL_ADVISOR_TRACE"
"""Environment variable with which a fault of ours shows its trace."""


class Door(click.Group):
    """Turns the two kinds of failure that a caller can do something about into a message and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        """What the command gives; what goes wrong ends the process with a line."""
        try:
            return super().invoke(ctx)
        except (UsageError, FileNotFoundError) as mistake:
            _fail(mistake, MISTAKE)
        except OSError as failed:
            if failed.errno == errno.EPIPE:
                raise
            _fail(OSError(f"{failed.filename or 'a file'}: {failed.strerror or failed}"), MISTAKE)
        except UnreadableRun as unreadable:
            _fail(unreadable, UNREADABLE)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as fault:  # noqa: BLE001 - whatever it is, a person gets one line
            _fault(fault)


def _fault(error: Exception) -> None:
    """One line about a fault of ours, with the place in our code; the trace where the environment asks for it."""
    if os.environ.get(TRACE):
        traceback.print_exception(error)
    ours = [f for f in traceback.extract_tb(error.__traceback__) if "rl_advisor" in f.filename]
    where = f" in {ours[-1].filename.rpartition('rl_advisor/')[2]}, line {ours[-1].lineno}" if ours else ""
    click.echo(f"rl-advisor: a fault of rl-advisor: {type(error).__name__}{where}. {TRACE}=1 shows the trace; please report it.", err=True)
    sys.exit(FAULT)


def _fail(error: Exception, code: int) -> None:
    from rl_advisor.output.clean import readable

    click.echo(f"rl-advisor: {readable(str(error.args[0] if error.args else error), 2000)}", err=True)
    for where, lines in getattr(error, "shapes", {}).items():
        click.echo("\n".join((f"  {readable(where, 200)} holds:", *(f"    {readable(line, 700)}" for line in lines))), err=True)
    sys.exit(code)
