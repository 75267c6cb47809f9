"""Every statistic of the samples on a run that shows it and on one that only looks like it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from rl_advisor.detectors import patterns
from rl_advisor.features.text.telling_words import telling_words
from rl_advisor.finding import Outcome
from rl_advisor.judgement.diagnosis import run_detector
from rl_advisor.samples.measured_text import stretches
from rl_advisor.samples.rows import reference_columns
from rl_advisor.samples.text_change import MEANINGS, shift_or_none

from rollout_runs import Write, made, question, sentence, solves

RNG = np.random.Generator
CALL = '<tool_call>{{"name": "look", "at": {n}}}</tool_call> ok '
SAME = '<tool_call>{{"name": "look", "at": 7}}</tool_call> ok '
FAILED = '<tool_call>{{"name": "look", "at": {n}}}</tool_call> error: not found '
Text = Callable[[int, RNG], str]


def say(template: str) -> Text:
    """Text with a sentence {s}, a right answer with two thoughts {a}, the question {q}, its number {p}, and a number by chance {n}."""

    def text(p: int, rng: RNG) -> str:
        number = int(rng.integers(10, 99))
        parts = {
            "s": sentence(p, rng),
            "a": solves(p, right=True, thoughts=2, rng=rng),
            "q": question(p),
            "p": p,
            "next": p + 1,
            "n": number,
        }
        return template.format(**parts, other=number - 1)

    return text


def each(*templates: str) -> Text:
    """One of several texts by the prompt's number, always the same one for a prompt."""
    return lambda p, rng: say(templates[p % len(templates)])(p, rng)


def repeat(template: str, times: int) -> Text:
    """A text of several draws of one template."""
    return lambda p, rng: " ".join(say(template)(p, rng) for _ in range(times))


def mostly(common: Text, rare: Text, paid: float | None = None) -> Write:
    """``rare`` more and more often instead of ``common``; it earns ``paid``, or what a policy that does not learn earns."""

    def write(p: int, t: float, rng: RNG) -> tuple[str, float]:
        odd, luck = bool(rng.random() < 0.9 * t), float(rng.random() < 0.5)
        return (rare(p, rng) if odd else common(p, rng)), luck if paid is None or not odd else paid

    return write


def always(text: Text) -> Write:
    """The same manner from start to end, rewarded better and better."""
    return lambda p, t, rng: (text(p, rng), float(rng.random() < 0.3 + 0.6 * t))


def growing(template: str, end: str, pays: bool) -> Write:
    """A template 2 times at first and 8 at last; paid by the piece, or growing while being right is what is paid."""

    def write(p: int, t: float, rng: RNG) -> tuple[str, float]:
        count = 2 + int(6 * t) + int(rng.integers(0, 3))
        text = f"{repeat(template, count)(p, rng)} {say(end)(p, rng)}"
        return text, 0.1 * count if pays else float(rng.random() < 0.3 + 0.6 * t)

    return write


def wrong_grow(both: bool) -> Write:
    """Wrong answers get longer, or all do."""

    def write(p: int, t: float, rng: RNG) -> tuple[str, float]:
        right = bool(rng.random() < 0.5)
        return solves(p, right, 3 + (int(6 * t) if both or not right else 0), rng), float(right)

    return write


