"""The probability that going on pays: what a forecast gives, corrected by what the run shows, a few facts weighed together.

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

from rl_advisor.assessment import Verdict
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.odds import known, outlook, plan_left, probability

FILE = Path(__file__).parent / "going_on.json"
FACTS: dict[str, str] = {
    "forecast": "what learning curves like this one went on to do",
    "plan known": "whether the planned end is known",
    "plan left": "how much of the plan is left",
    "improving": "how likely the run is improving now",
    "second half": "whether its second half beat the first",
    "still rises": "whether its last third rises",
    "half slope": "how steeply its second half rises",
    "order": "how steadily it went one way",
    "best at": "how recent its best is",
    "nothing": "whether it ends at nothing",
    "points": "how many points there are",
    "shown flat": "whether it is shown to be flat",
    "dead": "whether the signal to learn from is gone",
}
"""The facts, and each in words."""
DEAD = ("reward_always_paid", "reward_never_paid", "frozen_policy", "no_gradient")
"""Findings that say that nothing is left to learn from."""


@dataclass(frozen=True)
class Weighing:
    """Intercept, and for every fact its usual value, its spread and its weight."""

    intercept: float
    facts: Mapping[str, tuple[float, float, float]]

    def parts(self, told: Mapping[str, float]) -> dict[str, float]:
        """What each fact adds to the logarithm of the odds."""
        return {name: weight * float(np.clip((told[name] - usual) / spread, -4, 4)) for name, (usual, spread, weight) in self.facts.items()}

    def probability(self, told: Mapping[str, float]) -> float:
        """The probability, from the facts."""
        return float(1 / (1 + np.exp(-(self.intercept + sum(self.parts(told).values())))))


@cache
def weighing() -> Weighing:
    """The weights as they were fitted."""
    told = json.loads(FILE.read_text(encoding="utf-8"))
    return Weighing(told["intercept"], {name: (f["usual"], f["spread"], f["weight"]) for name, f in told["facts"].items()})


def facts(case: Case, odds: Mapping[Verdict, float]) -> dict[str, float] | None:
    """The facts of a run whose verdicts have these probabilities; None when nothing was measured."""
    amounts = case.performance.amounts()
    if amounts is None:
        return None
    left = plan_left(case)
    forecast = float(np.clip(probability(outlook(case), left), 0.02, 0.98))
    return {
        "forecast": float(np.log(forecast / (1 - forecast))),
        "plan known": float(bool(case.run.planned_steps)),
        "plan left": known(left),
        "improving": odds["improving"],
        "shown flat": float(case.present("plateau")),
        "dead": float(case.present(*DEAD)),
        **{name: amounts[name] for name in ("second half", "still rises", "half slope", "order", "best at", "nothing", "points")},
    }
