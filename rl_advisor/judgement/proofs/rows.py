"""The values that lines show, by our names: the last of each metric, whether it ever differs, and what the user calls it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rl_advisor.priors import Circumstances
from rl_advisor.priors.circumstances import circumstances
from rl_advisor.run import Curve, Floats, Run
from rl_advisor.settings.given import Settings

START, EARLY = 0.02, 0.1
"""Shares of the plan up to which a run is at its start, and early."""
FEW = 20
"""Rows up to which each counts for itself."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Lines of a log, or a whole one, as they are asked about."""

    run: Run

    @cached_property
    def settings(self) -> Settings:
        """What the run was started with."""
        return Settings(self.run)

    @cached_property
    def around(self) -> Circumstances:
        """Under which circumstances the lines were written."""
        return circumstances(self.run, self.phase)

    @property
    def phase(self) -> str | None:
        """Where in the plan the last line stands; None where the plan is not known."""
        planned = self.run.planned_steps
        share = self.run.last_step / planned if planned else None
        return None if share is None else "start" if share <= START else "early" if share <= EARLY else "late"

    def values(self, name: str) -> Floats:
        """Every value of a metric, NaN and infinity included; empty where it is not there."""
        curve = self.run.curves.get(name)
        return curve.value if curve is not None else np.empty(0)

    def last(self, name: str) -> float | None:
        """The last value of a metric, finite or not; None where there is none."""
        values = self.values(name)
        return float(values[-1]) if values.size else None

    def level(self, name: str) -> float | None:
        """The median of the last few finite values; None where there is none."""
        values = self.values(name)
        values = values[np.isfinite(values)][-5:]
        return float(np.median(values)) if values.size else None

    def always(self, name: str, value: float, share: float = 0.95) -> bool:
        """Whether a metric has (almost) always one value."""
        values = self.values(name)
        finite = values[np.isfinite(values)]
        return bool(finite.size) and float(np.mean(np.isclose(finite, value, atol=1e-12))) >= share

    def called(self, name: str) -> str:
        """What the user calls the metric."""
        curve = self.run.curves.get(name)
        return curve.raw if curve is not None else name

    def family(self, prefix: str) -> dict[str, Curve]:
        """The curves below a name."""
        return {n: c for n, c in self.run.curves.items() if n.startswith(prefix) and c.value.size}

    @property
    def count(self) -> int:
        """How many rows there are of the metric that has most."""
        return max((c.step.size for c in self.run.curves.values()), default=0)
