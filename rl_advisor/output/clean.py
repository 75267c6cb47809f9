"""The one door through which everything passes that a person or a model will read: clean text, finite numbers, bounded size.

A run folder may be hostile: its text can carry terminal escapes, invisible instructions, keys of somebody's account, or half a
character that stops a server. ``clean`` makes any value safe to encode, ``untrusted`` marks words that the run wrote, and
``fit`` (in :mod:`rl_advisor.output.budget`) keeps an answer short and says what it left out.
"""

import dataclasses
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import date
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import Any

from rl_advisor.features.text.secrets import MASK, masked
from rl_advisor.output.disguised_text import is_disguised
from rl_advisor.vocabulary.dialects import dialects

DIGITS = 5
"""Significant digits of a number in an answer: more than any estimate deserves, few enough to read."""
LONGEST_TEXT = 20_000
DEEPEST = 24
LARGEST_INTEGER = 2**53
"""Beyond this a reader that holds numbers as doubles would change them."""

_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[@-Z\\^_])")
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x85]")
# Half characters, which cannot be encoded, and so stop a server that tries to.
_HALVES = re.compile("[\ud800-\udfff]")
# What a person does not see and a model does: controls, directions, zero widths, tags, variation selectors, fillers.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_SECRET_KEY = re.compile(
    r"(?i)(?:^|[_./-])(?:api_?key|access_?key|private_?key|secret|secret_?key|passw(?:or)?d|credentials?|auth|cookie"
    r"|(?:auth|access|hub|hf|api|bearer|wandb|session)_?token)$"
)
_SENTENCE_WORDS, _LONG_NAME, _LONG_PATH = 4, 100, 400


def readable(text: str, longest: int = LONGEST_TEXT) -> str:
    """The text without escapes, invisible characters, half characters and keys, cut in the middle at ``longest`` characters.

    A cut is stated in the text.
    """
    if len(text) > 4 * longest + 1000:
        text = text[: 2 * longest] + text[-2 * longest :]
    text = _LINE_ENDS.sub("\n", _TERMINAL.sub("", text))
    text = masked(_HALVES.sub("\ufffd", _UNSEEN.sub("", text)))
    if len(text) <= longest:
        return text
    head = longest * 2 // 3
    return f"{text[:head]} [... {len(text) - longest} characters cut ...] {text[len(text) - (longest - head) :]}"


def rounded(value: float) -> float | int | None:
    """The number to ``DIGITS`` significant digits, but never coarser than 1; whole numbers stay exact, NaN and infinity are None."""
    if not math.isfinite(value):
        return None
    if value == int(value) and abs(value) < LARGEST_INTEGER:
        return int(value)
    if 10**DIGITS <= abs(value) < LARGEST_INTEGER:
        return round(value)
    short = float(f"{value:.{DIGITS}g}")
    # The largest numbers of all round up to infinity; what is nearly sure does not round up to certainty.
    return short if math.isfinite(short) and (short != 1 or value >= 1) else value


def clean(value: Any) -> Any:
    """``value`` as plain JSON: dicts, lists, text, numbers, booleans, None; safe to encode and to show.

    Raises:
        TypeError: a kind of value that has no place in an answer; that is a bug of the caller.
    """
    return _clean(value, 0)


def _clean(value: Any, depth: int) -> Any:  # noqa: PLR0911 - one a kind of value
    if depth > DEEPEST:
        return "[nested too deep]"
    # Arrays, numpy's scalars and pandas' columns all know their plain form; numpy itself is not needed for that.
    value = value.value if isinstance(value, Enum) else value
    value = value.tolist() if hasattr(value, "tolist") else value
    if dataclasses.is_dataclass(value):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {readable(str(_clean(k, 0)), 200): _clean(_masked(k, v), depth + 1) for k, v in value.items()}
    if isinstance(value, list | tuple | AbstractSet):
        return [_clean(v, depth + 1) for v in (sorted(value, key=str) if isinstance(value, AbstractSet) else value)]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < LARGEST_INTEGER else rounded(float(value)) if value.bit_length() < 1000 else "[a very large integer]"
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str | PurePath):
        return readable(str(value))
    if isinstance(value, date):
        return None if value != value else value.isoformat()  # noqa: PLR0124 - pandas' missing time is the one that differs from itself
    if type(value).__name__ == "NAType":
        return None
    raise TypeError(f"{type(value).__name__} has no place in an answer")


def _masked(key: Any, value: Any) -> Any:
    """The value, or a mask where its key says that it is a secret."""
    return MASK if isinstance(key, str) and isinstance(value, str | bytes) and value and _SECRET_KEY.search(key) else value


def untrusted(text: str, origin: str, longest: int = 1500) -> dict[str, str]:
    """An envelope around words that the run wrote, with where they stand: ``{"untrusted": ..., "from": ...}``."""
    return {"untrusted": readable(text, longest), "from": readable(origin, 200)}


def is_name(text: str) -> bool:
    """Whether a name reads as a name: on one line, fewer than four words, nothing invisible or said, no piece of a path too long.

    A name that a dialect spells is a framework's, however many words it has.
    """
    short = len(text) <= _LONG_PATH and max(map(len, text.split("/"))) <= _LONG_NAME
    plain = short and len(text.split()) < _SENTENCE_WORDS and "\n" not in text and readable(text) == text and not is_disguised(text)
    return plain or text in _spelled()


@cache
def _spelled() -> frozenset[str]:
    """Every name that a dialect gives a meaning."""
    return frozenset(name for dialect in dialects().values() for name in dialect.metrics)


def aliased(value: Any, names: Iterable[str], among: Mapping[str, str] | None = None) -> Any:
    """``value`` with every name that reads like a sentence replaced by ``name-1``, ``name-2``...; ``names_as_written`` says what they are.

    Metric, file and folder names come from the run and turn up everywhere, in keys and inside our own sentences. One that could
    be an instruction is taken out of all those places and shown once, in an envelope. ``among`` are the aliases of a larger whole.
    """
    table = aliases(names) if among is None else {name: among[name] for name in names if name in among}
    if not table:
        return value
    table |= {readable(name): alias for name, alias in table.items()}
    pattern = re.compile("|".join(re.escape(n) for n in sorted(table, key=len, reverse=True) if n))
    used: dict[str, dict[str, str]] = {}

    def swap(match: re.Match[str]) -> str:
        alias = table[match[0]]
        used[alias] = untrusted(match[0], "a name in the run", 300)
        return alias

    result = each_text(value, lambda text: pattern.sub(swap, text), keys=True, kept=("untrusted",))
    if used and isinstance(result, dict):
        result["names_as_written"] = used
    return result


def aliases(names: Iterable[str]) -> dict[str, str]:
    """The alias of every name that reads like a sentence."""
    odd = sorted({n for n in names if n and not is_name(n)}, key=lambda n: (-len(n), n))
    return {name: f"name-{i}" for i, name in enumerate(odd, 1)}


def each_text(value: Any, change: Callable[[str], str], *, keys: bool = False, kept: Collection[str] = ()) -> Any:
    """``value`` with ``change`` applied to every text (and key), but to nothing under the keys that are ``kept``."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return [each_text(v, change, keys=keys, kept=kept) for v in value]
    if isinstance(value, dict):
        return {change(k) if keys else k: v if k in kept else each_text(v, change, keys=keys, kept=kept) for k, v in value.items()}
    return value
