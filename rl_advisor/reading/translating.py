"""A part with a framework's own names becomes one in our words, by the framework's dialect."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from rl_advisor.reading.parsing.config.values import typed
from rl_advisor.run import Curve, Named, Run
from rl_advisor.vocabulary import Dialect
from rl_advisor.vocabulary.dialects import dialects

CHANCE_NAMES = 5
"""Among more names than these a single mark may be there by chance."""
NAME_LIMIT = 300
"""Longer raw names are nobody's, and patterns are not tried on them."""


@dataclass(frozen=True)
class Translated:
    """One curve in our words, with what is needed to choose between several that mean the same."""

    curve: Curve
    base: str
    """The raw name without the prefix of a sink."""
    order: int
    """Place in the dialect's table: of two raw names that mean the same the earlier is preferred."""
    beside: str = ""
    """Our name for it where another raw name has taken its own."""
    printed: bool = False
    """Whether it was printed for people, who are shown fewer digits than a tracker keeps: files that keep all go first."""


def recognise(names: Iterable[str]) -> Dialect | None:
    """The dialect of which most marks are among the raw names; None when no mark is, or just one among many other names."""
    return _recognised(frozenset(names))


@lru_cache(1_000)
def _recognised(seen: frozenset[str]) -> Dialect | None:
    scores = [(sum(mark in seen or any(p + mark in seen for p in d.prefixes) for mark in d.marks), d) for d in dialects().values()]
    best = max((score for score, _ in scores), default=0)
    return next(d for score, d in scores if score == best) if best > (len(seen) > CHANCE_NAMES) else None


def translate(part: Run, dialect: Dialect | None, mapping: Mapping[str, str]) -> list[Translated]:
    """The part's curves in our words; ``mapping`` (raw name -> our name) goes before the dialect."""
    order = {raw: i for i, raw in enumerate(dialect.metrics)} if dialect else {}
    return [_one(curve, dialect, mapping, order) for curve in part.curves.values()]


def _one(curve: Curve, dialect: Dialect | None, mapping: Mapping[str, str], order: Mapping[str, int]) -> Translated:
    base = stripped(curve.raw, dialect)
    chosen = mapping.get(curve.raw) or mapping.get(base)
    name = chosen or our_name(curve.raw, dialect)
    if name is None or dialect is None:
        return Translated(replace(curve, name=name or base, mapped=name is not None), base, -1)
    scale, offset = (1.0, 0.0) if chosen else dialect.affine.get(base, dialect.affine.get(curve.raw, (1.0, 0.0)))
    value = curve.value if (scale, offset) == (1.0, 0.0) else curve.value * scale + offset
    note = "; ".join(text for text in (curve.note, dialect.notes.get(name, "")) if text)
    known = replace(curve, name=name, value=value, mapped=True, note=note, trailing=dialect.trailing.get(base, 0))
    return Translated(known, base, -1 if chosen else order.get(base, len(order)), "" if chosen else dialect.beside.get(base, ""))


def stripped(raw: str, dialect: Dialect | None) -> str:
    """The raw name without the prefix that a sink puts before it, unless the dialect knows the whole name."""
    if dialect is None or raw in dialect.metrics:
        return raw
    return next((raw.removeprefix(prefix) for prefix in dialect.prefixes if raw.startswith(prefix)), raw)


def our_name(raw: str, dialect: Dialect | None) -> str | None:
    """What we call it; None when the dialect does not say."""
    if dialect is None or len(raw) > NAME_LIMIT:
        return None
    for name in dict.fromkeys((raw, stripped(raw, dialect))):
        if name in dialect.metrics:
            return dialect.metrics[name]
        for pattern, template in dialect.patterns:
            match = re.fullmatch(pattern, name)
            if match:
                return match.expand(template)
    return None


def settings_of(config: Mapping[str, Any], dialect: Dialect | None) -> Named:
    """The part of a configuration that we understand, in our keys; null, and counts that are not positive, are left out."""
    out: Named = {}
    for key, ours in (dialect.config if dialect else {}).items():
        value = typed(config.get(key))
        if isinstance(value, float) and value.is_integer() and abs(value) >= 1:  # a table of parameters holds numbers as text
            value = int(value)
        counts = ours in ("planned_steps", "eval_every", "save_every")
        if not (value is None or ours in out or (counts and (isinstance(value, str | bool) or value <= 0))):
            out[ours] = value
    return out
