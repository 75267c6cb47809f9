"""What no log or sample of today's trainers shows, and how to check it instead: said, so that silence is not taken for an all-clear.

Rows are kept by the kind of training they belong to; the kind is read off what a run has logged.
"""

from dataclasses import dataclass
from itertools import zip_longest

from rl_advisor.curves.task import TRAITS, task
from rl_advisor.discovery import table
from rl_advisor.run import Run


@dataclass(frozen=True)
class BlindSpot:
    """One failure that stays out of sight: for whom it matters, why it cannot be seen, and the check that shows it."""

    failure: str
    family: str
    why: str
    check: str

    @property
    def line(self) -> str:
        """The row as one line."""
        return f"{self.failure}: {self.why}; check by {self.check}"


ROWS = tuple(BlindSpot(**row) for row in table(__file__, "blind_spots.toml")["spot"])
"""Every blind spot that is known."""


def fitting(run: Run) -> list[str]:
    """At most ``most`` lines on what cannot be seen in this kind of run: one of each kind first, the most particular kinds before."""
    known = [family for family in TRAITS if family in task(run).traits]
    by_family = [[row for row in ROWS if row.family == family] for family in (*known, "any")]
    turns = [row for turn in zip_longest(*by_family) for row in turn if row is not None]
    return [row.line for row in turns[:8]]
