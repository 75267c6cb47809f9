"""What the reward functions of a script look at: the patterns they match, and whether they look for one text inside another."""

import ast
import re
from collections.abc import Iterator

from rl_advisor.run import Named

PATTERNS = "script.rewards.patterns"
"""Key: the regular expressions that reward functions match, each as ``function: pattern``."""
CONTAINS = "script.rewards.contains"
"""Key: the reward functions that look whether one text stands inside another."""
FUNCTIONS = "script.rewards"
"""Key: the names of the reward functions."""
_REWARD = re.compile(r"(?i)reward|score|correct|accuracy|verif|grade|format")
_MATCHING = ("match", "search", "fullmatch", "findall", "compile", "finditer")


def of_rewards(tree: ast.Module) -> Named:
    """What the functions of a script that sound like rewards look at; empty where there are none."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _REWARD.search(node.name)][:40]
    patterns = [f"{f.name}: {p}" for f in functions for p in _patterns(f)]
    contains = [f.name for f in functions if any(_inside(node) for node in ast.walk(f))]
    told: Named = {FUNCTIONS: [f.name for f in functions], PATTERNS: patterns[:40], CONTAINS: contains}
    return {key: value for key, value in told.items() if value}


def _patterns(function: ast.FunctionDef) -> Iterator[str]:
    """The patterns that a function matches, where they stand in it."""
    texts = {t.id: n.value.value for n in ast.walk(function) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant)
             for t in n.targets if isinstance(t, ast.Name) and isinstance(n.value.value, str)}  # fmt: skip
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MATCHING and node.args:
            first = node.args[0]
            text = first.value if isinstance(first, ast.Constant) else texts.get(first.id) if isinstance(first, ast.Name) else None
            if isinstance(text, str):
                yield text[:200]


def _inside(node: ast.AST) -> bool:
    """Whether it is ``answer in response`` between two things that are computed, not ``x in ("a", "b")``."""
    computed = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], ast.In)
        and isinstance(node.left, computed)
        and isinstance(node.comparators[0], computed)
    )
