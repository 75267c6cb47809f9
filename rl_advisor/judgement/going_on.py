"""The probability that going on pays: a forecast of the learning curve and what the run shows, a few facts weighed together.

Each fact has a usual value, a spread and one weight in ``going_on.json``, fitted on labelled prefixes and ends of runs
(``evals/fit_going_on.py``, which also says how it does on repositories and tasks left out). Bounds come after: nothing pays in a run that
is at its ceiling, has no gradient left, or whose plan is done.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

from rl_advisor.assessment import Verdict
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.forecast import forecast, plan_left
from rl_advisor.judgement.signs import ends
from rl_advisor.run import Run

FILE = Path(__file__).parent / "going_on.json"
FACTS: dict[str, str] = {
    "forecast": "what learning curves like this one went on to do",
    "plan known": "whether the planned end is known",
    "plan left": "how much of the plan is left",
    "improving": "how likely the run is improving now",
    "plateaued": "how likely it has plateaued",
    "second half": "whether its second half beat the first",
    "still rises": "whether its last third rises",
    "half slope": "how steeply its second half rises",
    "order": "how steadily it went one way",
    "best at": "how recent its best is",
    "nothing": "whether it ends at nothing",
    "points": "how many points there are",
    "shown flat": "whether it is shown to be flat",
    "dead": "whether the signal to learn from is gone",
    "repetition": "whether the responses repeat themselves more than at first",
    "drift": "how far the policy moved away from the reference",
    "cut off": "how many responses are cut off",
}
"""The facts, and each in words."""
DEAD = ("reward_always_paid", "reward_never_paid", "frozen_policy", "no_gradient")
"""Findings that say that nothing is left to learn from."""
UNFORESEEN, UNKNOWN_CUT = 0.5, 0.1
"""Chance of a gain where nothing can be forecast; share of responses that are cut off where it is not logged."""
PART, TEXTS, LONGEST = 0.3, 200, 20_000
"""Share of the steps whose responses are read at either end, how many of them, and how many characters of each."""


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
        "improving": odds["improving"],
        "plateaued": odds["plateaued"],
        "shown flat": float(case.present("plateau")),
        "dead": float(case.present(*DEAD)),
        "repetition": repetition(case.run),
        "drift": moved.grew if (moved := ends(case.run, "kl/ref")) else 0.0,
        "cut off": cut.last if (cut := ends(case.run, "response/truncated")) else UNKNOWN_CUT,
        **{name: amounts[name] for name in ("second half", "still rises", "half slope", "order", "best at", "nothing", "points")},
    }


def repetition(run: Run) -> float:
    """How much more of the words in a response are repeated at the end than at the start, as shares; 0 without responses."""
    table = run.rollouts
    if not len(table):
        return 0.0
    early, late = table["step"].quantile(PART), table["step"].quantile(1 - PART)
    return repeated(table.loc[table["step"] >= late, "response"]) - repeated(table.loc[table["step"] <= early, "response"])


def repeated(texts: Iterable[object]) -> float:
    """Mean share of words that stood before in the same text."""
    split = [str(text)[:LONGEST].split() for text in islice(texts, TEXTS)]
    return float(np.mean([1 - len(set(words)) / max(1, len(words)) for words in split])) if split else 0.0
