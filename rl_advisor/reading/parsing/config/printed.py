"""The configuration that a trainer prints into its log: a dictionary, a namespace, a table of arguments, a list of hyperparameters."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from rl_advisor.reading.parsing.config.values import TEXT_LIMIT, measured, typed, typed_flat
from rl_advisor.run import Named

_OPENS = re.compile(r"(?m)(?:^|[ \t:=])(?:(Namespace|OrderedDict|\w{0,40}(?:Config|Args|Arguments))\(|(\{)(?=['\"]))")
_PAIR = re.compile(r"(?m)[(\s,]([A-Za-z_]\w{0,80})=('[^'\n]{0,300}'|\"[^\"\n]{0,300}\"|\[[^\]\n]{0,300}\]|[^,()\s]{1,200})")
_DOTTED = re.compile(r"(?m)^\s{0,40}(?:\[[^\]\n]{0,60}\]:?\s{0,4})?([A-Za-z_]\w{0,80}) ?\.{3,60} ?(\S[^\n]{0,200})$")
_LISTED = re.compile(r"(?m)^[ \t]{1,20}([a-z_]{2,60}):[ \t]{1,20}(\S[^\n]{0,200})$")
_HEAD = re.compile(r"(?i)hyperparameters?(?: for behaviou?r name)?[^\n]{0,80}:[ \t]*$", re.MULTILINE)
_FEWEST = 3


def of_print(text: str) -> Named:
    """The settings printed in a log, by the keys they are printed under; empty where nothing looks like a configuration."""
    text = text[:TEXT_LIMIT]
    found: Named = {}
    for block in _blocks(text):
        found = _of_block(block) | found
    dotted = {m.group(1): typed(m.group(2)) for m in _DOTTED.finditer(text)}
    found |= dotted if len(dotted) >= _FEWEST else {}
    for head in list(_HEAD.finditer(text))[:5]:
        listed = {m.group(1): typed(m.group(2)) for m in _LISTED.finditer(text[head.end() : head.end() + 4_000])}
        found |= listed if len(listed) >= _FEWEST else {}
    return found


def _blocks(text: str) -> Iterator[str]:
    """The first few texts between matching brackets that open like a configuration."""
    end = 0
    for opening in _OPENS.finditer(text):
        if opening.start() < end:
            continue
        start = opening.start(1) if opening.group(1) else opening.start(2)
        end = _closed(text, text.index("(" if opening.group(1) else "{", start))
        if end:
            yield text[start:end]
        end = max(end, opening.end())


def _closed(text: str, start: int, limit: int = 60_000) -> int:
    """Behind the bracket that closes the one at ``start``, quotes looked through; 0 where it does not close within ``limit``."""
    depth, quote = 0, ""
    for place in range(start, min(len(text), start + limit)):
        character = text[place]
        if quote:
            quote = "" if character == quote and text[place - 1] != "\\" else quote
        elif character in "'\"":
            quote = character
        else:
            depth += (character in "([{") - (character in ")]}")
            if not depth:
                return place + 1
    return 0


def _of_block(block: str) -> Named:
    """The settings of one printed block; empty for a row of metrics."""
    if block.startswith("OrderedDict"):
        block = block[len("OrderedDict(") : -1]
    if block[0] in "{[":
        try:
            value = ast.literal_eval(block)
            table = dict(value)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            return {}
        return typed_flat(table) if _is_configuration(table) else {}
    pairs = {m.group(1): typed(m.group(2)) for m in _PAIR.finditer(block)}
    return pairs if len(pairs) >= _FEWEST else {}


def _is_configuration(table: dict[Any, Any]) -> bool:
    """Whether a printed dictionary holds settings and no row of metrics: maps inside, or words and truth values, and no loss."""
    if measured(table):
        return False
    inner = any(isinstance(v, dict) for v in table.values())
    words = sum(isinstance(v, str | bool) for v in table.values())
    return inner or words >= _FEWEST or ("learning_rate" in table and "epoch" not in table)
