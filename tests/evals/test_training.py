"""Fitting the odds: the fit finds what made the data, drawn curves are labeled by the rule of the corpora, the shipped weights order."""

import json
from itertools import pairwise

import numpy as np
import pytest
from evals.lab.imagined import SHAPES, Imagined, imagined
from evals.lab.training import drawn, fit, fitted, left_out, scores
from rl_advisor.judgement.odds import NAMES, WEIGHTS, Outlook, probability, upside, weights


def test_fit_finds_the_weights() -> None:
    """On many rows from a known model the weights come back, and families left out are foretold."""
    draws = np.random.default_rng(0)
    x = draws.normal(size=(4000, 3)) * [1.0, 2.0, 0.5]
    true = np.array([-0.5, 1.0, -0.7, 2.0])
    y = (draws.random(4000) < 1 / (1 + np.exp(-(true[0] + x @ true[1:])))).astype(float)
    assert np.allclose(fit(x, y), true, atol=0.25)
    odds = left_out(x, y, [str(i % 8) for i in range(4000)])
    assert odds[y > 0].mean() > odds[y == 0].mean() + 0.3


def test_drawn_curves_are_the_same_every_time_and_of_every_family() -> None:
    """The seed alone decides what is drawn."""
    once, again = list(imagined(2 * len(SHAPES))), list(imagined(2 * len(SHAPES)))
    assert {one.family for one in once} == {shape.__name__ for shape in SHAPES}
    assert all(np.array_equal(a.seen, b.seen) and np.array_equal(a.hidden, b.hidden) for a, b in zip(once, again, strict=True))
    assert not np.array_equal(once[0].seen, once[0].hidden)


@pytest.mark.parametrize(("later", "pays"), [(1.0, True), (0.5, False), (0.0, False)])
def test_going_on_pays_when_the_other_half_saw_it(later: float, pays: bool) -> None:
    """A rise that both halves saw pays; a level that stays, or falls, does not."""
    level = np.r_[np.linspace(0, 0.5, 20), np.linspace(0.5, later, 20)]
    one = Imagined("by hand", np.linspace(0, 1, 40), level, level)
    gain, paid = one.going_on(20)
    assert paid is pays
    assert gain == pytest.approx(later - 0.5, abs=0.06 if pays else 0.55)


def test_luck_of_the_seen_half_does_not_pay() -> None:
    """A single high evaluation that the other half did not see is no gain."""
    flat = np.tile([0.4, 0.42], 20)
    lucky = flat.copy()
    lucky[30] = 1.0
    assert not Imagined("by hand", np.linspace(0, 1, 40), lucky, flat).going_on(20)[1]


def test_what_is_drawn_can_be_foretold() -> None:
    """Fitted on some families the odds order prefixes of others, clearly better than chance."""
    rows = drawn(120)
    assert rows.x.shape == (len(rows.pays), len(NAMES) + 1)
    assert scores(rows.pays, left_out(rows.x[:, :-1], rows.pays, rows.family))["auroc"] > 0.65
    assert np.isfinite(np.concatenate([*vars(fitted(rows)).values()])).all()


def test_shipped_weights_order_as_they_should() -> None:
    """More forecast gain, a likelier gain and more of the plan left each raise the odds, as does the plan alone."""
    assert len(json.loads(WEIGHTS.read_text())["pays"]) == weights().pays.size == 1 + len(NAMES)
    base = Outlook(chance=0.5, expected=0.05, scale=1.0, left=0.5, noise=0.1)
    for better in (Outlook(0.9, 0.05, 1.0, 0.5, 0.1), Outlook(0.5, 0.2, 1.0, 0.5, 0.1), Outlook(0.5, 0.05, 1.0, 0.9, 0.1)):
        assert probability(better, better.left) > probability(base, base.left)
    alone = [(probability(None, left), upside(None, left)) for left in (0.1, 0.5, 0.9)]
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(alone))
