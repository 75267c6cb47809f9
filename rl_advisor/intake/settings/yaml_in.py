"""YAML and JSON as plain lists and maps: tags of Python objects are looked through, nothing is built from them."""

import re
from typing import Any

from rl_advisor.intake.settings.values import measured

_MAP = re.compile(r"(?m)^[\w\"'!.-][^\n:=]{0,120}:(?:[ \t]|$)|^\s*\{")
_ALIAS_LIMIT = 200
DEEPEST = 60
"""Levels of a configuration; brackets in text count as well."""


def of_yaml(text: str) -> dict[Any, Any]:
    """The map that a text is in YAML or JSON, without the name of a single behaviour before it; empty where it is none."""
    import yaml

    if not _MAP.search(text[:20_000]):
        return {}
    try:
        found = load_yaml(text.encode())
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return {}
    return of_one_behaviour(found) if isinstance(found, dict) and _holds_settings(found) else {}


def load_yaml(text: bytes) -> Any:
    """What a YAML document holds.

    Raises:
        yaml.YAMLError: it is no YAML.
        ValueError: it repeats itself by reference more often, or is nested deeper, than a configuration is.
    """
    import yaml

    if text.count(b"*") > _ALIAS_LIMIT and len(re.findall(rb"(?m)[:\-\[,] ?\*\w", text)) > _ALIAS_LIMIT:
        raise ValueError("too many aliases for a configuration")
    if _too_deep(text):
        raise ValueError("nested deeper than a configuration is")

    class Plain(yaml.SafeLoader if not yaml.__with_libyaml__ else yaml.CSafeLoader):  # type: ignore[misc]
        """A safe loader that looks through Python tags instead of refusing the file."""

    def plain(loader: Any, _suffix: str, node: Any) -> Any:
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return _pairs(loader.construct_sequence(node, deep=True))
        return loader.construct_scalar(node)

    Plain.add_multi_constructor("tag:yaml.org,2002:python/", plain)
    loader = Plain(text)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def _too_deep(text: bytes) -> bool:
    """Whether a text is nested so deep that libyaml, which recurses, would overrun its stack."""
    depth = 0
    for bracket in re.finditer(rb"[\[{\]}]", text):
        depth = max(0, depth + (1 if bracket.group() in b"[{" else -1))
        if depth > DEEPEST:
            return True
    return re.search(rb"(?m)^(?: {%d}|(?:[ \t]{0,4}[-?:] ){%d})" % (8 * DEEPEST, DEEPEST), text) is not None


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
