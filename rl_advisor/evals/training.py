"""Fits the odds that going on pays, and says how they do on families left out.

``python -m rl_advisor.evals.training CORPUS [TEST...] [--write]`` prints the fit; ``--write`` puts the weights where the judgement reads
them. What a curve foretells is fitted on drawn learning curves. How much the plan counts is not in any curve: people plan runs to be done
by their end. That one weight is moved to what the labeled runs of the first corpus say, and scored there with each family left out of
it; the other corpora are tests of what came of it.
"""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rl_advisor import trajectory
from rl_advisor.evals import scoring
from rl_advisor.evals.corpus import read_corpus
from rl_advisor.evals.firewall import blind
from rl_advisor.evals.imagined import CUTS, imagined
from rl_advisor.judgement.case import Case, open_case
from rl_advisor.judgement.odds import LEFT, NAMES, WEIGHTS, Outlook, Weights, foreseen, known, outlook, plan_left, probability
from rl_advisor.judgement.prospects import LEAST, broke, prospect
from rl_advisor.judgement.verdict import Judged, judge
from rl_advisor.run import Curve, Floats

CURVES = 1500
RIDGE = 1.0
"""Weight of the penalty on standardised weights; one prior observation's worth."""
HALF = float(np.log(2))
"""Where the weight of the plan turns: half way the odds are those of the drawn curves."""


@dataclass(frozen=True)
class Rows:
    """Prefixes to fit on or to test on."""

    x: Floats
    """Features, the room last, which only the gain is fitted on."""
    pays: Floats
    gain: Floats
    """Of going on, as a share of the range of the whole run; NaN where it is not known."""
    family: Sequence[str]


@dataclass(frozen=True)
class Asked:
    """One labeled prefix as the judgement sees it."""

    case: Case
    judged: Judged
    ahead: Outlook | None
    pays: bool
    family: str


def drawn(count: int = CURVES) -> Rows:
    """Features and labels of the prefixes of drawn curves that can carry a shape."""
    x, pays, gain, family = [], [], [], []
    for one in imagined(count):
        for cut in CUTS:
            k = max(trajectory.FEWEST, int(cut * one.time.size))
            curve = Curve("eval/score/drawn", "drawn", "drawn", one.time[:k], one.seen[:k], mapped=True)
            ahead = foreseen(trajectory.shape_or_none(curve), None, 1 - float(one.time[k - 1]), 1.0)
            if ahead is not None:
                won, paid = one.going_on(k)
                x.append(ahead.with_room())
                pays.append(float(paid))
                gain.append(won)
                family.append(one.family)
    return Rows(np.array(x), np.array(pays), np.array(gain), family)


def asked(folder: Path) -> list[Asked]:
    """Every labeled prefix of a corpus, blinded and judged."""
    from rl_advisor.reading import read_run

    labeled, found = read_corpus(folder), []
    for label in labeled.labels.values():
        run = read_run(labeled.folder(label.run))
        for prefix in label.prefixes.values():
            case = open_case(blind(run, prefix.step, whole=False))
            found.append(Asked(case, judge(case), outlook(case), prefix.continue_pays, f"{folder.name}/{label.family}"))
    return found


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


def replanned(w: Weights, found: Sequence[Asked]) -> Weights:
    """The same odds with the weight of the plan that labeled prefixes speak for; half way they stay as they are.

    One number is fitted, beside the odds so far; broken runs, whose odds are set, have no say.
    """
    told = [a for a in found if not broke(a.judged)]
    left = np.array([known(plan_left(a.case)) + HALF for a in told])
    p = np.array([probability(a.ahead, plan_left(a.case), w) for a in told])
    odds, paid, shift = np.log(p / (1 - p)), np.array([a.pays for a in told], np.float64), 0.0
    for _ in range(20):
        p = 1 / (1 + np.exp(-(odds + shift * left)))
        shift -= float((left @ (p - paid) + RIDGE * shift) / (left**2 @ (p * (1 - p)) + RIDGE))
    return replace(w, pays=_turned(w.pays, 1 + LEFT, shift), pays_unseen=_turned(w.pays_unseen, 1, shift))


def _turned(w: Floats, place: int, shift: float) -> Floats:
    moved = w.copy()
    moved[[0, place]] += np.array([shift * HALF, shift])
    return moved


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
        "balanced_accuracy": scoring.balanced_accuracy(truth, p >= LEAST),
    }
    return {"rows": len(p)} | {name: round(value, 3) for name, value in measured.items()}


def asked_of(found: Sequence[Asked], w: Callable[[str], Weights]) -> dict[str, float]:
    """The scores of the whole judgement on labeled prefixes, with the weights that each family is given."""
    given = {family: w(family) for family in {a.family for a in found}}
    p = np.array([prospect(a.case, a.judged, given[a.family]).p for a in found])
    return scores(np.array([a.pays for a in found], np.float64), p)


def report(folder: Path, tests: Sequence[Path]) -> dict[str, Any]:
    """The weights, how the odds of families left out agree with what happened, and how the judgement does on labeled runs."""
    rows, runs = drawn(), asked(folder)
    others = {test.name: asked(test) for test in tests}
    curves = fitted(rows)
    final = replanned(curves, runs)
    return {
        **{name: [round(float(v), 4) for v in getattr(final, name)] for name in Weights.__dataclass_fields__},
        "features": ["intercept", *NAMES, "room (of the gain only)"],
        "drawn": {
            "curves": CURVES,
            "families": len(set(rows.family)),
            "left_out": scores(rows.pays, left_out(rows.x[:, :-1], rows.pays, rows.family)),
        },
        "by_curves_alone": {name: asked_of(found, lambda _: curves) for name, found in ({folder.name: runs} | others).items()},
        "left_out": {folder.name: asked_of(runs, lambda family: replanned(curves, [a for a in runs if a.family != family]))},
        "tests": {name: asked_of(found, lambda _: final) for name, found in others.items()},
    }


if __name__ == "__main__":
    first, *more = (Path(word) for word in sys.argv[1:] if not word.startswith("--"))
    made = report(first, more)
    print(json.dumps(made, indent=2))  # noqa: T201
    if "--write" in sys.argv:
        WEIGHTS.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
