"""What a forecast of the outcome says of going on: the chance of a gain by the planned end, its size, and the room that is left."""

from dataclasses import dataclass

import numpy as np

from rl_advisor.curves.ahead import ahead
from rl_advisor.judgement.case import Case

UNKNOWN_PLAN = 0.4
"""Share of the plan taken as left when the plan is not known: a prior at which about four of ten sound runs gain by a third more steps."""
UNKNOWN_END = 1 / 3
"""How far ahead is looked then, as a share of what was done."""
BESIDE = 0.5
"""What the reward weighs beside a held-out score: it has many more points, but another meaning."""
USUAL_GAIN = 1 / 3
"""What a gain that pays usually brings, as a share of the outcome's range; over the labelled prefixes that paid it is 0.32."""
LEAST_GAIN, LEAST_CHANCE = 0.05, 0.2


@dataclass(frozen=True)
class Forecast:
    """What the learning curve is foreseen to bring."""

    chance: float
    """Probability of a gain beyond noise by the end."""
    expected: float
    """Expected gain of the best smoothed outcome, as a share of its scale."""
    room: float = 1.0
    """What is left below a ceiling, as a share of the scale; 1 where no ceiling is known."""

    @property
    def gain(self) -> float:
        """What a gain brings if there is one, as a share of the scale; never more than the room."""
        return float(np.clip(self.expected / max(self.chance, LEAST_CHANCE), LEAST_GAIN, max(LEAST_GAIN, self.room)))


def plan_left(case: Case) -> float:
    """Share of the plan that is left, a prior where no plan is known."""
    return case.remaining if case.run.planned_steps else UNKNOWN_PLAN


def forecast(case: Case) -> Forecast | None:
    """The forecast of the outcome up to the planned end; None when nothing can be forecast."""
    s = case.held or case.train
    if s is None:
        return None
    left, planned = plan_left(case), case.run.planned_steps
    further = left / max(1 - left, 1e-9) if planned else UNKNOWN_END
    end = max(float(s.step[-1] + (s.step[-1] - s.step[0]) * min(further, 1e3)), planned or 0)
    curves = [(s, 1.0), *([(case.train, BESIDE)] if case.train is not None and s is case.held else [])]
    chance = sum(ahead(curve, end).pays * weight for curve, weight in curves) / sum(weight for _, weight in curves)
    room = 1.0 if s.ceiling is None or s.scale <= 0 else float(np.clip((s.ceiling - s.best) / s.scale, 0, 1))
    return Forecast(chance, ahead(s, end).expected / s.scale if s.scale > 0 else 0.0, room)
