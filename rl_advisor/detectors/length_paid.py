"""Length is paid for by itself: among equally correct answers, the longer one earns more.

Looks for: the reward against the length of answers that an independent column calls equally right; without one, a reward that is a
    straight line of the length among paid answers.
Means: the reward holds a term for length, on purpose or through a judge. The policy will find it, whether it has by now or not.
Not to be confused with: right answers that are longer than wrong ones, which is why only equally right ones are compared; a cost for
    length.
Next test: rescore two hundred answers cut to their first half where that still holds the answer: does the reward fall?
Source: length bias of judges and reward models (arXiv 2310.03716); the slope inside right answers needs no growth to show it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.relation import correlation
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import measured
from rl_advisor.samples.reward_check import reference_columns
from rl_advisor.vocabulary import Link

if TYPE_CHECKING:
    import pandas as pd

LINK = Link.REWARD_SIGNAL
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("rollouts",)
BRINGS: tuple[str, ...] = ("length_inflation", "truncation", "drift_without_gain", "sample_repetition")
CHANGE: tuple[tuple[str, str], ...] = (("length_neutral_loss", ""),)
FEWEST, LENGTHS = 24, 4


def detect(run: Run, follows: float = 0.5, line: float = 0.97) -> Answer:
    """Present when the reward follows length by more than ``follows`` among equally right answers, or is a ``line`` of it."""
    table = measured(run)
    if not len(table) or not table["reward"].notna().any():
        raise TooFewPoints("the samples have no rewards")
    table = table[table["reward"].notna() & table["tokens"].notna()]
    right = equally_right(table)
    rows = table[table["reward"] > table["reward"].min()] if right is None else right
    if len(rows) < FEWEST or rows["tokens"].nunique() < LENGTHS:
        raise TooFewPoints(f"{len(rows)} equally correct answers, {FEWEST} of {LENGTHS} lengths needed")
    length, reward = rows["tokens"].to_numpy(np.float64), rows["reward"].to_numpy(np.float64)
    if np.ptp(reward) <= 1e-9:
        return absent(f"{len(rows)} equally correct answers earn the same whatever their length.")
    rank = correlation(length, reward)
    straight, slope = float(np.corrcoef(length, reward)[0, 1]), float(np.polyfit(length, reward, 1)[0])
    measures = {
        "rank_correlation": rank.rho,
        "rank_correlation_low": rank.low,
        "reward_per_hundred_tokens": 100 * slope,
        "answers": float(len(rows)),
    }
    where = (Evidence("rollouts", float(rows["step"].min()), float(rows["step"].max())),)
    kind = "rewarded" if right is None else "equally correct"
    text = f"Among {len(rows)} {kind} answers the reward goes with length (rank correlation {number(rank.rho)}"
    text += f", {number(100 * slope)} a hundred tokens)"
    if (right is not None and rank.low > follows) or (straight > line and rank.low > follows):
        first = float(rows["step"].min())
        return present(f"{text}: length itself is rewarded.", Onset(first, first, first), measures, where)
    return absent(f"{text}.", measures=measures, evidence=where)


def equally_right(table: pd.DataFrame) -> pd.DataFrame | None:
    """The answers to which an independent column gives its highest mark; None without such a column."""
    import pandas as pd

    for name in reference_columns(table):
        mark = pd.to_numeric(table[name], errors="coerce")
        best: pd.DataFrame = table[mark == mark.max()]
        if len(best) >= FEWEST:
            return best
    return None
