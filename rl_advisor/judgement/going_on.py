"""The probability that going on pays: a forecast of the learning curve and what the run shows, a few facts weighed together.

Each fact has a usual value, a spread and one weight in ``going_on.json``, fitted on labelled prefixes and ends of runs
(``evals/fit_going_on.py``, which also says how it does on repositories and tasks left out). Bounds come after: nothing pays in a run that
is at its ceiling, has no gradient left, or whose plan is done.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from rl_advisor.assessment import VERDICTS, Verdict
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.forecast import forecast, plan_left
from rl_advisor.judgement.weights import standing

FILE = Path(__file__).parent / "going_on.json"
FACTS: dict[str, str] = {
    "forecast": "what learning curves like this one went on to do",
    "plan known": "whether the planned end is known",
    "plan left": "how much of the plan is left",
    "improving": "how likely the run is improving now",
    "plateaued": "how likely it has plateaued",
    "unstable": "how likely it is unstable",
    "undecidable": "how likely nothing can be decided",
    "gained": "how surely it ends above its start",
    "order": "how steadily it went one way",
    "best at": "how recent its best is",
}
"""The facts, and each in words."""
DEAD = ("reward_always_paid", "reward_never_paid", "frozen_policy", "no_gradient")
"""Findings that say that nothing is left to learn from."""
UNFORESEEN = 0.5
"""Chance of a gain where nothing can be forecast."""


@dataclass(frozen=True)
class Weighing:
    """Intercept, and for every fact its usual value, its spread and its weight."""

    intercept: float
    facts: Mapping[str, tuple[float, float, float]]

    def probability(self, told: Mapping[str, float]) -> float:
        """The probability, from the facts."""
        odds = self.intercept + sum(weight * standing(told[name], usual, spread) for name, (usual, spread, weight) in self.facts.items())
        return float(1 / (1 + np.exp(-odds)))

    def usual(self, left: float) -> float:
        """The probability of a run of which nothing is known but what is left of its plan."""
        usual = {name: of[0] for name, of in self.facts.items()}
        return self.probability(usual | {"plan left": known(left)})


@cache
def weighing() -> Weighing:
    """The weights as they were fitted."""
    told = json.loads(FILE.read_text(encoding="utf-8"))
    return Weighing(told["intercept"], {name: (f["usual"], f["spread"], f["weight"]) for name, f in told["facts"].items()})


def known(left: float) -> float:
    """The fact of the share of the plan that is left."""
    return float(np.log(max(left, 0.01)))


def facts(case: Case, odds: Mapping[Verdict, float]) -> dict[str, float] | None:
    """The facts of a run whose verdicts have these probabilities; None when nothing was measured."""
    amounts = case.performance.amounts()
    if amounts is None:
        return None
    ahead = forecast(case)
    chance = float(np.clip(ahead.chance, 0.02, 0.98)) if ahead is not None else UNFORESEEN
    return {
        "forecast": float(np.log(chance / (1 - chance))),
        "plan known": float(bool(case.run.planned_steps)),
        "plan left": known(plan_left(case)),
        **{name: odds[name] for name in VERDICTS if name in FACTS},
        **{name: amounts[name] for name in ("gained", "order", "best at")},
    }
