"""Reliability by temperature: sharper where right, flatter where wrong, and chosen by the other sets; and its diagram."""

import numpy as np
import pytest
from evals.fit_weights import Labelled, Row
from evals.proving_ground.diagram import diagram
from rl_advisor.finding import VERDICTS
from rl_advisor.run import Run

from evals import reliability


def rows(*admitted: str) -> list[Row]:
    """A run for each verdict that is admitted."""
    return [Row(Labelled(Run, (v,), (v,), v, "set"), np.zeros(0), np.zeros(0)) for v in admitted]


def odds(*first: float) -> np.ndarray:
    """Probabilities of which the first verdict has so much, the others the rest in equal parts."""
    return np.array([[p, *[(1 - p) / (len(VERDICTS) - 1)] * (len(VERDICTS) - 1)] for p in first])


@pytest.mark.parametrize(("temperature", "sharper"), [(0.5, True), (1.0, None), (2.0, False)])
def test_a_temperature_sharpens_or_flattens_and_keeps_the_order(temperature, sharper) -> None:
    """Rows still sum to one and the likeliest stays the likeliest."""
    told = reliability.at(odds(0.6, 0.3), temperature)
    assert told.sum(axis=1) == pytest.approx(1)
    assert (told.argmax(axis=1) == 0).all()
    assert told[0, 0] == pytest.approx(0.6) if sharper is None else (told[0, 0] > 0.6) == sharper


def test_where_all_is_right_a_low_temperature_is_chosen_and_where_all_is_wrong_a_high_one() -> None:
    """The temperature of a set follows from the other sets alone."""
    right, wrong = rows(*[VERDICTS[0]] * 5), rows(*[VERDICTS[1]] * 5)
    said = odds(*[0.6] * 5)
    assert reliability.best({"a": (right, said)}) == min(reliability.TEMPERATURES)
    assert reliability.best({"a": (wrong, said)}) == max(reliability.TEMPERATURES)
    told = reliability.scored(right, said)
    assert (told["right"], told["said"], told["ECE"]) == (1.0, pytest.approx(0.6), pytest.approx(0.4))
    page = reliability.tables({"a": (right * 2, np.vstack([said] * 2)), "b": (wrong * 2, np.vstack([said] * 2))}, {"a", "b"})
    assert f"| {max(reliability.TEMPERATURES):g}, chosen by the other real sets | 10 |" in page.split("| b |")[0]


def test_a_diagram_has_a_dot_a_tenth() -> None:
    """Each tenth that has runs is a dot at what was said and what happened."""
    drawn = diagram({"verdict": {"80 to 90 %": {"runs": 4, "said": 0.85, "happened": 0.5}}})
    assert drawn.count("<circle") == 1
    assert "said 0.85, happened 0.50, 4 runs" in drawn
