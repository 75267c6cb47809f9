"""How much of a target's variance some inputs tell: a small regressor, fitted on some rows and asked about others."""

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.series import Bools, Floats

FOLDS, WIDE, UNITS = 5, 256, 192
PENALTIES = (1e-3, 1e-1, 1e1, 1e3)
FEWEST = 50


def explained_variance(target: Floats, told: Floats) -> float:
    """1 where ``told`` is the target but for a constant, 0 where it says no more than the mean, below 0 less; NaN for a constant target."""
    spread = float(np.var(target))
    return 1 - float(np.var(target - told)) / spread if spread > 0 else float("nan")


def predictable(inputs: Floats, target: Floats) -> tuple[Floats, float]:
    """Explained variance on each of five stretches that the regressor did not see, and of the rows that it saw.

    ``inputs`` are rows by columns, in the order in which they were collected: neighbours are alike, so whole stretches are held back.
    The regressor is ridge regression on the inputs and 192 random rectified sums of them; its penalty is the best of four.

    Raises:
        TooFewPoints: fewer than fifty rows.
    """
    if target.size < FEWEST:
        raise TooFewPoints(f"{target.size} rows, at least {FEWEST} are needed")
    x = _widened(inputs)
    fold = np.arange(target.size) * FOLDS // target.size
    held = {penalty: np.array([_held_out(x, target, fold == k, penalty) for k in range(FOLDS)]) for penalty in PENALTIES}
    best = max(PENALTIES, key=lambda penalty: float(np.mean(held[penalty])))
    seen = x @ _ridge(x, target - target.mean(), PENALTIES[0])
    return held[best], explained_variance(target, seen)


def _widened(inputs: Floats) -> Floats:
    """A constant, the standardised inputs (of very many, random sums), and rectified random sums of them."""
    draw = np.random.default_rng(0)
    x = inputs if inputs.shape[1] <= WIDE else inputs @ (draw.standard_normal((inputs.shape[1], WIDE)) / np.sqrt(inputs.shape[1]))
    spread = x.std(axis=0)
    x = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    sums = x @ (draw.standard_normal((x.shape[1], UNITS)) / np.sqrt(x.shape[1])) + draw.standard_normal(UNITS)
    return np.concatenate([np.ones((len(x), 1)), x, np.maximum(sums, 0)], axis=1)


def _ridge(x: Floats, target: Floats, penalty: float) -> Floats:
    """Weights of ridge regression."""
    return np.asarray(np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ target))


def _held_out(x: Floats, target: Floats, out: Bools, penalty: float) -> float:
    """Explained variance on the rows of ``out``, by the spread of all rows: a stretch of one level is no reason for a huge negative."""
    mean = float(target[~out].mean())
    miss = target[out] - mean - x[out] @ _ridge(x[~out], target[~out] - mean, penalty)
    return 1 - float(np.mean(miss**2)) / float(np.var(target)) if np.var(target) > 0 else float("nan")
