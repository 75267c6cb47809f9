"""Settings in a training script: keywords of calls, defaults of arguments and fields, dictionaries. The script is parsed, never run."""

import ast
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from rl_advisor.reading.parsing.config.rewards import of_rewards
from rl_advisor.reading.parsing.config.values import VALUE_LIMIT
from rl_advisor.run import Named

CALLS = "script.calls"
"""The key under which the names stand that a script calls."""
NODE_LIMIT = 60_000
DEPTH_LIMIT = 60
_MAIN = ("Config", "Args", "Arguments", "Trainer", "training", "train", "learn", "Namespace")
_ALGORITHMS = re.compile(r"(?:Maskable|Recurrent)?(?:PPO[12]?|A2C|DQN|SAC|TD3|DDPG|TRPO|TQC|QRDQN|ARS|CrossQ|ACKTR|ACER|GAIL|HER)")


def of_python(text: str) -> Named:
    """The settings of a script by their keywords (``Call.keyword`` for calls that make no trainer); empty for what is no Python."""
    tree = _parsed(text)
    if tree is None:
        return {}
    known: Named = {}
    found: Named = {}
    for node in islice(ast.walk(tree), NODE_LIMIT):
        if isinstance(node, ast.Assign) and (name := _name(node.targets[0])) and (value := _value(node.value, known)) is not _UNKNOWN:
            known[name] = value  # put in where its name is used
            if name.isupper() or name.endswith(("_rate", "_coef", "timesteps")):
                found.setdefault(name.lower(), value)
        found |= {key: value for key, node in _given(node) if (value := _value(node, known)) is not _UNKNOWN}
    calls = {_name(node.func) for node in islice(ast.walk(tree), NODE_LIMIT) if isinstance(node, ast.Call)} - {""}
    return found | of_rewards(tree) | {CALLS: sorted(calls)[:400]} if calls else found


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


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What a piece of a script sets: items of a dictionary, fields of a class of arguments, keywords of a call, defaults of arguments."""
    if isinstance(node, ast.Assign):
        whole, name = node.value, _name(node.targets[0])
        if isinstance(whole, ast.Dict):
            for key, value in zip(whole.keys, whole.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield f"{name}.{key.value[:120]}", value
        elif isinstance(whole, ast.Call) and _name(whole.func) == "dict":
            yield from ((f"{name}.{k.arg}", k.value) for k in whole.keywords if k.arg)
    elif isinstance(node, ast.ClassDef) and node.name.endswith(("Args", "Config", "Arguments")):
        yield from ((_name(line.target), line.value) for line in node.body if isinstance(line, ast.AnnAssign) and line.value is not None)
    elif isinstance(node, ast.Call) and (name := _name(node.func)):
        if name == "add_argument" and node.args and isinstance(node.args[0], ast.Constant):
            argument = str(node.args[0].value).lstrip("-").replace("-", "_")[:120]
            yield from ((argument, k.value) for k in node.keywords if k.arg == "default")
            return
        main = bool(_ALGORITHMS.fullmatch(name)) or name.endswith(_MAIN)
        yield from ((k.arg if main else f"{name}.{k.arg}", k.value) for k in node.keywords if k.arg)
        if name == "learn" and node.args:
            yield "total_timesteps", node.args[0]


_UNKNOWN = object()


def _value(node: ast.expr, known: Named) -> Any:
    """The constant that an expression stands for, with known names put in; functions and classes by their name; else _UNKNOWN."""
    found: Any = _UNKNOWN
    match node:
        case ast.Constant(value=str() as text):
            found = text[:VALUE_LIMIT]
        case ast.Constant(value=bool() | int() | float() | None as value):
            found = value
        case ast.UnaryOp(op=ast.USub()):
            found = _computed(-1, ast.Mult(), _value(node.operand, known))
        case ast.Name(id=name):
            found = known.get(name, name)
        case ast.Attribute(attr=name) | ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            found = name
        case ast.List() | ast.Tuple():
            values = [_value(v, known) for v in node.elts[:20]]
            found = _UNKNOWN if _UNKNOWN in values else values
        case ast.BinOp():
            found = _computed(_value(node.left, known), node.op, _value(node.right, known))
    return found


def _computed(left: Any, operator: ast.operator, right: Any) -> Any:
    """The product or quotient of two numbers; other arithmetic is not done."""
    if not (isinstance(left, int | float) and isinstance(right, int | float)):
        return _UNKNOWN
    if isinstance(operator, ast.Mult):
        return left * right
    return left / right if isinstance(operator, ast.Div) and right else _UNKNOWN


def _name(node: ast.expr) -> str:
    """The last part of a called name."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
