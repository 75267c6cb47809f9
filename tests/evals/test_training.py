"""Fitting the odds: the fit finds what made the data, and the weights that ship are those that the command prints."""

import json

import numpy as np
from rl_advisor.evals.training import fit, left_out
from rl_advisor.judgement.odds import WEIGHTS, Outlook, moved_by, probability, weights


def test_fit_finds_the_weights() -> None:
    """On many rows from a known model the weights come back, and families left out are foretold."""
    draws = np.random.default_rng(0)
    x = draws.normal(size=(4000, 3)) * [1.0, 2.0, 0.5]
    true = np.array([-0.5, 1.0, -0.7, 2.0])
    y = (draws.random(4000) < 1 / (1 + np.exp(-(true[0] + x @ true[1:])))).astype(float)
    assert np.allclose(fit(x, y), true, atol=0.25)
    odds = left_out(x, y, [str(i % 8) for i in range(4000)])
    assert odds[y > 0].mean() > odds[y == 0].mean() + 0.3


def test_shipped_weights_order_as_they_should() -> None:
    """More forecast gain, a likelier gain and more of the plan left each raise the odds."""
    assert len(json.loads(WEIGHTS.read_text())["weights"]) == weights().size == 4
    base = Outlook(chance=0.5, expected=0.05, scale=1.0, left=0.5)
    for better in (Outlook(0.9, 0.05, 1.0, 0.5), Outlook(0.5, 0.2, 1.0, 0.5), Outlook(0.5, 0.05, 1.0, 0.9)):
        assert probability(better) > probability(base)
    assert moved_by(Outlook(0.5, 0.05, 1.0, 0.02)) == ("plan left", False)
