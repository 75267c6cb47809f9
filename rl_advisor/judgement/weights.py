"""How much each amount of a course speaks for each verdict: one data file, each line readable as "this, above the usual, speaks for that".

Fitted by a regularised multinomial regression on labelled runs (``evals/fit_weights.py``), which also says how the fit does on repositories
and whole sets left out. An amount has a usual value, a spread, and one weight a verdict.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from rl_advisor.assessment import VERDICTS, Verdict
from rl_advisor.features.series import Floats

FILE = Path(__file__).parent / "weights.json"


@dataclass(frozen=True)
class Weights:
    """The prior of every verdict, and for every amount its usual value, its spread, and one weight a verdict."""

    prior: Floats
    usual: Mapping[str, tuple[float, float]]
    of: Mapping[str, Floats]
    covered: float = 0.9
    """Weight of a set of the likeliest verdicts: one and a half in the mean."""
    temperature: float = 1.0
    """What the sum of all that speaks is divided by: below one the fit, which leans to small weights, was too modest."""

    def speak(self, amounts: Mapping[str, float]) -> dict[Verdict, float]:
        """What some amounts add to the logarithm of the odds of each verdict."""
        total = np.zeros(len(VERDICTS))
        for name, amount in amounts.items():
            if name in self.of:
                total += standing(amount, *self.usual[name]) * self.of[name]
        return dict(zip(VERDICTS, (total - total.mean()).tolist(), strict=True))


def standing(amount: float, usual: float, spread: float) -> float:
    """How far an amount is from its usual value, in spreads, at most four."""
    return float(np.clip((amount - usual) / spread, -4, 4))


def centred(speaks: Mapping[Verdict, float]) -> dict[Verdict, float]:
    """The same for every verdict, without a common part: what speaks for one speaks a little against all others."""
    total = np.array([speaks.get(v, 0.0) for v in VERDICTS])
    return dict(zip(VERDICTS, (total - total.mean()).tolist(), strict=True))


def probabilities(by: Weights, speaks: list[Mapping[Verdict, float]]) -> dict[Verdict, float]:
    """The probability of every verdict from the prior and all that was said."""
    total = by.prior + sum((np.array([s[v] for v in VERDICTS]) for s in speaks), np.zeros(len(VERDICTS)))
    total = total / by.temperature
    odds = np.exp(total - total.max())
    return dict(zip(VERDICTS, (odds / odds.sum()).tolist(), strict=True))


@cache
def weights() -> Weights:
    """The weights as they were fitted."""
    told = json.loads(FILE.read_text(encoding="utf-8"))
    of = {name: np.array([entry["weights"][v] for v in VERDICTS]) for name, entry in told["amounts"].items()}
    usual = {name: (entry["usual"], entry["spread"]) for name, entry in told["amounts"].items()}
    return Weights(np.array([told["prior"][v] for v in VERDICTS]), usual, of, told["covered"], told["temperature"])
