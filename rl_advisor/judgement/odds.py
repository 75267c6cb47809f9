"""The odds that going on pays, and what it brings: two logistic models of features that mean the same in every task.

The features are the forecast's own probability of a gain (as log odds), the expected gain as a share of the outcome's scale, the share of
the plan that is left, and the noise of the outcome as a share of its range (as logarithms); for the gain also the room below a ceiling.
None of them knows a framework, a task or a level. Where nothing could be measured yet, the share of the plan alone speaks.
``python -m evals.lab.training`` fits the weights on drawn learning curves and writes them to ``odds.json``.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from rl_advisor.curves.outcome_shape import MATERIAL, Shape
from rl_advisor.features import TooFewPoints
from rl_advisor.features.gain import expected_gain
from rl_advisor.judgement.case import Case
from rl_advisor.run import Floats

WEIGHTS = Path(__file__).parent / "odds.json"
NAMES = ("forecast", "expected gain", "plan left", "noise of the outcome")
LEFT = 2
"""Place of the share of the plan among the features."""
UNKNOWN_PLAN = 0.4
"""Share of the plan taken as left when the plan is not known: a prior at which about four of ten sound runs gain by a third more steps."""
UNKNOWN_END = 1 / 3
"""How far ahead is looked then, as a share of what was done."""


@dataclass(frozen=True)
class Outlook:
    """What a forecast of the outcome says about going on."""

    chance: float
    """Probability of a gain beyond noise by the end, as the forecast alone gives it."""
    expected: float
    """Expected gain of the best smoothed outcome, in the outcome's own unit."""
    scale: float
    left: float
    """Share of the plan that is left."""
    noise: float
    """Standard deviation of one point, as a share of the range that was seen."""
    room: float = 1.0
    """What is left below a ceiling, as a share of the scale; 1 where no ceiling is known."""

    def features(self) -> Floats:
        """The inputs of both models."""
        chance = float(np.clip(self.chance, 0.03, 0.97))
        gain = max(0.0, self.expected / self.scale) if self.scale > 0 else 0.0
        return np.array([np.log(chance / (1 - chance)), np.log(gain + 0.01), known(self.left), np.log(min(self.noise, 1.0) + 0.02)])

    def with_room(self) -> Floats:
        """The same and the room, which bounds what a gain can bring."""
        return np.append(self.features(), self.room)


@dataclass(frozen=True)
class Weights:
    """Intercept and one weight a feature, of whether going on pays and of what it brings if it does; then both from the plan alone."""

    pays: Floats
    gain: Floats
    pays_unseen: Floats
    gain_unseen: Floats


def known(left: float) -> float:
    """The feature of the share of the plan that is left."""
    return float(np.log(max(left, 0.01)))


def outlook(case: Case) -> Outlook | None:
    """The forecast of the outcome up to the planned end; None when nothing can be forecast."""
    return foreseen(case.held, case.train, plan_left(case), case.run.planned_steps) if case.outcome is not None else None


def plan_left(case: Case) -> float:
    """Share of the plan that is left, a prior where no plan is known."""
    return case.remaining if case.run.planned_steps else UNKNOWN_PLAN


def foreseen(held: Shape | None, train: Shape | None, left: float, planned: float | None) -> Outlook | None:
    """The same from the measured curves.

    The reward has many more points than a held-out score, but another meaning: it is heard at half weight.
    """
    s = held or train
    if s is None:
        return None
    ahead = left / max(1 - left, 1e-9) if planned else UNKNOWN_END
    end = float(s.step[-1] + (s.step[-1] - s.step[0]) * min(ahead, 1e3))
    found = []
    for curve, weight in ((s, 1.0), (train if s is held else None, 0.5)):
        try:
            if curve is not None:
                found.append((expected_gain(curve.step, curve.value, max(end, planned or curve.step[-1])), weight))
        except TooFewPoints:
            continue
    if not found:
        return None
    chance = sum(gain.pays * weight for gain, weight in found) / sum(weight for _, weight in found)
    noise = s.noise / max(float(np.ptp(s.smoothed)), 1e-12)
    scale = s.margin / MATERIAL
    room = 1.0 if s.ceiling is None or scale <= 0 else float(np.clip((s.ceiling - s.best) / scale, 0, 1))
    return Outlook(chance, found[0][0].expected, scale, left, noise, room)


@cache
def weights() -> Weights:
    """The weights as they were fitted."""
    fitted = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return Weights(**{name: np.array(fitted[name], dtype=np.float64) for name in Weights.__dataclass_fields__})


def probability(ahead: Outlook | None, left: float, w: Weights | None = None) -> float:
    """The probability that going on pays, for a run in which nothing is broken; from the plan alone where there is no forecast."""
    w = w or weights()
    return logistic(w.pays, ahead.features()) if ahead else logistic(w.pays_unseen, np.array([known(left)]))


def upside(ahead: Outlook | None, left: float, w: Weights | None = None) -> float:
    """What a gain that pays brings, as a share of the range of the outcome over the whole run."""
    w = w or weights()
    return logistic(w.gain, ahead.with_room()) if ahead else logistic(w.gain_unseen, np.array([known(left)]))


def logistic(w: Floats, x: Floats) -> float:
    """The model: the first weight is the intercept."""
    return float(1 / (1 + np.exp(-(w[0] + w[1:] @ x))))
