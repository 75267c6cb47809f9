"""The odds that going on pays: a logistic model of three features that mean the same in every task.

The features are the forecast's own probability of a gain (as log odds), the expected gain as a share of the outcome's scale (as a
logarithm), and the share of the plan that is left (as a logarithm). Nothing in them knows a framework, a task or a level.
``python -m rl_advisor.evals.training`` fits the weights on the labeled runs of the repository and writes them to ``odds.json``.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.gain import expected_gain
from rl_advisor.judgement.case import Case
from rl_advisor.run import Floats
from rl_advisor.trajectory import MATERIAL, Shape

WEIGHTS = Path(__file__).parent / "odds.json"
NAMES = ("forecast", "expected gain", "plan left")
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

    def features(self) -> Floats:
        """The three inputs of the model."""
        chance = float(np.clip(self.chance, 0.03, 0.97))
        gain = max(0.0, self.expected / self.scale) if self.scale > 0 else 0.0
        return np.array([np.log(chance / (1 - chance)), np.log(gain + 0.01), np.log(max(self.left, 0.01))])


def outlook(case: Case) -> Outlook | None:
    """The forecast of the outcome up to the planned end; None when nothing can be forecast.

    The reward has many more points than a held-out score, but another meaning: it is heard at half weight.
    """
    s = case.outcome
    if s is None:
        return None
    left = case.remaining if case.run.planned_steps else UNKNOWN_PLAN
    ahead = left / max(1 - left, 1e-9) if case.run.planned_steps else UNKNOWN_END
    end = float(s.step[-1] + (s.step[-1] - s.step[0]) * min(ahead, 1e3))
    found = []
    for curve, weight in ((s, 1.0), (case.train if s is case.held else None, 0.5)):
        try:
            if curve is not None:
                found.append((expected_gain(curve.step, curve.value, max(end, _end(case, curve))), weight))
        except TooFewPoints:
            continue
    if not found:
        return None
    chance = sum(gain.pays * weight for gain, weight in found) / sum(weight for _, weight in found)
    return Outlook(chance, found[0][0].expected, s.margin / MATERIAL, left)


def _end(case: Case, curve: Shape) -> float:
    return float(case.run.planned_steps or curve.step[-1])


@cache
def weights() -> Floats:
    """Intercept and one weight a feature, as they were fitted."""
    return np.array(json.loads(WEIGHTS.read_text(encoding="utf-8"))["weights"], dtype=np.float64)


def probability(ahead: Outlook) -> float:
    """The probability that going on pays, for a run in which nothing is broken."""
    w = weights()
    return float(1 / (1 + np.exp(-(w[0] + w[1:] @ ahead.features()))))


def moved_by(ahead: Outlook) -> tuple[str, bool]:
    """The feature that moved the probability most away from that of an even forecast half way, and whether it raised it."""
    usual = np.array([0.0, np.log(0.05 + 0.01), np.log(0.5)])
    pull = weights()[1:] * (ahead.features() - usual)
    strongest = int(np.argmax(np.abs(pull)))
    return NAMES[strongest], bool(pull[strongest] > 0)
