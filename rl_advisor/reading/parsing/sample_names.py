"""What samples of text are called, as ``sample_names.toml`` says: columns of tables, numbers of turns, what is told beside them."""

import re
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
BESIDE: Mapping[str, re.Pattern[str]] = {says: re.compile("|".join(words), re.IGNORECASE) for says, words in _TOLD["beside"].items()}
"""Names of what is told of a whole episode deeper down (``told``), and of what says nothing without the name above it (``bare``)."""
