"""The cell of the table KL x outcome over the last third of a run: what the practitioner's guide calls the most important pair."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rl_advisor.curves.outcomes import FEWEST, Course, course_of, course_or_none, outcome, training
from rl_advisor.features.trend import Direction, direction, trend
from rl_advisor.finding import number
from rl_advisor.run import Run


@dataclass(frozen=True)
class KlRegime:
    """What KL to the reference and the outcome did over the last third, in words and numbers."""

    outcome: str
    kl: Direction
    way: Direction
    first: float
    last: float
    text: str
    measures: dict[str, float]


@lru_cache(maxsize=64)
def kl_regime(run: Run, share: float = 0.15) -> KlRegime:
    """The cell of the table KL x outcome over the last third; KL counts as flat within ``share`` of its whole range.

    Raises:
        TooFewPoints: one of the two curves is too short.
    """
    curve = outcome(run)
    assert curve is not None  # NEEDS of the callers name one
    s = course_of(curve)
    kl = course_of(run.curves["kl/ref"])
    spread = max(float(np.ptp(kl.smoothed)), 1e-4)
    way, kl_way = s.direction(), direction(kl.recent, share * spread)
    if way == "undecidable" and s.name.startswith("eval/") and (reward := course_or_none(training(run))) is not None:
        way = reward.direction()  # few evaluations: the reward says more, and detectors of the gap watch over it
    change, kl_change = s.recent.slope * s.recent.span, kl.recent.slope * kl.recent.span
    if way in ("undecidable", "falling") and abs(change) < s.margin and flat_since(s):
        way = "flat"
    text = f"Since step {s.recent_first:.0f} KL to the reference is {kl_way} ({number(kl_change)}, now about "
    text += f"{number(kl.last)}) and the outcome {way} ({number(change)})"
    measures = {"kl_change": kl_change, "kl_last": kl.last, "outcome_change": change, "outcome_last": s.last}
    return KlRegime(s.name, kl_way, way, s.recent_first, float(s.step[-1]), text, measures)


def flat_since(s: Course) -> bool:
    """Whether the last third, half, two thirds or all is flat within twice the margin: as good as flat, where noise hides more."""
    stretches = (slice(s.value.size - max(FEWEST, round(share * s.value.size)), None) for share in (1 / 3, 1 / 2, 2 / 3, 1.0))
    return any(direction(trend(s.step[late], s.value[late]), 2 * s.margin) == "flat" for late in stretches)
