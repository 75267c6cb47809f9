"""A response as something to read: head and tail, what was cut marked, with where it stands."""

import re
from itertools import islice
from typing import Any

import numpy as np

from rl_advisor.features.text.secrets import masked
from rl_advisor.samples.rows import Series, where

HEAD, TAIL = 700, 500
"""Characters kept from the beginning and the end of a long text."""
_CONTINUES = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u0941-\u094d\u1ab0-\u1aff\u1dc0-\u1dff\u200d\u20d0-\u20ff\ufe00-\ufe2f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
"""Combining marks, joiners, variants, tones and tags."""
_OURS = frozenset(
    {"step", "prompt", "response", "reward", "advantage", "group", "length", "truncated", "split", "source", "row", "cluster", "tool_calls"}
)


def excerpt(text: str, head: int = HEAD, tail: int = TAIL) -> str:
    """Head and tail of a text with a mark that says how much was cut; no lone surrogate, no part of a character or of a key."""
    text = masked(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    if len(text) <= head + tail:
        return text
    start, end = _boundary(text, head), _boundary(text, len(text) - tail)
    return f"{text[:start]} [... {end - start} characters cut ...] {text[end:]}"


def _boundary(text: str, at: int) -> int:
    """The nearest place at or before ``at`` where no character is taken apart: not before a combining mark, a joiner or behind one."""
    return next((i for i in range(at, max(at - 32, 0), -1) if not _CONTINUES.match(text[i]) and text[i - 1] != "\u200d"), at)


def shown(row: Series) -> dict[str, Any]:
    """One response for reading: excerpts, step, group, reward and its components, the file's other columns, file and row."""
    known = row.drop(["prompt", "response", "turns"], errors="ignore").dropna()
    cells = {str(k): v if isinstance(v, bool | int | float | np.generic) else excerpt(str(v), 200, 100) for k, v in known.items()}
    parts = {k.removeprefix("reward/"): v for k, v in cells.items() if k.startswith("reward/")}
    more = {k: v for k, v in cells.items() if k not in _OURS and not k.startswith("reward/")}
    return {
        **where(row, row.name if isinstance(row.name, int) else 0),
        "group": str(row.get("group", "")),
        "reward": cells.get("reward"),
        **({"components": parts} if parts else {}),
        **{k: cells[k] for k in ("advantage", "length", "truncated", "tool_calls") if k in cells},
        **({"other": dict(islice(more.items(), 12))} if more else {}),
        "prompt": excerpt(str(row.get("prompt", ""))),
        "response": excerpt(str(row["response"])),
    }
