"""The values that lines show, by our names: the last of each metric, and under which circumstances they were written."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rl_advisor.run import Curve, Run
from rl_advisor.settings.priors import Circumstances
from rl_advisor.settings.priors.circumstances import circumstances

START, EARLY = 0.02, 0.1
"""Shares of the plan up to which a run is at its start, and early."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Lines of a log, or a whole one, as they are asked about."""

    run: Run

    @cached_property
    def around(self) -> Circumstances:
        """Under which circumstances the lines were written: early or late in the plan, where that is known."""
        planned = self.run.planned_steps
        share = self.run.last_step / planned if planned else None
        return circumstances(self.run, None if share is None else "start" if share <= START else "early" if share <= EARLY else "late")

    def level(self, name: str) -> float | None:
        """The median of the last few finite values; None where there is none."""
        values = self.run.curves[name].numbers[-5:] if name in self.run.curves else np.empty(0)
        return float(np.median(values)) if values.size else None

    def family(self, prefix: str) -> dict[str, Curve]:
        """The curves below a name."""
        return {n: c for n, c in self.run.curves.items() if n.startswith(prefix) and c.value.size}

    @property
    def count(self) -> int:
        """How many rows there are of the metric that has most."""
        return max((c.step.size for c in self.run.curves.values()), default=0)
