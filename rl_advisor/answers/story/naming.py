"""A run's own metric names in every sentence about it: what its owner can paste into a search, not what we call it."""

import re
from collections.abc import Mapping
from typing import Any

from rl_advisor.assessment import Assessment

KEPT = frozenset({"metric", "names", "untrusted", "pattern", "path", "run", "config"})
"""Fields that hold a name of ours for programs, or words that are not ours to change."""


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """``value`` with our metric names replaced by the run's own in every text, keys and names for programs left alone."""
    if not names:
        return value
    pattern = re.compile(r"(?<![\w/])(?:" + "|".join(re.escape(n) for n in sorted(names, key=len, reverse=True)) + r")(?![\w/])")
    return _each(value, lambda text: pattern.sub(lambda m: names[m[0]], text))


def named(a: Assessment, names: Mapping[str, str]) -> Assessment:
    """The assessment in the run's own names."""
    return Assessment.model_validate(renamed(a.model_dump(by_alias=True), names))


def _each(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_each(v, change) for v in value)
    if isinstance(value, list):
        return [_each(v, change) for v in value]
    if isinstance(value, dict):
        return {k: v if k in KEPT else _each(v, change) for k, v in value.items()}
    return value
