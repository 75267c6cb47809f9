"""What samples of text are called, as ``sample_names.toml`` says: columns of tables, keys of messages, of turns and of steps."""

from collections.abc import Mapping
from dataclasses import dataclass

from rl_advisor.discovery import table


@dataclass(frozen=True)
class Layout:
    """The columns one writer is known by, and what they mean: raw name -> our name."""

    needs: frozenset[str]
    meaning: Mapping[str, str]


_TOLD = table(__file__, "sample_names.toml")
NAMES: Mapping[str, list[str]] = _TOLD["columns"]
"""Our column -> names it goes by elsewhere, most telling first."""
LAYOUTS = tuple(Layout(frozenset(writer["needs"]), writer["means"]) for writer in _TOLD["writers"])
NUMBERS: Mapping[str, list[str]] = _TOLD["numbers"]
"""Our name of a turn's number -> what it goes by elsewhere."""
ROLES: Mapping[str, str] = {theirs: ours for ours, names in _TOLD["roles"].items() for theirs in names}
STEPS: Mapping[str, list[str]] = _TOLD["steps"]
"""Keys of an episode (``conversation``, ``steps``) and of its steps: what was said, done and seen."""
