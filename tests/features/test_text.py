"""Text statistics: each next to a text that looks similar and is healthy."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rl_advisor.features import TooFewPoints
from rl_advisor.features.dependence import own_group
from rl_advisor.features.mismatch import mismatch
from rl_advisor.features.payoff import difference, payoff
from rl_advisor.features.text.measures import (
    copied_share,
    distinct_share,
    empty_fields,
    fields,
    final_answer,
    foreign_share,
    is_empty,
    repeated_fields,
    words,
)
from rl_advisor.features.text.phrases import (
    CALL,
    CLAIM,
    HEDGING,
    PRAISE,
    REFUSAL,
    VERIFIER_ATTACK,
    Phrases,
    claims_after_failure,
    tool_calls,
)
from rl_advisor.features.text.repetition import identical_run, repeated_share, tail_loop, variety
from rl_advisor.features.text.telling_words import telling_words, word_order

NOUNS = ["river", "engine", "garden", "letter", "window", "teacher", "market", "signal", "forest", "number", "bridge", "captain"]
VERBS = ["follows", "crosses", "repairs", "measures", "describes", "forgets", "paints", "carries"]
CODE = "\n".join(f"def test_{n}():\n    result = compute_{n}(x, y)\n    assert result == {i}\n" for i, n in enumerate(NOUNS))


def prose(seed: int, sentences: int = 12) -> str:
    rng = np.random.default_rng(seed)
    lines = [f"the {rng.choice(NOUNS)} {rng.choice(VERBS)} the {rng.choice(NOUNS)} near a {rng.choice(NOUNS)} ." for _ in range(sentences)]
    return " ".join(lines)


def salad(seed: int, sentences: int = 12) -> str:
    tokens = prose(seed, sentences).split()
    return " ".join(np.random.default_rng(seed).permutation(tokens))


@pytest.mark.parametrize(
    ("text", "looped"),
    [
        ("Let me see. " * 12, 143),
        (prose(0) + " I am stuck." * 9, 108),
        (prose(0), 0),
        (CODE, 0),
        ("Answer\n" + "-" * 200, 0),
        ("1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20", 0),
        ("yes yes yes", 0),
        ("", 0),
    ],
)
def test_tail_loop(text: str, looped: int) -> None:
    """A loop at the end is found with the characters it takes; prose, code, rulers, counting and short words are none."""
    assert tail_loop(text) * len(text.rstrip()) == pytest.approx(looped, abs=1)


def test_repeated_share_of_code_is_below_a_loop() -> None:
    """Tests written by rote repeat themselves, but not like a loop."""
    assert repeated_share(words("so it goes on and on " * 30)) > 0.8 > repeated_share(words(CODE))
    assert math.isnan(repeated_share(words("too short to say")))


def test_variety_is_length_controlled() -> None:
    """The same kind of text has the same variety at any length."""
    assert variety(words(prose(2, 20))) == pytest.approx(variety(words(prose(3, 200))), abs=0.06)


@given(st.lists(st.integers(0, 3), max_size=30))
def test_identical_run(items: list[int]) -> None:
    """The longest run is what splitting at changes gives."""
    expected, run = 0, 0
    for i, item in enumerate(items):
        run = run + 1 if i and items[i - 1] == item else 1
        expected = max(expected, run)
    assert identical_run(items) == expected


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("so we get \\boxed{\\frac{1}{2}}", "\\frac{1}{2}"),
        ("<think>7 or 8</think><answer> 8 </answer>", "8"),
        ("The answer is $42.$", "42"),
        ("sorted: 1 3 3 7", "1337"),
        ("-3.5", "-3.5"),
        ("In 2024 nobody knew.", ""),
        ("", ""),
    ],
)
def test_final_answer(text: str, answer: str) -> None:
    """The last short answer is found where there is one."""
    assert final_answer(text) == answer


def test_fields() -> None:
    """Closed tags and boxes are fields; lone tags are not; placeholders count as empty and a filled template does not."""
    assert fields("<a>1</a> <b> <a>2</a>") == [("a", "1"), ("a", "2")]
    assert repeated_fields("<a>1</a><a>2</a> \\boxed{3}") == 2
    assert [empty_fields(t) for t in ("<answer> </answer>", "<answer>N/A</answer>", "\\boxed{}", "<answer>0</answer>", "no field")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_small_measures() -> None:
    """Emptiness, copying, scripts and distinct shares on texts made to have them."""
    assert [is_empty(t) for t in ("...\n", "a", "!?", "\uff11")] == [True, False, True, False]
    asked, said = words("name the three largest rivers of the world please"), words("the three largest rivers of the world are long")
    assert copied_share(asked, said) == pytest.approx(4 / 6)
    assert copied_share(asked, words(prose(1))) == 0
    assert foreign_share("what is this", "это река") == 1
    assert foreign_share("what is this", "a river") == 0
    assert math.isnan(foreign_share("2 + 2", "4"))
    assert distinct_share(["A b", "a  b", "c", "d"]) == 0.75


@pytest.mark.parametrize(
    ("pattern", "hit", "miss"),
    [
        (REFUSAL, "I'm sorry, but I can't help with that.", "The key cannot be found in the dictionary."),
        (REFUSAL, "As an AI I must decline.", "He was sorry for the delay."),
        (PRAISE, "Great question! I hope this helps.", "A question of great weight."),
        (VERIFIER_ATTACK, "import sys\nsys.exit(0)", "leave the program with an exit code"),
        (VERIFIER_ATTACK, "def __eq__(self, other): return True", "def __eq__(self, other): return self.x == other.x"),
        (VERIFIER_ATTACK, "if n == 3: return 5\nif n == 4: return 9", "if n == 0: return 1\nreturn n * f(n - 1)"),
        (VERIFIER_ATTACK, "@pytest.mark.skip", "run pytest to see"),
    ],
)
def test_phrases(pattern: object, hit: str, miss: str) -> None:
    """A phrase is found where it is meant and not where its words only occur."""
    assert pattern.search(hit)  # type: ignore[attr-defined]
    assert not pattern.search(miss)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("phrases", "said"),
    [
        (REFUSAL, "I'm sorry; I can not; I am unable; i won't; I will not; as an AI; I must decline; cannot help; not allowed to help"),
        (HEDGING, "Perhaps; maybe; possibly; might be; could be; it seems; I think; I believe; not quite sure; it depends; arguably"),
        (PRAISE, "Great idea; good point; thoughtful question; thanks for; happy to help; I hope this helps; you're so right; Certainly!"),
        (
            CLAIM,
            "done; completed; finished; succeeded; successfully; all checks pass; fixed; resolved; accomplished; implemented; works now",
        ),
        (
            VERIFIER_ATTACK,
            "sys.exit(); os._exit(; raise SystemExit; unittest.skip; pytest.mark.xfail; monkeypatch; assert True; except: pass",
        ),
        (VERIFIER_ATTACK, "builtins.print =; rm -r tests; conftest.py; expected_output[; test_case [; inspect.stack; sys._getframe"),
        (
            CALL,
            "<tool_call>a</tool_call>; <function=f>a</function>; Action: look; [TOOL_CALLS][]; <|python_tag|>f(); invoke f",
        ),
    ],
)
def test_a_mark_hides_no_match(phrases: Phrases, said: str) -> None:
    """What a pattern finds is found beside its marks too, in capitals as well, and a text beyond ASCII is always searched."""
    for text in said.split("; "):
        for written in (text, text.upper(), f"{text}\n\u00e9"):
            assert phrases.search(written), written
    assert phrases.findall("The answer is 4.") == []


def test_tool_calls() -> None:
    """The usual notations are counted; talking about calling is not."""
    text = '<tool_call>{"name": "a"}</tool_call>\nAction: search[x]\ncall set f 4 ok call get f\n```tool_code\nrun()\n```'
    assert [call.lower() for call, _ in tool_calls(text)] == ['{"name": "a"}', "search[x]", "set f 4", "get f", "run()"]
    stubborn = "call get f error call get f error call get g ok call get g ok"
    assert tool_calls(stubborn) == [("get f", True), ("get f", True), ("get g", False), ("get g", False)]
    assert tool_calls("I will phone them and we talk about actions.") == []


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        ("run tests\nTraceback (most recent call last): ...\n" + "x " * 60 + "All tests pass now, the task is done.", True),
        ("run tests\nTraceback (most recent call last)\nfixed the import, tests run: success\n" + "x " * 60 + "The task is done.", False),
        ("run tests\nok\n" + "x " * 60 + "The task is done.", False),
        ("run tests\nTraceback\n" + "x " * 60 + "I could not do it: the import failed.", False),
    ],
)
def test_claims_after_failure(text: str, claimed: bool) -> None:
    """Only a claim right after a failure nobody mended counts."""
    assert claims_after_failure(text) is claimed


def questions(n: int) -> list[str]:
    return [f"how far is the {NOUNS[i % 12]} from the {NOUNS[i // 12]} of {VERBS[i % 8]} ?" for i in range(n)]


def test_own_group_sees_terse_answers() -> None:
    """Bare numbers share no word with their question and still belong to it; a template does not."""
    groups = [i // 4 for i in range(64)]
    terse = own_group([str(1000 + g) for g in groups], groups)
    template = own_group(["the answer is certainly very good"] * 64, groups)
    assert terse.accuracy > 0.95
    assert template.accuracy == pytest.approx(template.chance)


def test_word_order() -> None:
    """Shuffled words have none of the order; new sentences of the same kind have all of it; a short start raises."""
    score = word_order([prose(s) for s in range(20)])
    fresh, mixed = [score(prose(s)) for s in range(50, 60)], [score(salad(s)) for s in range(50, 60)]
    assert np.mean(fresh) > 1
    assert abs(np.mean(mixed)) < 0.15 * np.mean(fresh)
    with pytest.raises(TooFewPoints):
        word_order(["few words"])


def test_telling_words() -> None:
    """The word that one set adds leads, the word it drops is last, and a rare word with the same odds does not lead."""
    first = [prose(s) + (" alas" if s % 2 else "") for s in range(40)]
    second = [prose(s + 100) + " delve" for s in range(40)]
    ranked = telling_words(first, [*second[:-1], second[-1] + " zebra"])
    assert ranked[0].word == "delve"
    assert ranked[-1].word == "alas"
    assert next(w.z for w in ranked if w.word == "zebra") < 2 < ranked[0].z


def grouped(
    effect: Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray], seed: int = 0
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(40), 8)
    hard = np.repeat(rng.normal(size=40), 8)
    length = 100 + 40 * hard + 10 * rng.normal(size=320)
    return length, effect(length, hard, rng), group.tolist()


def test_payoff_compares_inside_groups() -> None:
    """Hard prompts have long answers and low rewards, which is no price for length; a paid length is one, with its price."""
    nothing = payoff(*grouped(lambda _, hard, rng: -hard + 0.3 * rng.normal(size=320)))
    paid = payoff(*grouped(lambda length, hard, rng: 0.01 * length - 2 * hard + 0.05 * rng.normal(size=320)))
    assert nothing.low < 0 < nothing.high
    assert paid.rho > 0.7
    assert paid.slope == pytest.approx(0.01, rel=0.1)
    assert paid.slope == pytest.approx(0.01, abs=0.001)
    with pytest.raises(TooFewPoints):
        payoff([1, 2, 3, 4], [1, 2, 3, 4], [0, 0, 1, 1])


def test_the_payoff_interval_covers() -> None:
    """Over 200 draws without any effect the 95 % interval holds 0 about as often as it says."""
    found = [payoff(*grouped(lambda _, hard, rng: hard + rng.normal(size=320), seed)) for seed in range(200)]
    assert 0.9 < np.mean([f.low < 0 < f.high for f in found]) < 0.99


def test_difference_counts_groups_not_responses() -> None:
    """Repeating every response eight times adds no certainty."""
    a, b = np.arange(10.0), np.arange(10.0) + 1
    once = difference(a, b, range(10), range(10))
    often = difference(np.repeat(a, 8), np.repeat(b, 8), np.repeat(range(10), 8).tolist(), np.repeat(range(10), 8).tolist())
    assert often == pytest.approx(once)
    assert once[0] == 1


def test_mismatch_closed_form() -> None:
    """Gaussian gaps of width s: mean gap s sqrt(2/pi), k3 near s^2/2, and equal sides give nothing at all."""
    rng = np.random.default_rng(0)
    engine = -rng.exponential(1, 100_000)
    found = mismatch(engine + 0.1 * rng.normal(size=engine.size), engine)
    assert found["gap_mean"] == pytest.approx(0.1 * math.sqrt(2 / math.pi), rel=0.02)
    assert found["k3"] == pytest.approx(0.005, rel=0.05)
    same = mismatch(engine, engine)
    assert tuple(same[name] for name in ("k1", "k3", "outside", "effective_share")) == (0, 0, 0, pytest.approx(1))
    with pytest.raises(ValueError, match="one value a token"):
        mismatch([1.0], [1.0, 2.0])


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=300))
def test_no_text_breaks_a_measure(text: str) -> None:
    """Whatever a model writes, every measure gives a number, NaN or None."""
    tokens = words(text)
    shares = [repeated_share(tokens), variety(tokens), copied_share(tokens, tokens), foreign_share(text, text)]
    assert all(math.isnan(s) or s >= 0 for s in shares)
    assert isinstance(final_answer(text), str)
    assert all(isinstance(failed, bool) for _, failed in tool_calls(text))
    assert isinstance(empty_fields(text), bool)