def polite_throughout(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Longer answers with as many polite words a hundred as before."""
    return repeat("great question ! perhaps {a} {s} {s}", 1 + int(4 * t))(p, rng), float(rng.random() < 0.3 + 0.6 * t)


def cut(p: int, rng: RNG) -> str:
    """Exactly 120 words, the last in the middle of a sentence."""
    return " ".join([*repeat("{s} and", 30)(p, rng).split()[:119], "the"])


ANSWER, DASHES, LONG = say("{a}"), say("{a}\n" + "-" * 80), repeat("{a}", 6)
ENGLISH = (
    "we know that the first of them is so large that it must be more than what was given to us , and then the sum will be what we want {n}"
)
GERMAN = (
    "wir wissen , dass die erste von ihnen so groß ist , und daher ist es auch nicht weniger als das , was wir von der Summe wollen {n}"
)
BORROWED = ENGLISH + " as Otto von Bismarck and Juan de la Cruz said déjà vu\n```\nfor i in x:\n    die = der.das(und)\n```"
ASKED = {"prompt": "what is the sum of the numbers that are given to you , and which of them is the largest ?"}
FORM, HOLLOW = "<think>{s}</think><answer>{p}</answer>", "<think></think><answer>{p}</answer>"
SORRY, DONE, LOST = "I'm sorry, I cannot help with that .", "{s} the task is done .", "{s} it was nowhere to be seen ."
EXIT = "the command failed with exit code 1 . {s} "
TABLE = "def f(x):\n    if x == {p}:\n        return '{p}'\n    if x == {next}:\n        return '{next}'\n    return ''\n"
TESTS = repeat("def test_{n}():\n    assert far({n}, {p}) == {other}\n", 7)
FIVE, FIVE_SAME = repeat(CALL, 5), say(SAME * 5)
TWO_CALLS = say(CALL + "it is {p}")
RETRIED = say('<tool_call>{{"at": {n}}}</tool_call> error: not found <tool_call>{{"at": {n}}}</tool_call> ok it is {p}')
MENDED = say('<tool_call>{{"at": {n}}}</tool_call> error: not found <tool_call>{{"at": {other}}}</tool_call> ok it is {p}')
BULK, REASONING = growing("{s}", "so it is {n}", True), growing("{s}", "so it is {p}", False)
GREEK = say("{a} with \N{GREEK SMALL LETTER ALPHA} = {p}")

ROWS: list[tuple[str, str, Write, Write, dict[str, object]]] = [
    ("tokens", "length_inflation", BULK, REASONING, {}),
    ("tokens", "length_inflation", wrong_grow(False), wrong_grow(True), {}),
    ("truncated", "truncation", mostly(ANSWER, cut), always(say("1 2 3 4 5 6 7 8 {n}")), {}),
    ("open", "", mostly(ANSWER, cut), always(say("{q} {p}")), {}),
    ("loop", "sample_repetition", mostly(ANSWER, say("and so on and so on " * 20)), always(DASHES), {}),
    ("repeated", "sample_repetition", mostly(LONG, repeat("so it is what it is and it goes on like that {n}", 12)), always(TESTS), {}),
    ("variety", "", mostly(LONG, say("so it is what it is " * 20)), always(LONG), {}),
    ("distinct_in_group", "", mostly(ANSWER, say("it is {p}")), always(each("0", "1", "2")), {}),
    ("distinct_across", "template_collapse", mostly(say("{q} {a}"), say("that depends on {n} things"), 1.0), always(say("{p}")), {}),
    ("empty", "hollow_answers", mostly(ANSWER, say("...")), always(each("+", "-", "<")), {}),
    ("copied", "hollow_answers", mostly(ANSWER, say("{q}")), mostly(ANSWER, say("{q} {a} {a}")), {}),
    ("foreign", "language_switch", mostly(ANSWER, say("{a} 所以答案是对的我们再看")), always(GREEK), {}),
    ("other_language", "language_switch", mostly(say(ENGLISH), say(GERMAN)), mostly(say(ENGLISH), say(BORROWED)), ASKED),
    ("empty_field", "format_hacking", mostly(say(FORM), say(HOLLOW), 1.0), always(say(FORM)), {}),
    ("fields", "format_hacking", mostly(say(FORM), repeat(FORM, 6), 1.0), always(repeat(FORM, 6)), {}),
    ("refusal", "tone_drift", mostly(ANSWER, say(SORRY), 1.0), always(each(SORRY, "{a}", SORRY)), {}),
    ("hedging", "tone_drift", mostly(ANSWER, say("perhaps , maybe , i think {a}"), 1.0), polite_throughout, {}),
    ("praise", "tone_drift", mostly(ANSWER, say("great question ! i hope this helps {a}"), 1.0), polite_throughout, {}),
    ("claim", "pseudo_success", mostly(say(LOST), say(DONE), 1.0), always(say(DONE)), {"success": 0.0}),
    ("claim_after_failure", "pseudo_success", mostly(ANSWER, say(EXIT + "{s} {s} all is done ."), 1.0),
     mostly(ANSWER, say(EXIT + "again: it succeeded . {s} all is done ."), 1.0), {}),
    ("attack", "verifier_attack", mostly(say("def f(x):\n    return str(x + {n})\n"), say(TABLE), 1.0), always(say(TABLE)), {}),
    ("calls", "tool_hacking", growing(CALL, "it is {p}", True), growing(CALL, "it is {p}", False), {}),
    ("identical_calls", "tool_hacking", mostly(FIVE, FIVE_SAME), always(FIVE), {}),
    ("repeated_calls", "tool_hacking", mostly(FIVE, FIVE_SAME), always(say(SAME * 2)), {}),
    ("failed_calls", "", mostly(TWO_CALLS, say(FAILED)), always(each(FAILED, CALL)), {}),
    ("no_call_worked", "", mostly(TWO_CALLS, say(FAILED)), always(each(FAILED, CALL)), {}),
    ("error_retries", "tool_hacking", mostly(TWO_CALLS, RETRIED), mostly(TWO_CALLS, MENDED), {}),
]  # fmt: skip
FALLS = {"variety", "distinct_in_group", "distinct_across"}
COUNTED = {"responses"}
SIZE = {"steps": 6, "prompts": 12, "group": 6}


def seen(statistic: str, detector: str, write: Write, extra: dict[str, object]) -> bool:
    """Whether the detector says that it is there; without one, whether the statistic left its beginning for the worse."""
    run = made(write, **SIZE, **extra)  # type: ignore[arg-type]
    if detector:
        return run_detector(patterns()[detector], run).outcome is Outcome.PRESENT
    change = shift_or_none(stretches(run), statistic.removesuffix("_in_group"))
    return change is not None and (change.down if statistic in FALLS else change.up)


@pytest.mark.parametrize(("statistic", "detector", "shows", "like", "extra"), ROWS, ids=[row[0] for row in ROWS])
def test_shown_and_only_looking_like_it(statistic: str, detector: str, shows: Write, like: Write, extra: dict[str, object]) -> None:
    """The run with the fault is called so; the one that only looks like it is not."""
    assert seen(statistic, detector, shows, extra)
    assert not seen(statistic, detector, like, extra)


def test_no_statistic_is_left_out() -> None:
    """Whatever a step is given stands in the table."""
    assert {row[0] for row in ROWS} == set(MEANINGS) - COUNTED


def test_words_that_tell_and_words_that_vary() -> None:
    """A word that came in tells late from early; words that are drawn alike do not, however many there are."""
    rng = np.random.default_rng(3)
    early, same = ([ANSWER(p, rng) for p in range(200)] for _ in range(2))
    late = [f"{text} delve" for text in same]
    assert telling_words(early, late)[0].word == "delve"
    assert telling_words(early, late)[0].z > 5
    assert max(abs(w.z) for w in telling_words(early, same)) < 4


def test_a_text_to_be_corrected_is_left_open() -> None:
    """Where copying comes with the reward nobody can tell an echo from a good correction."""
    run = made(mostly(ANSWER, say("{q}"), 1.0), **SIZE)  # type: ignore[arg-type]
    assert run_detector(patterns()["hollow_answers"], run).outcome is Outcome.UNCLEAR


def judged(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Text that does not change while its reward rises."""
    return ANSWER(p, rng), t + 0.2 * float(rng.random())


@pytest.mark.parametrize(
    ("name", "falls", "expected"),
    [
        ("human_score", True, Outcome.PRESENT),
        ("is_correct", True, Outcome.PRESENT),
        ("gold_rating", False, Outcome.ABSENT),
        ("temperature", True, Outcome.ABSENT),
    ],
)
def test_another_judgement_that_falls_shows_the_shortcut(name: str, falls: bool, expected: Outcome) -> None:
    """A reference score in the samples that falls while the reward rises is found where no text gives it away; other columns are none."""
    run = made(judged, **SIZE)  # type: ignore[arg-type]
    t = run.rollouts["step"] / run.rollouts["step"].max()
    noise = np.random.default_rng(1).random(len(t))
    value = (noise < (0.8 - 0.5 * t if falls else 0.3 + 0.5 * t)).astype(object)
    found = patterns()["reward_shortcut"].detect(replace(run, rollouts=run.rollouts.assign(**{name: value})))
    assert found.outcome is expected, found.statement


def the_reward_itself(p: int, t: float, rng: RNG) -> tuple[str, float]:
    return ANSWER(p, rng), float(rng.random() < 0.3 + 0.6 * t)


def test_the_reward_under_another_name_is_no_judgement() -> None:
    """A column that repeats the reward cannot contradict it."""
    run = made(the_reward_itself, **SIZE)  # type: ignore[arg-type]
    assert reference_columns(run.rollouts.assign(success=run.rollouts["reward"], passed=1 - run.rollouts["reward"])) == ["passed"]


def spread(right: Callable[[int, float], float]) -> Write:
    """Each prompt is solved with its own probability."""
    return lambda p, t, rng: (ANSWER(p, rng), float(rng.random() < right(p, t)))


@pytest.mark.parametrize(
    ("right", "group", "expected", "end"),
    [
        (lambda _, t: min(1.0, 0.3 + 1.4 * t), 8, Outcome.PRESENT, "best"),
        (lambda _, t: max(0.0, 0.3 - 0.6 * t), 8, Outcome.PRESENT, "worst"),
        (lambda _, t: 0.3 + 0.3 * t, 8, Outcome.ABSENT, ""),
        (lambda _, t: min(1.0, 0.3 + 1.4 * t), 2, Outcome.NOT_LOGGED, ""),
    ],
)
def test_groups_without_spread_are_seen_in_the_samples(
    right: Callable[[int, float], float], group: int, expected: Outcome, end: str
) -> None:
    """Where no share is logged the samples tell, and whether all are solved or all failed; pairs that merely agree are no groups."""
    found = patterns()["zero_variance_groups"].detect(made(spread(right), steps=6, prompts=12, group=group))
    assert found.outcome is expected, found.statement
    assert not end or found.measures[f"all_at {end}"] > 0.8
