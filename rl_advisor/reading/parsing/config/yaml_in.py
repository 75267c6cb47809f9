"""YAML and JSON as plain lists and maps: tags of Python objects are looked through, nothing is built from them."""

import re
from typing import Any

from rl_advisor.reading.parsing.bytes_in import LONGEST_WHOLE
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
    """What a YAML document holds.

    Raises:
        ValueError: it is no YAML, or repeats itself by reference more often, or is nested deeper, than a configuration is.
    """
    import yaml

    class Plain(yaml.SafeLoader if not yaml.__with_libyaml__ else yaml.CSafeLoader):  # type: ignore[misc]
        """A safe loader that looks through Python tags instead of refusing the file."""

    def plain(loader: Any, _suffix: str, node: Any) -> Any:
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return _pairs(loader.construct_sequence(node, deep=True))
        return loader.construct_scalar(node)

    def number(loader: Any, node: Any) -> Any:
        """A number; times of day (``1:30:00``), which YAML takes for numbers to the base of 60, and endless ones are text."""
        written = str(loader.construct_scalar(node))
        if ":" in written or len(written) > LONGEST_WHOLE:
            return typed(written)
        return loader.construct_yaml_int(node) if node.tag.endswith(":int") else loader.construct_yaml_float(node)

    Plain.add_multi_constructor("tag:yaml.org,2002:python/", plain)
    for kind in ("int", "float"):
        Plain.add_constructor(f"tag:yaml.org,2002:{kind}", number)
    try:
        _refuse_deep(text, Plain)
        loader = Plain(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _counted(node, {})
        return loader.construct_document(node)
    except yaml.YAMLError as error:
        raise ValueError("no YAML") from error


def _refuse_deep(text: bytes, loader: Any) -> None:
    import yaml

    depth = 0
    for event in yaml.parse(text, loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError("nested deeper than a configuration is")


def _counted(node: Any, known: dict[int, int]) -> int:
    """Nodes that it holds once every reference in it is written out.

    Raises:
        ValueError: they are more than a configuration holds, or it refers to itself.
    """
    if id(node) not in known:
        known[id(node)] = MOST_NODES  # met again inside itself, it has no end
        parts = [p for pair in node.value for p in pair] if node.id == "mapping" else node.value if node.id == "sequence" else []
        known[id(node)] = 1 + sum(_counted(part, known) for part in parts)
    if known[id(node)] > MOST_NODES:
        raise ValueError("repeats itself by reference more often than a configuration")
    return known[id(node)]


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
