"""Commands made from the table of verbs: arguments become options, the answer is printed, and what a verb says of itself is the help."""

from collections.abc import Callable, Mapping
from typing import Any

import click

from rl_advisor.answers.verbs import Argument, Verb, verbs
from rl_advisor.cli.options import JSON, Step
from rl_advisor.cli.show import show
from rl_advisor.cli.waiting import busy


def commands() -> list[click.Command]:
    """The verbs that need nothing but their arguments."""
    return [_command(verb) for verb in verbs().values() if verb.command]


def asks(name: str) -> Callable[[Any], Any]:
    """The arguments of a verb, on the function of a command."""
    verb = verbs()[name]

    def given(command: Any) -> Any:
        for argument, said in reversed(verb.arguments.items()):
            command = command if said.get("server") else _parameter(argument, said, verb.words)(command)
        return command

    return given


def _command(verb: Verb) -> click.Command:
    def ask(as_json: bool, **asked: Any) -> None:
        from rl_advisor import tools

        show(verb.command, busy(asked[verb.words[0]] or "what was given", lambda: tools.ask(verb.name, **asked)), as_json)

    return click.command(verb.command, help=verb.says)(asks(verb.name)(JSON(ask)))


def _parameter(name: str, argument: Argument, words: tuple[str, ...]) -> Callable[[Any], Any]:
    several = argument["type"] in ("array", "object")
    if name in words:
        return click.argument(name, nargs=-1 if several else 1, required=bool(argument.get("required")), type=click.Path())
    flag, default = argument.get("option") or f"--{name.replace('_', '-')}", argument.get("default")
    how: dict[str, Any] = {
        "help": argument.get("help", argument.get("description")),
        "default": default or None,
        "show_default": bool(default),
    }
    if argument["type"] == "boolean":
        return click.option(f"{flag}/--no-{name.replace('_', '-')}" if default else flag, name, **how | {"is_flag": True})
    callback = _pairs if argument["type"] == "object" else None
    how |= {"metavar": argument.get("metavar"), "multiple": several, "callback": callback, "type": _type(argument)}
    return click.option(flag, name, **how)


def _type(argument: Argument) -> Any:
    least, most = argument.get("minimum"), argument.get("maximum")
    if argument["type"] == "integer":
        return click.IntRange(least, most)
    if argument["type"] == "number":
        return Step(argument.get("exclusiveMinimum", least), most, min_open="exclusiveMinimum" in argument)
    return click.Path() if argument.get("path") else click.Choice(argument["enum"]) if "enum" in argument else str


def _pairs(_: click.Context, option: click.Parameter, given: tuple[str, ...]) -> Mapping[str, str]:
    """``ROLE=NAME`` pairs as a table."""
    wrong = [pair for pair in given if not all(pair.partition("=")[::2])]
    if wrong:
        raise click.UsageError(f"{option.opts[0]} takes ROLE=NAME, for example reward/mean=my_score; not {wrong[0]!r}")
    return dict(pair.split("=", 1) for pair in given)
