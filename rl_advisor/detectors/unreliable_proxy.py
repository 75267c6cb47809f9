"""What is paid is not what people, or an independent check, find good: the reward is an unreliable proxy.

Looks for: among the samples of the second half, a rank correlation of the reward with a human or independent judgement of the same
    responses whose whole interval lies below a weak one.
Means: climbing this reward brings nothing that was wanted; the harder it is climbed, the further the two part.
Not to be confused with: a judgement that all answers share (nothing to rank by); a reward that agreed at the start and was turned later,
    which is gaming (see reward_shortcut); a run whose judgement rises with its reward although single answers are ranked differently.
Next test: rank fifty responses by hand and by the reward; rewrite the reward, or calibrate it on those, before another step.
Source: the field guide's table of reward distributions (low correlation with human scores); RewardBench on evaluating reward models.
"""

from typing import TYPE_CHECKING

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Role, absent, not_logged, number, present
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import stretches
from rl_advisor.samples.rows import reference_columns
from rl_advisor.samples.text_change import shift_or_none
from rl_advisor.samples.text_signs import samples
from rl_advisor.vocabulary import Link

if TYPE_CHECKING:
    import pandas as pd

LINK = Link.REWARD_SIGNAL
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("rollouts",)
FEWEST = 40
"""Judged responses below which a correlation may be anything."""
CLUSTERING = 2.0
"""Answers to one prompt are no independent draws: so many count as one."""


def detect(run: Run, weak: float = 0.3) -> Answer:
    """Present when the upper end of the latest correlation lies below ``weak`` and the judgement did not rise with the reward."""
    s = stretches(run)
    names = reference_columns(s.table)
    if not names:
        return not_logged("No human or independent judgement stands beside the samples.")
    half = s.table[s.table["step"] >= s.table["step"].median()]
    told = [(name, *rank_correlation(half, name)) for name in names]
    name, rho, low, high, n = min((t for t in told if t[4] >= FEWEST), key=lambda t: t[1], default=("", np.nan, -1.0, 1.0, 0))
    if not name:
        raise TooFewPoints(f"fewer than {FEWEST} samples of the second half are judged")
    words = name.removeprefix("other/")
    measures = {"rank_correlation": rho, "low": low, "high": high, "judged": float(n)}
    text = f"In the second half the reward's rank correlation with {words} is {number(rho)} ({number(low)} to {number(high)}, {n} judged)"
    moved = shift_or_none(s, name)
    if high < weak and not (moved is not None and moved.up):
        return present(f"{text}: what is paid is not what is judged good.", measures=measures, evidence=(samples(s),))
    return absent(f"{text}.", measures=measures, evidence=(samples(s),))


def rank_correlation(rows: "pd.DataFrame", name: str) -> tuple[float, float, float, int]:
    """Rank correlation of the reward with a column inside steps, its 95 % interval (Fisher), and how many rows have both."""
    import pandas as pd

    both = rows[["reward"]].assign(value=pd.to_numeric(rows[name], errors="coerce")).dropna()
    ranks = both.rank()
    ranks -= ranks.groupby(rows.loc[both.index, "step"]).transform("mean")
    rho = float(ranks["reward"].corr(ranks["value"])) if len(both) > 2 else float("nan")
    if not np.isfinite(rho):
        return 1.0, -1.0, 1.0, len(both)
    error = 1.96 / np.sqrt(max(len(both) / CLUSTERING - 3, 1.0))
    z = float(np.arctanh(np.clip(rho, -0.999, 0.999)))
    return rho, float(np.tanh(z - error)), float(np.tanh(z + error)), len(both)
