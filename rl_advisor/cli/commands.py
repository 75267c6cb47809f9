"""The terminal door: one command per verb, for people and, with ``--json``, for programs.

Everything heavy is imported inside the command that needs it, so that ``rl-advisor --help`` answers at once.
"""

import os

# One thread is three times faster on problems as small as ours; numpy reads this when it is imported, which happens later.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import click

from rl_advisor import __version__
from rl_advisor.cli import ask, extras, judging, triage
from rl_advisor.cli.door import Door
from rl_advisor.cli.options import commands, group


@click.group(cls=Door, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rl-advisor")
def main() -> None:
    """Read what a reinforcement-learning run left behind; say whether it is healthy, what broke first, and what to do next."""


_OWN = (
    judging.assess,
    judging.report,
    judging.evaluate,
    group("case", "Keep what was believed of a run, the one experiment and its prediction, and settle it by the run that followed."),
    extras.serve,
    triage.triage,
    extras.watch,
    *extras.COMMANDS,
    *ask.COMMANDS,
)
for _command in (*commands(), *_OWN):
    main.add_command(_command)
