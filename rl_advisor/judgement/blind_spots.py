"""What no log or sample of today's trainers shows, and how to check it instead: said, so that silence is not taken for an all-clear.

Lines are kept by the kind of training they belong to; the kind is read off what a run has logged.
"""

from collections.abc import Mapping
from itertools import zip_longest

from rl_advisor.curves.task import TRAITS, task
from rl_advisor.discovery import table
from rl_advisor.run import Run

LINES: Mapping[str, list[str]] = table(__file__, "blind_spots.toml")
"""For whom a failure that stays out of sight matters -> the failure, why it cannot be seen, and the check that shows it."""


def fitting(run: Run) -> list[str]:
    """At most eight lines on what cannot be seen in this kind of run: one of each kind first, the most particular kinds before."""
    by_family = (LINES[family] for family in (*TRAITS, "any") if family in LINES and family in {*task(run).traits, "any"})
    return [line for turn in zip_longest(*by_family) for line in turn if line is not None][:8]
