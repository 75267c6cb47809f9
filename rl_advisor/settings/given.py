"""The settings of a run under one set of names, whatever framework wrote them: what checks ask, with the key as the user wrote it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rl_advisor.discovery import table
from rl_advisor.output.disguised_text import is_disguised
from rl_advisor.reading.parsing.config.values import TEXT_LIMIT, typed
from rl_advisor.run import Run

NAMES: Mapping[str, tuple[str, ...]] = {name: tuple(keys) for name, keys in table(__file__, "names.toml").items()}
"""Name -> the keys under which frameworks write it, the most particular first; a key counts by its last parts, dashes as underscores."""


_KNOWN = tuple(key for keys in NAMES.values() for key in keys)
_SAID = re.compile(
    r"(?<![\w./-])(?P<key>[A-Za-z][\w.]{0,80})(?P<sign>[ \t]?[=:]?[ \t]?|[ \t](?:of|to|is|at)[ \t])"
    r"['\"]?(?P<value>-?(?>\d++\.?+\d*+|\.\d++)(?>[eE][-+]?+\d++)?+(?!\.?\w)|(?i:true|false|none)\b|(?<==)[\w/.-]{1,60}|(?<=['\"])[\w/.-]{1,60}(?=['\"]))"
)
"""A key and its value as people write them between words."""
_WORD = re.compile(r"[\w.@/:+-]{1,80}")
LARGEST = 1e60


@dataclass(frozen=True)
class Given:
    """One setting: its value, and the key as it was written."""

    key: str
    value: Any

    @property
    def number(self) -> float | None:
        """The value as a number that can be measured with; None for anything else."""
        value = typed(self.value)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST else None

    def __str__(self) -> str:
        """The setting as it was written; a value that is a sentence rather than a word is not repeated."""
        shown = self.value if is_word(str(self.value)) else "(text)"
        return f"`{self.key}` = {shown}" if is_word(self.key) else "a setting"


class Settings:
    """What a run was started with, and the run where there is one."""

    def __init__(self, run: Run) -> None:
        """The settings of a run, by its configuration and what it logged."""
        self.run = run
        self.config: Mapping[str, Any] = run.config
        self._bare = {_bare(key): key for key in reversed(list(run.config))}
        self._tails: dict[str, str] = {}
        for bare, key in self._bare.items():
            at = bare.find(".")
            while at >= 0:
                self._tails.setdefault(bare[at + 1 :], key)
                at = bare.find(".", at + 1)

    def given(self, name: str) -> Given | None:
        """The setting of that name, by the keys of NAMES, else by the name itself; None where it is not given."""
        for wanted in NAMES.get(name, (name,)):
            key = self._bare.get(_bare(wanted)) or self._tails.get(_bare(wanted))
            if key is not None and self.config[key] is not None:
                return Given(key, typed(self.config[key]))
        return None

    def number(self, name: str) -> float | None:
        """The setting as a number; None where it is not given, or is none."""
        found = self.given(name)
        return None if found is None else found.number

    def keys(self, *names: str) -> tuple[str, ...]:
        """The keys of those of the settings that are given."""
        return tuple(found.key for name in names if (found := self.given(name)) is not None)

    def calls(self, *names: str) -> bool:
        """Whether the training script calls one of the names."""
        called = self.config.get("script.calls")
        return isinstance(called, list) and any(name in called for name in names)


@lru_cache(maxsize=4)
def settings_of(run: Run) -> Settings:
    """The settings of a run, looked up once: some hundred rows ask for one each."""
    return Settings(run)


def said_in(text: str, logged: Iterable[str] = ()) -> dict[str, Any]:
    """The settings that a text names with a value anywhere in it, by keys that are known here; what is ``logged`` is none."""
    measured = {_bare(name).rpartition(".")[2] for name in logged}
    said = (m for m in _SAID.finditer(text[:TEXT_LIMIT]) if set("=:") & set(m["sign"]) or "_" in m["key"] or m["key"] == "lr")
    found = {m["key"]: typed(m["value"]) for m in said if _bare(m["key"]).rpartition(".")[2] not in measured}
    return {key: value for key, value in found.items() if any(f".{_bare(key)}".endswith(f".{_bare(known)}") for known in _KNOWN)}


def is_word(text: str) -> bool:
    """Whether a key or a value is a word or a path rather than a sentence, which might be an order to whoever reads it."""
    return _WORD.fullmatch(text) is not None and not is_disguised(text)


def said(settings: Iterable[Given | None]) -> str:
    """The settings that are given, as they were written."""
    return ", ".join(str(s) for s in settings if s is not None)


def _bare(key: str) -> str:
    return key.replace("-", "_").replace("/", ".").lower()
