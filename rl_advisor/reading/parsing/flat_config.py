"""A nested configuration becomes one flat table with dotted names, bounded."""

from collections.abc import Iterator, Mapping
from typing import Any

from rl_advisor.run import Named

KEY_LIMIT = 3_000
TEXT_LIMIT = 500
VISIT_LIMIT = 60_000
"""Names that are looked at, whether or not their values are of a kind that is kept."""


def flat(config: Mapping[Any, Any]) -> Named:
    """Dotted name -> number, text, bool, None or short list of such; at most 3,000 names and ten levels."""
    out: Named = {}
    _fill(out, config, "", 0, iter(range(VISIT_LIMIT)))
    return out


def _fill(out: Named, config: Mapping[Any, Any], prefix: str, depth: int, left: Iterator[int]) -> None:
    for key, value in config.items():
        if len(out) >= KEY_LIMIT or depth > 10 or next(left, None) is None:
            return
        name = f"{prefix}{key}"[:200]
        if isinstance(value, Mapping):
            inner = value["value"] if set(value) <= {"value", "desc"} and "value" in value else value  # a W&B config.yaml
            if isinstance(inner, Mapping):
                _fill(out, inner, f"{name}.", depth + 1, left)
                continue
            value = inner  # noqa: PLW2901
        if isinstance(value, str):
            out[name] = value[:TEXT_LIMIT]
        elif value is None or isinstance(value, bool | int | float):
            out[name] = value
        elif isinstance(value, list) and len(value) <= 20 and all(isinstance(v, str | int | float | None) for v in value):
            out[name] = [v[:TEXT_LIMIT] if isinstance(v, str) else v for v in value]
