"""Commands made from two tables: what a verb takes (``answers/verbs.toml``) and what a command takes besides (``commands.toml``)."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import click

from rl_advisor.answers.verbs import Argument, Verb, entries, verbs
from rl_advisor.cli.show import show
from rl_advisor.cli.waiting import busy
from rl_advisor.discovery import function_of, table
from rl_advisor.output import Answer


def command(name: str) -> Callable[[Callable[..., None]], click.Command]:
    """A command with the arguments that the tables give it."""
    entry = _commands()[name]
    verb = verbs().get(entry.verb)
    arguments = {**(verb.arguments if verb else {}), **entry.arguments}
    return lambda function: click.command(name)(_given(arguments, entry.words, function))


def commands(of: Mapping[str, Verb] | None = None) -> list[click.Command]:
    """What needs nothing but its arguments: the verbs, or the commands of a group."""
    return [_asking(entry) for entry in (of or verbs()).values() if entry.command]


def group(name: str, says: str) -> click.Group:
    """Commands of several words under the first of them."""
    return click.Group(name, help=says, commands=commands({n: c for n, c in _commands().items() if n.startswith(f"{name} ")}))


def _asking(entry: Verb) -> click.Command:
    """A command that asks a verb, or the function of its entry, and shows what it says as the page ``entry.command``."""

    def ask(as_json: bool, **asked: Any) -> None:
        from rl_advisor import tools

        function = partial(tools.ask, entry.name) if entry.name in verbs() else function_of(entry.function)
        show(entry.command, busy(asked.get(entry.words[0]) or "what was given", partial(function, **asked)), as_json)

    arguments = {**entry.arguments, "as_json": _commands()["check"].arguments["as_json"]}
    name = entry.name.rpartition(" ")[2] if " " in entry.name else entry.command
    return click.command(name, help=entry.says)(_given(arguments, entry.words, ask))


@cache
def _commands() -> Mapping[str, Verb]:
    return entries(table(__file__, "commands.toml"), "command")


def _given(arguments: Mapping[str, Argument], words: tuple[str, ...], function: Any) -> Any:
    """The function with the arguments as parameters."""
    for name, argument in reversed([*arguments.items()]):
        function = function if argument.get("server") else _parameter(name, argument, words)(function)
    return function


def _parameter(name: str, argument: Argument, words: tuple[str, ...]) -> Callable[[Any], Any]:
    several, required = argument["type"] in ("array", "object"), bool(argument.get("required"))
    metavar, default, kind = argument.get("metavar"), argument.get("default"), _type(argument)
    given = {} if default is None else {"default": default}  # None would be one, and satisfy click where something is required
    if name in words:
        return click.argument(name, nargs=-1 if several else 1, required=required, type=kind, metavar=metavar, **given)
    flag = argument.get("option") or f"--{name.replace('_', '-')}"
    how: Answer = {"help": argument.get("help", argument.get("description")), "show_default": default not in (None, "")}
    if argument["type"] == "boolean":
        flag = f"{flag}/--no-{name.replace('_', '-')}" if default else flag
        return click.option(flag, name, *filter(None, [argument.get("short")]), is_flag=True, default=bool(default), **how)
    how |= {"metavar": metavar, "multiple": several, "callback": _pairs if argument["type"] == "object" else None}
    return click.option(flag, name, type=kind, required=required, **given, **how)


def _type(argument: Argument) -> Any:
    argument = {**argument, **argument.get("items", {})}
    least, most = argument.get("minimum"), argument.get("maximum")
    if argument["type"] == "integer":
        return click.IntRange(least, most)
    if argument["type"] == "number":
        return Finite(argument.get("exclusiveMinimum", least), most, min_open="exclusiveMinimum" in argument)
    if choices := argument.get("enum") or ("among" in argument and function_of(argument["among"])):
        return click.Choice(choices)
    if argument.get("file") or argument.get("folder"):
        return click.Path(file_okay=not argument.get("folder"), dir_okay=bool(argument.get("folder")), path_type=Path)
    return click.Path() if argument.get("path") else str


def _pairs(_: click.Context, option: click.Parameter, given: tuple[str, ...]) -> Mapping[str, str]:
    """``ROLE=NAME`` pairs as a table."""
    wrong = [pair for pair in given if not all(pair.partition("=")[::2])]
    if wrong:
        raise click.UsageError(f"{option.opts[0]} takes ROLE=NAME, for example reward/mean=my_score; not {wrong[0]!r}")
    return dict(pair.split("=", 1) for pair in given)


class Finite(click.FloatRange):
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

    def _describe_range(self) -> str:
        """What help says of the bounds: nothing where there are none."""
        return "" if self.min is self.max is None else super()._describe_range()
