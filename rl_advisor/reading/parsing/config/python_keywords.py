"""Settings in a training script: keywords of calls, defaults of arguments and fields, dictionaries. The script is parsed, never run."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from rl_advisor.reading.parsing.config.rewards import of_rewards
from rl_advisor.reading.parsing.config.values import VALUE_LIMIT

CALLS = "script.calls"
"""The key under which the names stand that a script calls."""
NODE_LIMIT = 60_000
DEPTH_LIMIT = 60
_MAIN = ("Config", "Args", "Arguments", "Trainer", "training", "train", "learn", "Namespace")
_ALGORITHMS = re.compile(r"(?:Maskable|Recurrent)?(?:PPO[12]?|A2C|DQN|SAC|TD3|DDPG|TRPO|TQC|QRDQN|ARS|CrossQ|ACKTR|ACER|GAIL|HER)")


def of_python(text: str) -> dict[str, Any]:
    """The settings of a script by their keywords (``Call.keyword`` for calls that make no trainer); empty for what is no Python."""
    tree = _parsed(text)
    if tree is None:
        return {}
    known: dict[str, Any] = {}
    found: dict[str, Any] = {}
    calls: list[str] = []
    for number, node in enumerate(ast.walk(tree)):
        if number > NODE_LIMIT:
            break
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            _assigned(node.targets[0].id, node.value, known, found)
        elif isinstance(node, ast.ClassDef) and node.name.endswith(("Args", "Config", "Arguments")):
            found |= dict(_fields(node, known))
        elif isinstance(node, ast.Call) and (name := _name(node.func)):
            calls.append(name)
            found |= dict(_keywords(name, node, known))
    if not found and not calls:
        return {}
    return found | of_rewards(tree) | ({CALLS: sorted(set(calls))[:400]} if calls else {})


def _parsed(text: str) -> ast.Module | None:
    """The syntax tree; None for what is no Python, or is nested deeper than a script is."""
    depth = deepest = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    if deepest > DEPTH_LIMIT or "\0" in text:
        return None
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _assigned(name: str, node: ast.expr, known: dict[str, Any], found: dict[str, Any]) -> None:
    """A constant is kept to be put in where its name is used; the items of a dictionary are settings."""
    value = _value(node, known)
    if value is not _UNKNOWN:
        known[name] = value
        if name.isupper() or name.endswith(("_rate", "_coef", "timesteps")):
            found.setdefault(name.lower(), value)
    for keys, item in _items(node):
        inner = _value(item, known)
        if inner is not _UNKNOWN:
            found[f"{name}.{keys}"] = inner


def _items(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The items of a dictionary by their names; of ``dict(a=1)``, too."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value[:120], value
    elif isinstance(node, ast.Call) and _name(node.func) == "dict":
        yield from ((k.arg, k.value) for k in node.keywords if k.arg)


def _fields(node: ast.ClassDef, known: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields of a class of arguments with their defaults."""
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.value is not None:
            value = _value(line.value, known)
            if value is not _UNKNOWN:
                yield line.target.id, value


def _keywords(name: str, node: ast.Call, known: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The keywords of a call with values that can be told."""
    if name == "add_argument" and node.args and isinstance(node.args[0], ast.Constant):
        default = next((_value(k.value, known) for k in node.keywords if k.arg == "default"), _UNKNOWN)
        if default is not _UNKNOWN:
            yield str(node.args[0].value).lstrip("-").replace("-", "_")[:120], default
        return
    main = bool(_ALGORITHMS.fullmatch(name)) or name.endswith(_MAIN)
    for keyword in node.keywords:
        value = _value(keyword.value, known)
        if keyword.arg and value is not _UNKNOWN:
            yield (keyword.arg if main else f"{name}.{keyword.arg}"), value
    if name == "learn" and node.args and (steps := _value(node.args[0], known)) is not _UNKNOWN:
        yield "total_timesteps", steps


_UNKNOWN = object()


def _value(node: ast.expr, known: dict[str, Any]) -> Any:  # noqa: PLR0911 - one return a kind of expression
    """The constant that an expression stands for, with known names put in; functions and classes by their name; else _UNKNOWN."""
    if isinstance(node, ast.Constant):
        return node.value[:VALUE_LIMIT] if isinstance(node.value, str) else node.value if isinstance(node.value, _PLAIN) else _UNKNOWN
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _value(node.operand, known)
        return -inner if isinstance(inner, int | float) else _UNKNOWN
    if isinstance(node, ast.Name):
        return known.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return _name(node) or _UNKNOWN
    if isinstance(node, ast.List | ast.Tuple):
        values = [_value(v, known) for v in node.elts[:20]]
        return _UNKNOWN if any(v is _UNKNOWN for v in values) else values
    if isinstance(node, ast.BinOp):
        return _computed(_value(node.left, known), node.op, _value(node.right, known))
    return _name(node.func) or _UNKNOWN if isinstance(node, ast.Call) else _UNKNOWN


_PLAIN = (bool, int, float, str, type(None))


def _computed(left: Any, operator: ast.operator, right: Any) -> Any:
    """The product or quotient of two numbers; other arithmetic is not done."""
    if not (isinstance(left, int | float) and isinstance(right, int | float)):
        return _UNKNOWN
    if isinstance(operator, ast.Mult):
        return float(left) * float(right) if isinstance(left, float) or isinstance(right, float) else left * right
    return left / right if isinstance(operator, ast.Div) and right else _UNKNOWN


def _name(node: ast.expr) -> str:
    """The last part of a called name."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
