"""How a text measure changed since a run's first samples, whether the reward pays for it, and when it set in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.payoff import Payoff, difference, payoff
from rl_advisor.finding import Onset
from rl_advisor.output.wording import about
from rl_advisor.samples.measured_text import Stretches

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Shift:
    """A measure's mean over the first and over the latest samples, and the difference with its 95 % interval (by group)."""

    first: float
    latest: float
    delta: float
    low: float
    high: float

    @property
    def up(self) -> bool:
        """Whether it rose by more than chance."""
        return self.low > 0

    @property
    def down(self) -> bool:
        """Whether it fell by more than chance."""
        return self.high < 0

    @property
    def words(self) -> str:
        """From about what to what: means over many samples."""
        return about(self.first, self.latest)


def shift(s: Stretches, column: str) -> Shift:
    """The change of a measure from the first to the latest samples. Raises TooFewPoints when a side has fewer than two groups with it."""
    a, b = s.first[column].to_numpy(np.float64), s.latest[column].to_numpy(np.float64)
    delta, low, high = difference(a, b, s.first["cluster"].tolist(), s.latest["cluster"].tolist())
    return Shift(float(np.nanmean(a)), float(np.nanmean(b)), delta, low, high)


def shift_or_none(s: Stretches, column: str) -> Shift | None:
    """``shift``, or None where there is too little to compare."""
    try:
        return shift(s, column) if column in s.table else None
    except TooFewPoints:
        return None


def pays(s: Stretches, column: str, above: float = -np.inf) -> Payoff | None:
    """How the reward follows a measure among responses to one prompt, over all samples; None where too few groups differ.

    With ``above`` only responses with more than that of the measure are compared: is even more of it paid for?
    """
    return paid(s.table[s.table[column] > above], column)


def paid(table: pd.DataFrame, column: str) -> Payoff | None:
    """How the reward follows a measure among responses to one prompt of a table; None where too few groups differ."""
    try:
        return payoff(table[column].to_numpy(np.float64), table["reward"].to_numpy(np.float64), table["cluster"].tolist())
    except TooFewPoints:
        return None


def explained(pay: Payoff | None, of: Shift, gain: Shift) -> float:
    """Share of the reward's gain that the measure's change would bring at the price paid inside groups; 0 when unknown."""
    if pay is None or pay.low <= 0 or gain.delta <= 0 or of.delta <= 0:
        return 0.0
    return pay.slope * of.delta / gain.delta


def onset(s: Stretches, column: str) -> Onset | None:
    """When a measure crossed, for good, half the way from its first to its latest level: between two steps with samples."""
    means = s.table.groupby("step")[column].mean().dropna()
    steps, values = means.index.to_numpy(np.float64), means.to_numpy(np.float64)
    first, latest = float(s.first[column].mean()), float(s.latest[column].mean())
    beyond = (values - (first + latest) / 2) * np.sign(latest - first) > 0
    if steps.size < 2 or not beyond[-1]:
        return None
    inside = np.flatnonzero(~beyond)
    high = float(steps[inside[-1] + 1]) if inside.size else float(steps[0])
    low = float(steps[inside[-1]]) if inside.size else min(0.0, high)
    return Onset(high, low, high)


def wilson(hits: float, n: float, z: float = 1.959964) -> tuple[float, float]:
    """The interval of a share at so many standard errors (Wilson score), the 95 % one where nothing else is asked."""
    if n == 0:
        return 0.0, 1.0
    z2 = z**2
    middle, reach = (hits + z2 / 2) / (n + z2), np.sqrt(z2) / (n + z2) * np.sqrt(hits * (n - hits) / n + z2 / 4)
    return float(max(middle - reach, 0.0)), float(min(middle + reach, 1.0))


def share_of(hits: int, n: int) -> dict[str, float]:
    """How many of how many, as a share with its interval."""
    low, high = wilson(hits, n)
    return {"count": hits, "share": hits / n, "low": low, "high": high}
