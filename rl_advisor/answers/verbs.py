"""The table of verbs (``verbs.toml``) as Python knows it; doors make their commands, tools and models of arguments from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from rl_advisor.discovery import table
from rl_advisor.output import Answer

if TYPE_CHECKING:
    from pydantic import BaseModel

    Model = TypeVar("Model", bound=BaseModel)

Argument = Answer
"""What is said of an argument, in the words of JSON Schema and those that the head of the table explains."""
_KINDS: Answer = {"string": str, "integer": int, "number": float, "boolean": bool}
_BOUNDS = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
    "maxProperties": "max_length",
}
_TOLD = ("type", "enum", "description", "default")
"""What a model is told of an argument; bounds are kept anyway, with an error that names the field."""


@dataclass(frozen=True)
class Verb:
    """One entry of the table."""

    name: str
    arguments: Mapping[str, Argument]
    title: str = ""
    says: str = ""
    reach: str = ""
    about: str = ""
    function: str = ""
    table: str = ""
    command: str = ""
    words: tuple[str, ...] = ("run",)
    verb: str = ""
    """Of a command: the verb whose arguments come before its own."""
    brief: str = ""
    model: bool = False
    bench: bool = False
    """Whether it is asked of what a judging model has before it, and of nothing else."""
    longest: int = 4000
    """Tokens of what a judging model is given."""

    @property
    def paths(self) -> list[str]:
        """The arguments that name something on disk."""
        return [name for name, argument in self.arguments.items() if argument.get("path")]


@cache
def verbs() -> Mapping[str, Verb]:
    """The verbs by their names."""
    return entries(table(__file__, "verbs.toml"), "verb")


def entries(held: Answer, kind: str) -> Mapping[str, Verb]:
    """The entries of a table by their names; what several take is said once, and completed where one differs."""
    shared: Mapping[str, Argument] = held["argument"]

    def entry(name: str, takes: list[str], argument: Mapping[str, Argument] = {}, **rest: Any) -> Verb:
        return Verb(name, arguments={a: {**shared.get(a, {}), **argument.get(a, {})} for a in takes}, **rest)

    return {name: entry(name, **said) for name, said in held[kind].items()}


def model_of(name: str, arguments: Mapping[str, Argument], base: "type[Model]") -> "type[Model]":
    """The arguments as a model that checks them."""
    from pydantic import create_model

    return create_model(name, __base__=base, **{a: _field(said) for a, said in arguments.items()})  # type: ignore[call-overload,no-any-return]


def schema_of(arguments: Mapping[str, Argument], said: set[str]) -> Answer:
    """The arguments as a JSON schema, without what names, errors and earlier descriptions (``said``) say: every client pays for it."""
    told: Answer = {}
    for name, argument in arguments.items():
        told[name] = {word: argument[word] for word in _TOLD if argument.get(word)}
        if told[name].get("description") in said:
            del told[name]["description"]
        if "items" in argument:
            told[name]["items"] = {"type": argument["items"]["type"]}
        said |= {argument.get("description", "")}
    required = [name for name, argument in arguments.items() if argument.get("required")]
    return {"type": "object", **({"properties": told} if told else {}), **({"required": required} if required else {})}


def _field(argument: Argument) -> tuple[Any, Any]:
    kind = _kind(argument)
    if argument.get("required"):
        return kind, ...
    default = argument.get("default", {"array": [], "object": {}, "boolean": False}.get(argument["type"]))
    return (kind | None if default is None else kind), default


def _kind(argument: Argument) -> Any:
    from pydantic import Field

    bounds: Answer = {ours: argument[theirs] for theirs, ours in _BOUNDS.items() if theirs in argument}
    if argument["type"] == "array":
        return Annotated[list[_kind(argument["items"])], Field(**bounds)]  # type: ignore[misc]
    if argument["type"] == "object":
        return Annotated[dict[str, str], Field(**bounds)]
    if "enum" in argument:
        return Literal[tuple(argument["enum"])]
    if argument["type"] == "number":
        bounds["allow_inf_nan"] = False
    return Annotated[_KINDS[argument["type"]], Field(**bounds)]
