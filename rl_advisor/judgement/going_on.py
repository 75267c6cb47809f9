"""The probability that going on pays: what the course is foreseen to do and what the run shows, a few facts weighed together.

Each fact has a usual value, a spread and one weight in ``going_on.json``, fitted on labelled prefixes and ends of runs
(``evals/fit_going_on.py``, which also says how it does on repositories and tasks left out). Bounds come after: nothing pays in a run that
is at its ceiling, has no gradient left, or whose plan is done.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from rl_advisor.curves.ahead import Ahead, ahead
from rl_advisor.discovery import table
from rl_advisor.finding import VERDICTS, Verdict
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.weights import Weights

FILE = Path(__file__).parent / "going_on.json"
PAYS = "pays"
FACTS: Mapping[str, str] = table(__file__, "facts.toml")
"""The facts, and each in words."""
UNKNOWN_PLAN = 0.4
"""Share of the plan taken as left when the plan is not known: a prior at which about four of ten sound runs gain by a third more steps."""
UNKNOWN_END = 1 / 3
"""How far ahead is looked then, as a share of what was done."""
BESIDE = 0.5
"""What the reward weighs beside a held-out score: it has many more points, but another meaning."""


@cache
def weighing() -> Weights:
    """The weights as they were fitted."""
    return Weights.read(FILE, (PAYS,))


def probability(told: Mapping[str, float]) -> float:
    """The probability that going on pays, from the facts."""
    by = weighing()
    return float(1 / (1 + np.exp(-(by.prior + by.total(told))[0])))


def usual(left: float) -> float:
    """The probability of a run of which nothing is known but what is left of its plan."""
    return probability({"plan left": known(left)})


def known(left: float) -> float:
    """The fact of the share of the plan that is left."""
    return float(np.log(max(left, 0.01)))


def plan_left(case: Case) -> float:
    """Share of the plan that is left, a prior where no plan is known."""
    return case.remaining if case.run.planned_steps else UNKNOWN_PLAN


def foreseen(case: Case) -> Ahead | None:
    """What going on to the planned end is foreseen to bring, a gain as a share of the outcome's scale; None without an outcome."""
    s = case.held or case.train
    if s is None:
        return None
    left, planned = plan_left(case), case.run.planned_steps
    further = left / max(1 - left, 1e-9) if planned else UNKNOWN_END
    end = max(float(s.step[-1] + (s.step[-1] - s.step[0]) * min(further, 1e3)), planned or 0)
    pays = ahead(s, end).pays
    if case.train is not None and s is case.held:
        pays = (pays + BESIDE * ahead(case.train, end).pays) / (1 + BESIDE)
    return Ahead(pays, ahead(s, end).expected / s.scale if s.scale > 0 else 0.0)


def facts(case: Case, odds: Mapping[Verdict, float]) -> dict[str, float] | None:
    """The facts of a run whose verdicts have these probabilities; None when nothing was measured."""
    amounts, counts, found = case.performance.amounts(), case.performance.counts, foreseen(case)
    if amounts is None or counts is None:
        return None
    chance = float(np.clip(found.pays, 0.02, 0.98)) if found is not None else 0.5
    return {
        "forecast": float(np.log(chance / (1 - chance))),
        "plan left": known(plan_left(case)),
        **{name: odds[name] for name in VERDICTS if name in FACTS},
        **{name: amounts[name] for name in ("gained", "order", "best at")},
        "reward best at": (case.performance.train or counts).amounts["best at"],
        "few": 1 / counts.n,
        "solved": float(case.solved),
    }
