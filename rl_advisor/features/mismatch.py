"""How far two sets of log-probabilities of the same tokens are apart: gaps, KL estimates, ratios, effective sample size."""

import numpy as np
import numpy.typing as npt

from rl_advisor.features import TooFewPoints

CLIP = 20.0
"""Largest log ratio that is exponentiated; beyond it the numbers only say "enormous"."""


def mismatch(trainer: npt.ArrayLike, engine: npt.ArrayLike) -> dict[str, float]:
    """The trainer's log-probabilities against those of the engine that sampled the tokens; those not finite on either side are left out.

    ``gap_`` is the absolute difference in nats. ``k1``, the mean of engine minus trainer, is unbiased for KL(engine || trainer) and may be
    negative; ``k3``, the mean of ratio - 1 - log ratio, is unbiased too, never negative, and carried by its tail. ``ratio_mean`` (trainer
    over engine) is 1 in expectation whatever the mismatch; ``outside`` is the share of tokens whose ratio is below a half or above 2,
    ``effective_share`` (sum of ratios)^2 / (n * sum of squared ratios).

    Estimators as in Schulman, "Approximating KL divergence" (2020). Raises TooFewPoints without a common token, and ValueError for unlike
    shapes.
    """
    a, b = np.asarray(trainer, np.float64), np.asarray(engine, np.float64)
    if a.shape != b.shape:
        raise ValueError(f"the two sides must have one value a token each, not {a.shape} and {b.shape}")
    keep = np.isfinite(a) & np.isfinite(b)
    log_ratio = np.clip(a[keep] - b[keep], -CLIP, CLIP)
    if not log_ratio.size:
        raise TooFewPoints("no token has a finite log-probability on both sides")
    gap, ratio = np.abs(log_ratio), np.exp(log_ratio)
    return {
        "tokens": log_ratio.size,
        "gap_mean": float(gap.mean()),
        "gap_p99": float(np.quantile(gap, 0.99)),
        "gap_max": float(gap.max()),
        "k1": float(-log_ratio.mean()),
        "k3": float(np.mean(np.expm1(log_ratio) - log_ratio)),
        "ratio_mean": float(ratio.mean()),
        "ratio_min": float(ratio.min()),
        "ratio_max": float(ratio.max()),
        "outside": float(((ratio < 0.5) | (ratio > 2)).mean()),
        "effective_share": float(ratio.sum() ** 2 / (ratio.size * (ratio**2).sum())),
    }
