"""Which language, whose words, and how a text ends: closed cases, near-misses, and what holds for any text."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rl_advisor.features.endings import is_open, pile_up
from rl_advisor.features.text.language import language, other_language_share, prose
from rl_advisor.features.text.turns import spoken
from rl_advisor.samples.measured_text import BUDGET

SPOKEN: list[tuple[str, str]] = list(json.loads((Path(__file__).parents[1] / "data" / "languages.json").read_text("utf-8")).items())
CODE = """def f(x):
    for i in range(10):
        if x is not None and i in x:
            return x
    return None if not x else x or f
"""
NO_LANGUAGE = [
    CODE,
    "public static void main(String[] args) {\n  for (int i = 0; i < 10; i++) {\n    if (a.is(b)) return this;\n  }\n}",
    r"\frac{a}{b} + \int x dx = 3, $a + b = c$ x y z",
    "What is 3 + 4?",
    "9 8 7 6 5 4 3 2 1",
    "Ludwig van Beethoven Leonardo da Vinci Simone de Beauvoir Juan de la Cruz",
    "",
]


@pytest.mark.parametrize(("name", "text"), SPOKEN, ids=[name for name, _ in SPOKEN])
def test_languages_of_one_script_are_told_apart(name: str, text: str) -> None:
    """Two sentences of each are enough, and inside another prompt's answer they are another language."""
    assert language(prose(text)) == name
    assert other_language_share(text, text) == 0
    others = [other for other, _ in SPOKEN if other != name]
    assert other_language_share(dict(SPOKEN)[others[0]], text) == 1


@pytest.mark.parametrize("text", NO_LANGUAGE)
def test_code_formulas_and_names_have_none(text: str) -> None:
    """What holds no small words of a language is in none, and an answer of it has switched to none."""
    assert language(prose(text)) == ""
    assert np.isnan(other_language_share(dict(SPOKEN)["english"], text))
    assert np.isnan(other_language_share(text, dict(SPOKEN)["german"]))


def test_loan_words_are_no_switch() -> None:
    """A few words of another language, and code between the sentences, leave a text in its own."""
    text = f"The raison d'être of the déjà vu café is the crème de la crème, so it goes without a faux pas.\n```python\n{CODE}```"
    assert language(prose(text)) == "english"
    german = f"Die Lösung ist nicht schwer, und wir schreiben sie auf:\n```\n{CODE}```\nDas ist der ganze Code und auch die Lösung."
    assert language(prose(german)) == "german"


@settings(deadline=None)
@given(st.lists(st.sampled_from([text for _, text in SPOKEN] + NO_LANGUAGE) | st.text(max_size=60), max_size=6).map(" ".join))
def test_a_share_is_a_share(text: str) -> None:
    """For any text the share lies between none and all, or cannot be told; case changes nothing."""
    share = other_language_share(dict(SPOKEN)["english"], text)
    assert np.isnan(share) or 0 <= share <= 1
    assert language(prose(text.upper().lower())) == language(prose(text.upper().lower().title().lower()))


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("[assistant] I look.\n[tool] error [x]\n[assistant] Done.", "I look.\nDone."),
        ("I search <search>x</search><information>\na lot of text\n</information> so x", "I search <search>x</search>\nso x"),
        ("A\n<tool_call>{}</tool_call>\nuser\n<tool_response>\nlong\n</tool_response>\nassistant\nB", "A\n<tool_call>{}</tool_call>\nB"),
        ("Thought: go\nObservation: a wall\nThought: back", "Thought: go\nThought: back"),
        ("The tag <output> opens a block; the user said [tool] twice.", "The tag <output> opens a block; the user said [tool] twice."),
        ("user\nassistant", "user\nassistant"),
    ],
)
def test_own_words(text: str, own: str) -> None:
    """Turns and results of others are left out; words that merely look like a mark stay."""
    assert spoken(text) == own


@settings(deadline=None)
@given(st.text(max_size=300))
def test_one_turn_stays_as_it_is(text: str) -> None:
    """A text without marks is the model's own from end to end, and what is left of any text is no longer than it."""
    assert len(spoken(text)) <= len(text)
    if not {"<", "["} & set(text) and "Observation" not in text:
        assert spoken(text) == text


@pytest.mark.parametrize("mark", ["<output>", "<information>", "<tool_response>", "[assistant] ", "\nuser\n"])
def test_a_mark_without_end_costs_no_time(mark: str) -> None:
    """Marks that never close are passed over once each."""
    assert len(spoken(mark * (BUDGET // 20 // len(mark)))) <= BUDGET


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("so the answer is 42", False),
        ("so the answer is \\boxed{42}", False),
        ("Done.", False),
        ("</answer>", False),
        ("```python\nx = 1\n```", False),
        ("所以答案是对的。", False),
        ("", False),
        ("so the answer is", True),
        ("```python\nx = 1", True),
        ("and then we", True),
    ],
)
def test_open_endings(text: str, cut: bool) -> None:
    """A text that stops in the middle is open; a number, a box, a tag, a closed block are ends."""
    assert is_open(text) is cut


RNG = np.random.default_rng(0)
NATURAL = RNG.lognormal(4.5, 0.4, 400).round()
NONE, ALL = np.zeros(400, bool), np.ones(400, bool)


@pytest.mark.parametrize(
    ("length", "unfinished", "told", "cap"),
    [
        (np.minimum(NATURAL, 128.0), NONE, None, 128.0),
        (np.minimum(NATURAL, 123.0), NATURAL >= 123, None, 123.0),
        (np.minimum(NATURAL, 123.0), NONE, 123.0, 123.0),
        (np.full(400, 512.0), ALL, None, 512.0),
        (np.minimum(NATURAL, 123.0), NONE, None, None),
        (np.minimum(NATURAL, 123.0), NONE, 512.0, None),
        (NATURAL, NATURAL % 3 == 0, None, None),
        (np.full(400, 9.0), NONE, None, None),
        (np.full(400, 9.0), ALL, None, None),
        (np.where(NATURAL % 2 == 0, 9.0, 10.0), NONE, None, None),
        (np.full(400, np.nan), NONE, None, None),
        (np.minimum(NATURAL, 128.0)[:20], NONE[:20], None, None),
    ],
)
def test_lengths_pile_up_at_a_cap(length: np.ndarray, unfinished: np.ndarray, told: float | None, cap: float | None) -> None:
    """A pile at a round or told length, or one that ends open, is a cap; answers of naturally equal length are none."""
    assert pile_up(length, unfinished, told) == cap


@settings(deadline=None)
@given(st.floats(3, 6), st.floats(0.1, 0.8), st.integers(0, 1000))
def test_no_cap_without_a_pile(mean: float, spread: float, seed: int) -> None:
    """Lengths that merely have a longest one are not cut, however their texts end."""
    rng = np.random.default_rng(seed)
    length = rng.lognormal(mean, spread, 300) + rng.random(300)
    assert pile_up(length, rng.random(300) < 0.5) is None
