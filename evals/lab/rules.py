"""The small numerical rules of the baseline arms, kept as simple as the tools that use them keep theirs."""

import numpy as np
from rl_advisor.evals.scoring import Floats
from rl_advisor.run import Curve, Run

FEWEST = 5
"""Points below which a rule has nothing to say."""


def finite(run: Run, name: str) -> tuple[Floats, Floats]:
    """Steps and finite values of a metric; empty when it was not logged."""
    curve = run.curves.get(name)
    return curve.finite() if curve else (np.empty(0), np.empty(0))


def held_out(run: Run) -> Curve | None:
    """The held-out score with the most points."""
    scores = [c for _, c in sorted(run.family("eval/score/").items()) if c.finite()[0].size >= FEWEST]
    return max(scores, key=lambda c: c.step.size, default=None)


def progress(run: Run) -> tuple[Floats, Floats]:
    """The curve a person would look at first: the held-out score where there is one, else the training reward."""
    curve = held_out(run)
    return curve.finite() if curve else finite(run, "reward/mean")


def best_step(run: Run) -> float | None:
    """Step of the highest raw value; None when nothing was logged."""
    steps, values = progress(run)
    return float(steps[int(values.argmax())]) if values.size else None


def mann_kendall(values: Floats) -> tuple[float, float]:
    """Normal score of the Mann-Kendall test, ties corrected and autocorrelation not, and Kendall's S; (0, 0) when all are equal."""
    n = values.size
    order = np.sign(values[None, :] - values[:, None])
    s = float(np.triu(order, 1).sum())
    _, ties = np.unique(values, return_counts=True)
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    return ((s - np.sign(s)) / variance**0.5, s) if variance > 0 else (0.0, 0.0)


def slope(steps: Floats, values: Floats) -> float:
    """Median of the slopes between all pairs of points (Theil-Sen), thinned to 200 points."""
    keep = np.unique(np.linspace(0, steps.size - 1, min(steps.size, 200)).astype(int))
    x, y = steps[keep], values[keep]
    i, j = np.triu_indices(x.size, 1)
    return float(np.median((y[j] - y[i]) / (x[j] - x[i]))) if i.size else 0.0


def edges(values: Floats, share: float = 0.1) -> tuple[float, float]:
    """Medians of the first and of the last part of a curve."""
    width = max(1, int(values.size * share))
    return float(np.median(values[:width])), float(np.median(values[-width:]))


def halves(values: Floats) -> str:
    """Direction of a curve by comparing the means of its halves, 5 percent apart or flat: rising, falling, flat or unknown."""
    if values.size < 10:
        return "unknown"
    first, second = float(values[: values.size // 2].mean()), float(values[values.size // 2 :].mean())
    if abs(second - first) <= 0.05 * abs(first):
        return "flat"
    return "rising" if second > first else "falling"
