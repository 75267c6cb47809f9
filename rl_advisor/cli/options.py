"""The arguments and options that several commands share."""

from collections.abc import Callable

import click

from rl_advisor.advisors import ADVISORS
from rl_advisor.cli.step import Step

RUN = click.argument("run", type=click.Path())
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
STEP = Step(min=0, max=1e300)
UNTIL = click.option("--until", type=STEP, metavar="STEP", help="Look at the run as it was at this step.")
ADVISOR = click.option("--advisor", type=click.Choice(ADVISORS), default="builtin", show_default=True, help="Who judges.")
MAP = click.option("--map", "mapping", multiple=True, metavar="ROLE=NAME", help="Say which logged name plays a role: reward/mean=my_score.")
OUT = click.option("--out", type=click.Path(dir_okay=False), multiple=True, metavar="FILE", help="FILE.md or FILE.html; may be repeated.")

_ASKED = (
    click.option("--model", metavar="NAME", help="Model that a model advisor asks.  [env: RL_ADVISOR_MODEL]"),
    click.option("--base-url", metavar="URL", help="Server to ask instead of the provider's.  [env: RL_ADVISOR_BASE_URL]"),
    click.option("--max-cost", type=click.FloatRange(0), metavar="DOLLARS", help="A model advisor stops before it costs more."),
    click.option("--max-tokens", type=click.IntRange(0), metavar="N", help="A model advisor stops before it uses more."),
    click.option("--transcript", type=click.Path(dir_okay=False), metavar="FILE.jsonl", help="Keep the conversation; resume from it."),
)


def model_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of the advisors that ask a model, on a command."""
    for option in reversed(_ASKED):
        command = option(command)
    return command


AGAINST = click.option(
    "--against",
    multiple=True,
    type=click.Path(),
    metavar="GOOD [GOOD...]",
    help="Earlier sound runs of the same set-up to measure RUN against.",
)


class Several(click.Command):
    """A command whose ``--against`` takes every word up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, with ``--against A B`` read as ``--against A --against B``."""
        spread: list[str] = []
        taking = False
        for word in args:
            taking = word == "--against" or (taking and not word.startswith("-"))
            again = taking and word != "--against" and spread[-1] != "--against"
            spread += ["--against", word] if again else [word]
        return super().parse_args(ctx, spread)
