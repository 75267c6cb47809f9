"""The options that several commands share beside the arguments of their verb."""

from collections.abc import Callable
from typing import Any

import click

from rl_advisor.advisors import ADVISORS

JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
OUT = click.option("--out", type=click.Path(dir_okay=False), multiple=True, metavar="FILE", help="FILE.md or FILE.html; may be repeated.")

_JUDGE = (
    click.option("--advisor", type=click.Choice(ADVISORS), default="builtin", show_default=True, help="Who judges."),
    click.option(
        "--price", type=click.FloatRange(0), metavar="SHARE", help="What the whole budget costs, as a share of the score's scale."
    ),
    click.option("--model", metavar="NAME", help="Model that a model advisor asks.  [env: RL_ADVISOR_MODEL]"),
    click.option("--base-url", metavar="URL", help="Server to ask instead of the provider's.  [env: RL_ADVISOR_BASE_URL]"),
    click.option("--max-cost", type=click.FloatRange(0), metavar="DOLLARS", help="A model advisor stops before it costs more."),
    click.option("--max-tokens", type=click.IntRange(0), metavar="N", help="A model advisor stops before it uses more."),
    click.option("--transcript", type=click.Path(dir_okay=False), metavar="FILE.jsonl", help="Keep the conversation; resume from it."),
)
ADVISOR = _JUDGE[0]


def judge_options(command: Callable[..., None]) -> Callable[..., None]:
    """Who judges, and what that advisor is told, on a command."""
    for option in reversed(_JUDGE):
        command = option(command)
    return command


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


class Step(click.FloatRange):
    """A number that is one: NaN is neither smaller nor larger than anything, and would pass for a bound; nor is infinity a step."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number.

        Raises:
            click.BadParameter: it is none, or outside the range.
        """
        found = super().convert(value, param, ctx)
        if not abs(found) < float("inf"):
            self.fail(f"{value!r} is no number here", param, ctx)
        return found
