"""A step of training as a person types it."""

from typing import Any

import click


class Step(click.FloatRange):
    """A number that is one: NaN is neither smaller nor larger than anything, and would pass for a bound."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number.

        Raises:
            click.BadParameter: it is none, or outside the range.
        """
        found = super().convert(value, param, ctx)
        if found != found:  # noqa: PLR0124 - only NaN differs from itself
            self.fail(f"{value!r} is no step", param, ctx)
        return found
