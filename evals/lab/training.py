"""Fits the odds that going on pays on drawn learning curves, and says how they do on families left out.

``python -m evals.lab.training [--write]`` prints the fit; ``--write`` puts the weights where the judgement reads them. How much the
plan and the rest of a run count is no matter of curves: ``evals/fit_going_on.py`` weighs that on labelled runs.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from evals.lab.imagined import CUTS, imagined
from rl_advisor.curves import outcome_shape
from rl_advisor.evals import scoring
from rl_advisor.judgement.odds import LEFT, NAMES, WEIGHTS, Weights, foreseen
from rl_advisor.run import Curve, Floats

CURVES = 1500
RIDGE = 1.0
"""Weight of the penalty on standardised weights; one prior observation's worth."""


@dataclass(frozen=True)
class Rows:
    """Prefixes to fit on or to test on."""

    x: Floats
    """Features, the room last, which only the gain is fitted on."""
    pays: Floats
    gain: Floats
    """Of going on, as a share of the range of the whole run; NaN where it is not known."""
    family: Sequence[str]


def drawn(count: int = CURVES) -> Rows:
    """Features and labels of the prefixes of drawn curves that can carry a shape."""
    x, pays, gain, family = [], [], [], []
    for one in imagined(count):
        for cut in CUTS:
            k = max(outcome_shape.FEWEST, int(cut * one.time.size))
            curve = Curve("eval/score/drawn", "drawn", "drawn", one.time[:k], one.seen[:k], mapped=True)
            ahead = foreseen(outcome_shape.shape_or_none(curve), None, 1 - float(one.time[k - 1]), 1.0)
            if ahead is not None:
                won, paid = one.going_on(k)
                x.append(ahead.with_room())
                pays.append(float(paid))
                gain.append(won)
                family.append(one.family)
    return Rows(np.array(x), np.array(pays), np.array(gain), family)


def fit(x: Floats, y: Floats) -> Floats:
    """Intercept and weights of a ridge logistic regression on standardised features, by Newton's method (20 steps), in raw units.

    ``y`` may be a share between 0 and 1.
    """
    middle, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    design = np.column_stack([np.ones(len(x)), (x - middle) / spread])
    penalty = np.diag([0.0] + [RIDGE] * x.shape[1])
    w = np.zeros(design.shape[1])
    for _ in range(20):
        p = 1 / (1 + np.exp(-design @ w))
        slope = design.T @ (p - y) + penalty @ w
        curvature = (design * (p * (1 - p))[:, None]).T @ design + penalty
        w = w - np.linalg.solve(curvature + 1e-9 * np.eye(w.size), slope)
    raw = w[1:] / spread
    return np.concatenate([[w[0] - raw @ middle], raw])


def fitted(rows: Rows) -> Weights:
    """All weights: whether going on pays, what it brings where it does, and both from the plan alone."""
    left, paid = rows.x[:, [LEFT]], rows.pays > 0
    brought = np.clip(rows.gain[paid], 0, 1)
    return Weights(
        pays=fit(rows.x[:, :-1], rows.pays),
        gain=fit(rows.x[paid], brought),
        pays_unseen=fit(left, rows.pays),
        gain_unseen=fit(left[paid], brought),
    )


def left_out(x: Floats, y: Floats, families: Sequence[str]) -> Floats:
    """The probability of every row from a fit without its family."""
    names = np.array(families)
    out = np.zeros(len(y))
    for name in set(families):
        held = names == name
        w = fit(x[~held], y[~held])
        out[held] = 1 / (1 + np.exp(-(w[0] + x[held] @ w[1:])))
    return out


def scores(pays: Floats, p: Floats) -> dict[str, float]:
    """How probabilities agree with what happened."""
    truth = pays > 0
    measured = {
        "base_rate": float(truth.mean()),
        "auroc": scoring.auroc(truth, p),
        "brier": scoring.brier(truth, p),
        "balanced_accuracy": scoring.balanced_accuracy(truth, p >= 0.5),
    }
    return {"rows": len(p)} | {name: round(value, 3) for name, value in measured.items()}


def report() -> dict[str, Any]:
    """The weights, and how the odds of families left out agree with what happened."""
    rows = drawn()
    final = fitted(rows)
    return {
        **{name: [round(float(v), 4) for v in getattr(final, name)] for name in Weights.__dataclass_fields__},
        "features": ["intercept", *NAMES, "room (of the gain only)"],
        "drawn": {
            "curves": CURVES,
            "families": len(set(rows.family)),
            "left_out": scores(rows.pays, left_out(rows.x[:, :-1], rows.pays, rows.family)),
        },
    }


if __name__ == "__main__":
    made = report()
    print(json.dumps(made, indent=2))
    if "--write" in sys.argv:
        WEIGHTS.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
