"""The shape of a curve in words: what each drawing was made to do is said, with its levels and steps, and nothing that it does not do."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from rl_advisor.answers.curve_words import described, turning
from rl_advisor.answers.curves import summaries
from rl_advisor.curves.course import course_of
from rl_advisor.run import Curve, Run

STEP = np.arange(0.0, 1000.0, 5.0)


def curve(shape: Callable[[np.ndarray], np.ndarray], noise: float, seed: int = 0, step: np.ndarray = STEP) -> Curve:
    """A share that goes so, with that much noise."""
    value = shape(step / 1000.0) + noise * np.random.default_rng(seed).standard_normal(step.size)
    return Curve("eval/score/accuracy", "acc", "log.csv", step, value)


def numbers(text: str, form: str) -> float:
    """The number that stands in such a place."""
    return float(re.search(form, text)[1])


SHAPES = {
    "rises": (lambda x: 0.2 + 0.6 * x, ["rises steadily to"], ["falls", "break", "swings"]),
    "falls": (lambda x: 0.9 - 0.5 * x, ["falls steadily to"], ["rises", "break", "swings"]),
    "rests": (lambda x: 0.5 + 0 * x, ["stays there to step 995"], ["rises", "falls", "break", "swings"]),
    "saturates": (lambda x: np.minimum(0.2 + 1.5 * x, 0.8), ["rises", "and stays there"], ["falls", "break", "swings"]),
    "breaks": (
        lambda x: np.where(x < 0.5, 0.8, 0.2),
        ["stays there to step", "drops to about 0.", "at a break at step"],
        ["rises", "swings"],
    ),
    "there and back": (lambda x: 0.2 + 0.6 * np.sin(np.pi * x), ["rises", "falls"], ["break", "swings"]),
    "swings": (lambda x: 0.1 + 0.7 * x + 0.12 * np.sin(40 * x), ["swings by up to"], ["break"]),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_what_is_drawn_is_said(name: str, noise: float) -> None:
    shape, said, unsaid = SHAPES[name]
    for seed in range(3):
        text = described(curve(shape, noise, seed))
        assert all(words in text for words in said) or (noise == 0 and "throughout" in text), text
        assert not any(words in text for words in unsaid), text


def test_levels_and_steps_are_those_of_the_drawing() -> None:
    text = described(curve(lambda x: np.minimum(0.2 + 1.5 * x, 0.8), 0.02))
    assert numbers(text, r"starts at about ([\d.]+),") == pytest.approx(0.2, abs=0.05)
    assert numbers(text, r"to about ([\d.]+) by step") == pytest.approx(0.8, abs=0.03)
    assert numbers(text, r"by step (\d+)") == pytest.approx(400, abs=60)
    assert numbers(text, r"single points lie ([\d.]+) off") == pytest.approx(0.02, abs=0.01)
    broken = described(curve(lambda x: np.where(x < 0.5, 0.8, 0.2), 0.02))
    assert numbers(broken, r"break at step (\d+)") == pytest.approx(500, abs=20)


def test_few_points_are_told_one_by_one() -> None:
    few = described(Curve("eval/score/accuracy", "acc", "log.csv", np.array([0.0, 10.0]), np.array([0.25, 0.5])))
    assert few == "eval/score/accuracy has 2 finite points: 0.25 at step 0 and 0.5 at step 10."
    none = described(Curve("loss", "loss", "log.csv", np.array([0.0]), np.array([np.nan])))
    assert none == "loss has no finite value."


def test_turns_are_as_deep_as_asked() -> None:
    line = np.array([0.0, 1.0, 0.4, 2.0, 0.0])
    assert turning(line, 0.5) == [0, 1, 2, 3, 4]
    assert turning(line, 0.7) == [0, 3, 4]
    assert turning(line, 5.0) == []


def test_every_curve_is_told_where_none_is_named() -> None:
    run = Run(curves={f"m{i}": Curve(f"m{i}", f"m{i}", "log.csv", STEP, STEP * i) for i in range(20)})
    told = summaries(run, words=True)
    assert len(told["metrics"]) == 20 and not told["left_out"]
    assert set(told["metrics"][0]) == {"name", "logged_as", "words"}


def test_what_the_judge_says_still_rises_does_not_stay() -> None:
    """A slow rise under its scatter has no turn; words and verdict are still of one curve."""
    slow = curve(lambda x: 0.3 + 0.03 * x, 0.12, 1, np.arange(0.0, 1000.0, 0.5))
    assert course_of(slow).amounts["still rises"] >= 0.5
    assert "rises slowly to" in described(slow) and "stays" not in described(slow)
    flat = curve(lambda x: 0.3 + 0 * x, 0.12, 1, np.arange(0.0, 1000.0, 0.5))
    assert course_of(flat).amounts["still rises"] < 0.5 and "stays there to step" in described(flat)
