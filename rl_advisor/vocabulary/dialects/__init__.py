"""What each framework calls things: a file a framework, its fields those of :class:`Dialect`, and nothing else to do for a new one."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from rl_advisor.vocabulary import Dialect


@cache
def dialects() -> Mapping[str, Dialect]:
    """Every dialect by the name of its framework, in alphabetical order.

    Raises:
        TypeError: a file lacks ``name``, ``marks`` or ``metrics``, or holds a field that no dialect has; the message says which.
    """
    files = sorted(Path(__file__).parent.glob("*.toml"))
    read = (Dialect(**_frozen(tomllib.loads(file.read_text(encoding="utf-8")))) for file in files)
    return {dialect.name: dialect for dialect in read}


def _frozen(value: Any) -> Any:
    """Lists as tuples, however deep."""
    if isinstance(value, dict):
        return {name: _frozen(inner) for name, inner in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
