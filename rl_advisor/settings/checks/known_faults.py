"""Versions and combinations of libraries with known faults, from a dated list.

Relates: versions and switches in the settings, and the entries of ``known_faults.toml``.
Why: some runs break for a reason that no curve can name: a fault of the trainer that a later version repaired.
Confirmed by: what each entry names; above all the same run on the repaired version.
Source: the issues that the entries cite, each with the date on which it was entered; version bounds are rough, look at the issue.
"""

import re
from typing import Any

from rl_advisor.discovery import table
from rl_advisor.finding import Answer, absent, not_logged, present, unclear
from rl_advisor.settings.given import Settings
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS


def check(s: Settings) -> Answer:
    """A fault where a version stands in the settings that an entry names; a note where only its switches do."""
    versions = _versions(s)
    for entry in table(__file__, "known_faults.toml")["fault"]:
        needs = entry.get("needs", {})
        met = [
            key
            for key in s.config
            for name, pattern in needs.items()
            if _is(key, name) and re.fullmatch(pattern, str(s.config[key]), re.IGNORECASE)
        ]
        if needs and len({name for name in needs for key in met if _is(key, name)}) < len(needs):
            continue
        version = versions.get(entry["package"])
        if version is not None and version < _numbers(entry["below"]):
            return present(f"{entry['says']} {_from(entry)}", about=tuple(met), do=entry["do"])
        if needs and version is None:
            unknown = f"Which version of {entry['package']} is it? Before {entry['below']}: {entry['says']}"
            return unclear(f"{unknown} {_from(entry)}", about=tuple(met), do=entry["do"])
    return absent("No known fault fits the versions given.", about=tuple(versions)) if versions else not_logged("")


def _from(entry: dict[str, Any]) -> str:
    return f"({entry['source']}; {entry['date']}, bound not re-checked)"


def _is(key: str, name: str) -> bool:
    return key == name or key.endswith(f".{name}")


def _versions(s: Settings) -> dict[str, tuple[int, ...]]:
    """The versions that the settings name: ``trl_version: 0.15.1`` and the like."""
    found: dict[str, tuple[int, ...]] = {}
    for key, value in s.config.items():
        named = re.fullmatch(r"(?:.*[./_])?([a-z]{2,20})_version", key.lower())
        if named and re.match(r"\d+\.\d+", str(value)):
            found[named.group(1)] = _numbers(str(value))
    return found


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d{1,6}", version)[:3])
