"""YAML and JSON as plain lists and maps: tags of Python objects are looked through, nothing is built from them."""

import re
from collections.abc import Iterator
from typing import Any

from rl_advisor.reading.parsing.config.values import measured, typed

_MAP = re.compile(r"(?m)^[\w\"'!.-][^\n:=]{0,120}:(?:[ \t]|$)|^[ \t]*+\{")
MOST_NODES, DEEPEST = 50_000, 100
"""What a configuration holds at most, each reference counted with all that it stands for; deeper ones overflow the parser's own stack."""


def of_yaml(text: str) -> dict[Any, Any]:
    """The map that a text is in YAML or JSON, without the name of a single behaviour before it; empty where it is none."""
    if not _MAP.search(text[:20_000]):
        return {}
    try:
        found = load_yaml(text.encode())
    except (ValueError, OverflowError, RecursionError):
        return {}
    return of_one_behaviour(found) if isinstance(found, dict) and _holds_settings(found) else {}


def load_yaml(text: bytes) -> Any:
    """What a YAML document holds, whatever its tags say of what should be built from it.

    Raises:
        ValueError: it is no YAML, or repeats itself by reference more often, or is nested deeper, than a configuration is.
    """
    import yaml

    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    try:
        _refuse_deep(text, loader)
        node = yaml.compose(text, loader)
        return None if node is None else _plain(node, iter(range(MOST_NODES)))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError("no YAML, or one that has no end, as a configuration has") from error


def _plain(node: Any, left: Iterator[int]) -> Any:
    """A node as map, list, number or text; times of day (``1:30:00``), numbers to the base of 60 to YAML, are text.

    Raises:
        ValueError: more nodes are met than there are ``left``, each reference counted with all that it stands for.
    """
    if next(left, None) is None:
        raise ValueError("repeats itself by reference more often than a configuration")
    if node.id == "sequence":
        values = [_plain(part, left) for part in node.value]
        return _pairs(values) if "python/" in node.tag else values
    if node.id == "mapping":
        pairs = [(_plain(key, left), _plain(value, left)) for key, value in node.value]
        merged = [inner for key, value in pairs if key == "<<" for inner in (value if isinstance(value, list) else [value])]
        own = {str(key) if isinstance(key, dict | list) else key: value for key, value in pairs if key != "<<"}
        return {key: value for inner in reversed(merged) if isinstance(inner, dict) for key, value in inner.items()} | own
    kind = node.tag.rpartition(":")[2]
    if kind == "bool":
        return node.value.lower() in ("true", "yes", "on")
    return None if kind == "null" else typed(node.value) if kind in ("int", "float") else node.value


def _refuse_deep(text: bytes, loader: Any) -> None:
    import yaml

    depth = 0
    for event in yaml.parse(text, loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError("nested deeper than a configuration is")


def of_one_behaviour(config: dict[Any, Any]) -> dict[Any, Any]:
    """The configuration, and where ML-Agents trains a single behaviour, what it says of that one without its name before it."""
    named = config.get("behaviors") or {k: v for k, v in config.items() if isinstance(v, dict) and "trainer" in v}
    only = next(iter(named.values())) if isinstance(named, dict) and len(named) == 1 else None
    return {**only, **config} if isinstance(only, dict) else config


def _holds_settings(found: dict[Any, Any]) -> bool:
    """Whether a map reads like settings: more than one name, or maps inside; a line of prose with a colon is a map to YAML, too."""
    if measured(found):
        return False
    names = [isinstance(k, str) and bool(re.fullmatch(r"[A-Za-z_][\w.@/-]{0,120}", k)) for k in found]
    if 2 * sum(names) < len(names):
        return False
    return all(isinstance(k, str | int) for k in found) and (len(found) > 1 or any(isinstance(v, dict) for v in found.values()))


def _pairs(values: list[Any]) -> Any:
    """The map that an OrderedDict's list of pairs stands for; other lists as they are."""
    inner = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    if inner and all(isinstance(v, list) and len(v) == 2 and isinstance(v[0], str) for v in inner):
        return {v[0]: v[1] for v in inner}
    return values
