"""How much each measured amount speaks for each answer: data files, each line readable as "this, above the usual, speaks for that".

Fitted by regularised regressions on labelled runs (``evals/fit_weights.py``, ``evals/fit_going_on.py``), which also say how the fits do on
repositories and whole sets left out. An amount has a usual value, a spread, and one weight an answer.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from rl_advisor.features.series import Floats
from rl_advisor.finding import VERDICTS, Verdict

FILE = Path(__file__).parent / "weights.json"


@dataclass(frozen=True)
class Weights:
    """The prior of every answer, and for every amount its usual value, its spread, and one weight an answer."""

    prior: Floats
    amounts: Mapping[str, tuple[float, float, Floats]]
    covered: float = 0.9
    """Weight of a set of the likeliest verdicts: one and a half in the mean."""
    temperature: float = 1.0
    """What the sum of all that speaks is divided by: below one the fit, which leans to small weights, was too modest."""
    lapse: float = 0.0
    """Share of the labels that nothing measured foretells, however much of it there is: spread over all verdicts."""

    @classmethod
    def read(cls, file: Path, answers: Sequence[str]) -> "Weights":
        """The weights of a data file."""
        told = json.loads(file.read_text(encoding="utf-8"))
        rows = told["amounts"].items()
        weighed = {name: (row["usual"], row["spread"], np.array([row["weights"][a] for a in answers])) for name, row in rows}
        rest = {name: told[name] for name in ("covered", "temperature", "lapse") if name in told}
        return cls(np.array([told["prior"][a] for a in answers]), weighed, **rest)

    def total(self, amounts: Mapping[str, float]) -> Floats:
        """What some amounts add to the logarithm of the odds of each answer."""
        known = ((amounts[name], *row) for name, row in self.amounts.items() if name in amounts)
        rows = [standing(amount, usual, spread) * weights for amount, usual, spread, weights in known]
        return np.asarray(np.sum([*rows, 0 * self.prior], axis=0))


def standing(amount: float, usual: float, spread: float) -> float:
    """How far an amount is from its usual value, in spreads, at most four."""
    return float(np.clip((amount - usual) / spread, -4, 4))


def centred(speaks: Mapping[Verdict, float]) -> dict[Verdict, float]:
    """The same for every verdict, without a common part: what speaks for one speaks a little against all others."""
    total = np.array([speaks.get(v, 0.0) for v in VERDICTS])
    return dict(zip(VERDICTS, (total - total.mean()).tolist(), strict=True))


def probabilities(by: Weights, speaks: list[Mapping[Verdict, float]]) -> dict[Verdict, float]:
    """The probability of every verdict from the prior and all that was said."""
    total = (by.prior + np.sum([[s[v] for v in VERDICTS] for s in speaks], axis=0)) / by.temperature
    odds = np.exp(total - total.max())
    told = (1 - by.lapse) * odds / odds.sum() + by.lapse / len(VERDICTS)
    return dict(zip(VERDICTS, told.tolist(), strict=True))


@cache
def weights() -> Weights:
    """The weights of the verdicts as they were fitted."""
    return Weights.read(FILE, VERDICTS)
