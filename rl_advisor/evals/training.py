"""Fits the odds that going on pays on labeled runs, and says how they do on families left out.

``python -m rl_advisor.evals.training CORPUS... [--write]`` prints the fit; ``--write`` puts the weights where the judgement reads them.
Runs that the judgement calls broken are left out: their odds are set, not fitted.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rl_advisor.evals import scoring
from rl_advisor.evals.corpus import read_corpus
from rl_advisor.evals.firewall import blind
from rl_advisor.judgement.case import open_case
from rl_advisor.judgement.odds import NAMES, WEIGHTS, outlook
from rl_advisor.judgement.prospects import BROKEN
from rl_advisor.judgement.verdict import judge
from rl_advisor.run import Floats

RIDGE = 1.0
"""Weight of the penalty on standardised weights; one prior observation's worth."""


def examples(corpora: Sequence[Path]) -> tuple[Floats, Floats, list[str]]:
    """Features, whether going on paid, and the family, of every labeled prefix whose run is not called broken there."""
    from rl_advisor.reading import read_run

    rows, paid, families = [], [], []
    for folder in corpora:
        labeled = read_corpus(folder)
        for label in labeled.labels.values():
            run = read_run(labeled.folder(label.run))
            for prefix in label.prefixes.values():
                case = open_case(blind(run, prefix.step, whole=False))
                ahead = outlook(case)
                if ahead is None or judge(case).verdict in BROKEN:
                    continue
                rows.append(ahead.features())
                paid.append(float(prefix.continue_pays))
                families.append(f"{folder.name}/{label.family}")
    return np.array(rows), np.array(paid), families


def fit(x: Floats, y: Floats) -> Floats:
    """Intercept and weights of a ridge logistic regression on standardised features, by Newton's method (20 steps), in raw units."""
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


def left_out(x: Floats, y: Floats, families: Sequence[str]) -> Floats:
    """The probability of every row from a fit without its family."""
    names = np.array(families)
    out = np.zeros(len(y))
    for name in set(families):
        held = names == name
        w = fit(x[~held], y[~held])
        out[held] = 1 / (1 + np.exp(-(w[0] + x[held] @ w[1:])))
    return out


def report(corpora: Sequence[Path]) -> dict[str, Any]:
    """The weights, and how the odds of families left out agree with what happened."""
    x, y, families = examples(corpora)
    odds = left_out(x, y, families)
    return {
        "weights": [round(float(w), 4) for w in fit(x, y)],
        "features": ["intercept", *NAMES],
        "corpora": [folder.name for folder in corpora],
        "rows": len(y),
        "families": len(set(families)),
        "base_rate": round(float(y.mean()), 3),
        "left_out_auroc": round(scoring.auroc(y > 0, odds), 3),
        "left_out_brier": round(scoring.brier(y > 0, odds), 3),
    }


if __name__ == "__main__":
    chosen = [Path(word) for word in sys.argv[1:] if not word.startswith("--")]
    fitted = report(chosen)
    print(json.dumps(fitted, indent=2))  # noqa: T201
    if "--write" in sys.argv:
        WEIGHTS.write_text(json.dumps(fitted, indent=2) + "\n", encoding="utf-8")
