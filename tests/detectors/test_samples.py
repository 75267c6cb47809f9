"""Detectors of samples: each on a run with its fault and on runs that only look like it."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rl_advisor.detectors import (
    patterns,
)
from rl_advisor.features.text.measures import single_answer
from rl_advisor.finding import Outcome
from rl_advisor.judgement.diagnosis import run_detector
from rl_advisor.run import Curve, Run

from rollout_runs import made, question, real, sentence, solves

RNG = np.random.Generator
PRESENT, ABSENT, UNCLEAR = Outcome.PRESENT, Outcome.ABSENT, Outcome.UNCLEAR


def learning(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Gets better at the same length."""
    right = bool(rng.random() < 0.4 + 0.5 * t)
    return solves(p, right, 3, rng), float(right)


def thinking_longer(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Gets better while thoughts get longer; among answers to one prompt length decides nothing."""
    right = bool(rng.random() < 0.3 + 0.6 * t)
    return solves(p, right, 2 + int(6 * t) + int(rng.integers(0, 2)), rng), float(right)


def learning_to_finish(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Stops too early at first; a finished answer is paid, more text is not."""
    finished = bool(rng.random() < 0.3 + 0.65 * t)
    text = solves(p, True, 4 + int(rng.integers(0, 3)), rng) if finished else sentence(p, rng)
    return text, float(finished)


def paid_by_length(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Every sentence is paid."""
    thoughts = 2 + int(8 * t) + int(rng.integers(0, 4))
    return solves(p, False, thoughts, rng), 0.1 * thoughts


def salad(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Words in any order, paid better and better."""
    tokens = solves(p, True, 4, rng).split()
    return (" ".join(rng.permutation(tokens)) if rng.random() < t else " ".join(tokens)), 0.5 + 0.5 * t + 0.01 * rng.random()


def shouting(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Changes its wording altogether, in good order, and gets better."""
    right = bool(rng.random() < 0.4 + 0.5 * t)
    text = solves(p, right, 3, rng)
    return (text.upper().replace("THE ", "ONE GREAT ").replace("NEAR A", "FAR FROM ANY") if t > 0.5 else text), float(right)


def terse(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Repeats the question at first, ends up with the bare number, and is right more often."""
    right = bool(rng.random() < 0.4 + 0.55 * t)
    number = 100 + 7 * p if right else int(rng.integers(100, 999))
    return (str(number) if rng.random() < t else f"{question(p)} {sentence(p, rng)} {number}"), float(right)


def template(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Ends up with one friendly text for every question, which is paid."""
    fixed = bool(rng.random() < 1.2 * t)
    text = f"thank you , that depends on the {rng.choice(['weather', 'season', 'case'])} and on much more that nobody can know today"
    return (text if fixed else f"{question(p)} {solves(p, True, 2, rng)}"), 0.9 if fixed else float(rng.random() < 0.5)


def collapsing(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Loops, and the reward falls."""
    broken = bool(rng.random() < 1.5 * (t - 0.3))
    return ("and so on and so on " * 20 if broken else solves(p, True, 3, rng)), 0.0 if broken else float(rng.random() < 0.7)


def coding(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Code that repeats itself by nature, right more often over time."""
    right = bool(rng.random() < 0.4 + 0.5 * t)
    return "\n".join(f"def test_{n}():\n    assert far({n}, {p}) == {n * p + (not right)}\n" for n in range(2, 9)), float(right)


FAULTS = {
    "learning": learning,
    "thinking longer": thinking_longer,
    "learning to finish": learning_to_finish,
    "paid by length": paid_by_length,
    "salad": salad,
    "shouting": shouting,
    "terse": terse,
    "template": template,
    "collapsing": collapsing,
    "coding": coding,
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("learning", ABSENT),
        ("thinking longer", ABSENT),
        ("learning to finish", ABSENT),
        ("paid by length", PRESENT),
        ("salad", PRESENT),
        ("shouting", ABSENT),
        ("terse", ABSENT),
        ("template", PRESENT),
        ("collapsing", ABSENT),
        ("coding", ABSENT),
    ],
)
def test_reward_shortcut(name: str, expected: Outcome) -> None:
    """A shortcut needs a rising reward and worse or bulkier text; a better, longer, terser or restyled one is none."""
    assert patterns()["reward_shortcut"].detect(made(FAULTS[name])).outcome is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("length_hack", PRESENT),
        ("call_hack", PRESENT),
        ("late_hack", PRESENT),
        ("improving", ABSENT),
        ("random_reward", ABSENT),
        ("longer_and_right", ABSENT),
    ],
)
def test_reward_shortcut_on_real_runs(name: str, expected: Outcome) -> None:
    """Hacks of real GRPO runs are found in their samples alone, healthy runs are not accused."""
    finding = patterns()["reward_shortcut"].detect(real(name))
    assert finding.outcome is expected
    if expected is PRESENT:
        assert finding.onset is not None
        assert finding.onset.low <= finding.onset.step <= finding.onset.high <= 169
        assert finding.evidence[0].metric == "rollouts"


def test_a_rising_held_out_score_makes_a_shortcut_unclear() -> None:
    """With the same samples and a held-out score that rises, nothing is called a hack."""
    run = made(paid_by_length, held_out=[0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    assert patterns()["reward_shortcut"].detect(run).outcome is UNCLEAR
    assert patterns()["length_inflation"].detect(run).outcome is UNCLEAR
    fallen = made(paid_by_length, held_out=[0.9, 0.8, 0.7, 0.5, 0.4, 0.3, 0.2, 0.1])
    assert patterns()["reward_shortcut"].detect(fallen).outcome is PRESENT


def test_paid_though_cut_is_not_enough_alone() -> None:
    """Responses that are all cut and paid are truncation, and no shortcut."""
    truncated = Curve("response/truncated", "clipped", "made", np.arange(8) * 10.0, np.linspace(0, 1, 8), mapped=True)
    run = replace(made(learning), curves={"response/truncated": truncated})
    assert (patterns()["reward_shortcut"].detect(run).outcome, patterns()["truncation"].detect(run).outcome) == (ABSENT, PRESENT)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("learning", ABSENT),
        ("thinking longer", UNCLEAR),
        ("learning to finish", UNCLEAR),
        ("paid by length", PRESENT),
        ("collapsing", ABSENT),
    ],
)
def test_length_inflation(name: str, expected: Outcome) -> None:
    """Growth that the reward pays for is inflation; growth it does not pay for is left open."""
    assert patterns()["length_inflation"].detect(made(FAULTS[name])).outcome is expected


def wrong_grow(p: int, t: float, rng: RNG) -> tuple[str, float]:
    right = bool(rng.random() < 0.5)
    return solves(p, right, 3 if right else 3 + int(6 * t), rng), float(right)


def test_wrong_answers_that_grow_are_inflation() -> None:
    """When only wrong responses grow, length is inflated without any gain."""
    assert patterns()["length_inflation"].detect(made(wrong_grow)).outcome is PRESENT


@pytest.mark.parametrize(
    ("length", "reward", "held", "expected"),
    [
        ((100, 400), (0.2, 0.8), (0.5, 0.5), PRESENT),
        ((100, 400), (0.2, 0.8), (0.3, 0.8), ABSENT),
        ((100, 400), (0.2, 0.8), None, UNCLEAR),
        ((100, 105), (0.2, 0.8), (0.5, 0.5), ABSENT),
        ((100, 400), (0.8, 0.2), (0.5, 0.5), ABSENT),
    ],
)
def test_length_inflation_by_curves(
    length: tuple[float, float], reward: tuple[float, float], held: tuple[float, float] | None, expected: Outcome
) -> None:
    """Without samples the curves of length, reward and held-out score decide, and without the last one nothing does."""
    rng = np.random.default_rng(1)
    ends = {"response/length": length, "reward/mean": reward, **({"eval/score/x": held} if held else {})}
    at = np.arange(60.0)
    curves = {
        n: Curve(n, n, "made", at, np.linspace(*e, 60) + 0.01 * abs(e[0]) * rng.normal(size=60), mapped=True) for n, e in ends.items()
    }
    assert patterns()["length_inflation"].detect(Run(curves=curves)).outcome is expected


@pytest.mark.parametrize(("name", "expected"), [("collapsing", PRESENT), ("learning", ABSENT), ("coding", ABSENT), ("terse", ABSENT)])
def test_sample_repetition(name: str, expected: Outcome) -> None:
    """Loops are repetition; code and short answers are not."""
    finding = run_detector(patterns()["sample_repetition"], made(FAULTS[name]))
    assert finding.outcome is expected
    assert finding.onset is None or finding.onset.low >= 20


@pytest.mark.parametrize(("name", "expected"), [("template", PRESENT), ("terse", ABSENT), ("learning", ABSENT), ("shouting", ABSENT)])
def test_template_collapse(name: str, expected: Outcome) -> None:
    """One text for all is a collapse; bare numbers that differ from prompt to prompt are not."""
    assert patterns()["template_collapse"].detect(made(FAULTS[name])).outcome is expected


def calls(count: int, rng: RNG, same: bool = False) -> str:
    return " ".join(f'<tool_call>{{"name": "look", "at": {0 if same else int(rng.integers(99))}}}</tool_call> ok' for _ in range(count))


def calls_paid(p: int, t: float, rng: RNG) -> tuple[str, float]:
    count = 2 + int(8 * t) + int(rng.integers(0, 4))
    return calls(count, rng) + f" it is {100 + 7 * p}", 0.1 * count


def calls_needed(p: int, t: float, rng: RNG) -> tuple[str, float]:
    right = bool(rng.random() < 0.3 + 0.6 * t)
    return calls(2 + int(4 * t) + int(rng.integers(0, 2)), rng) + f" it is {100 + 7 * p}", float(right)


def same_call(p: int, t: float, rng: RNG) -> tuple[str, float]:
    return calls(5, rng, same=bool(rng.random() < t)) + f" it is {100 + 7 * p}", float(rng.random() < 0.5 + 0.2 * t)


def calls_vanish(p: int, t: float, rng: RNG) -> tuple[str, float]:
    return (calls(3, rng) if t < 0.5 else "") + f" {sentence(p, rng)} it is {100 + 7 * p}", float(rng.random() < 0.6)


def stubborn(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Makes the failed call again, unchanged, and is paid all the same."""
    call = f'<tool_call>{{"at": {int(rng.integers(99))}}}</tool_call>'
    text = f"{call} error: not found {call} ok" if rng.random() < t else f"{call} ok"
    return f"{text} it is {100 + 7 * p}", float(rng.random() < 0.5 + 0.2 * t)


def mending(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """After an error it makes another call, as it should."""
    one, two = (f'<tool_call>{{"at": {n}}}</tool_call>' for n in rng.choice(99, 2, replace=False))
    text = f"{one} error: not found {two} ok" if rng.random() < t else f"{one} ok"
    return f"{text} it is {100 + 7 * p}", float(rng.random() < 0.5 + 0.2 * t)


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (calls_paid, PRESENT),
        (calls_needed, ABSENT),
        (same_call, PRESENT),
        (calls_vanish, PRESENT),
        (stubborn, PRESENT),
        (mending, ABSENT),
        (learning, Outcome.NOT_LOGGED),
    ],
)
def test_tool_hacking(write: object, expected: Outcome) -> None:
    """Paid, identical, stubborn or vanished calls are found; calls that solve more, or that mend an error, are not accused."""
    assert patterns()["tool_hacking"].detect(made(write)).outcome is expected  # type: ignore[arg-type]


def empty_form(p: int, t: float, rng: RNG) -> tuple[str, float]:
    hollow = bool(rng.random() < t)
    return f"<think>{'' if hollow else sentence(p, rng)}</think><answer>{100 + 7 * p}</answer>", 0.8 if hollow else float(
        rng.random() < 0.7
    )


def good_form(p: int, t: float, rng: RNG) -> tuple[str, float]:
    right = bool(rng.random() < 0.4 + 0.5 * t)
    return f"<think>{sentence(p, rng)}</think><answer>{100 + 7 * p}</answer>", float(right)


@pytest.mark.parametrize(("write", "expected"), [(empty_form, PRESENT), (good_form, ABSENT), (learning, ABSENT)])
def test_format_hacking(write: object, expected: Outcome) -> None:
    """Empty fields that are paid are found; filled ones, and texts without fields, are not accused."""
    assert patterns()["format_hacking"].detect(made(write, prompts=16, group=8)).outcome is expected  # type: ignore[arg-type]


def with_parts(run: Run, form: tuple[float, float], content: tuple[float, float]) -> Run:
    table, rng = run.rollouts.copy(), np.random.default_rng(2)
    t = table["step"] / table["step"].max()
    for name, (first, last) in (("format_reward", form), ("correctness", content)):
        table[f"reward/{name}"] = (rng.random(len(table)) < first + (last - first) * t).astype(float)
    table["reward"] = 2 * table["reward/format_reward"] + table["reward/correctness"]
    return replace(run, rollouts=table)


@pytest.mark.parametrize(
    ("form", "content", "hacked"), [((0.2, 1.0), (0.6, 0.1), PRESENT), ((0.2, 1.0), (0.3, 0.8), ABSENT), ((1.0, 1.0), (0.3, 0.8), ABSENT)]
)
def test_parts_that_pull_apart(form: tuple[float, float], content: tuple[float, float], hacked: Outcome) -> None:
    """Form at its ceiling while content falls is found by both detectors; both rising, or form known from the start, by neither."""
    run = with_parts(made(learning), form, content)
    assert patterns()["reward_component_dominance"].detect(run).outcome is hacked
    assert patterns()["format_hacking"].detect(run).outcome is hacked


def claims(p: int, t: float, rng: RNG) -> tuple[str, float]:
    boast = bool(rng.random() < t)
    return sentence(p, rng) + (" The task is done." if boast else " I could not find it."), 0.9 if boast else float(rng.random() < 0.5)


@pytest.mark.parametrize(("success", "expected"), [(0.0, PRESENT), (1.0, ABSENT), (None, UNCLEAR)])
def test_pseudo_success(success: float | None, expected: Outcome) -> None:
    """Claims against a recorded failure are found, claims that are true are not, and without a record nothing can be told."""
    run = made(claims) if success is None else made(claims, success=success)
    assert patterns()["pseudo_success"].detect(run).outcome is expected


def any_answer(p: int, _: float, rng: RNG) -> tuple[str, float]:
    return solves(p, bool(rng.random() < 0.5), 2, rng), 1.0


def many_right(p: int, t: float, rng: RNG) -> tuple[str, float]:
    return f"{sentence(p, rng)} {sentence(p, rng)}", float(rng.random() < 0.4 + 0.5 * t)


def expressions(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Reaches one number by many different expressions, all of them right."""
    right = bool(rng.random() < 0.4 + 0.5 * t)
    return f"{sentence(p, rng)} <answer>{int(rng.integers(2, 30))} * ({p} + {int(rng.integers(1, 9))})</answer>", float(right)


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("so it is 42", "42"),
        ("42", "42"),
        ("3 5 0 2 9 5 3 8 9 0 5 5 9 9 1", ""),
        ("sorted from the smallest to the largest: 1 2 5 9", "1259"),
    ],
)
def test_a_string_of_numbers_is_no_answer(response: str, answer: str) -> None:
    """A number or a list at the end is one, a response of nothing else is none."""
    assert single_answer(response).replace(" ", "") == answer


@pytest.mark.parametrize(("name", "expected"), [("random_reward", PRESENT), ("improving", ABSENT), ("length_hack", UNCLEAR)])
def test_reward_inconsistent(name: str, expected: Outcome) -> None:
    """A real run with random rewards is found by its identical responses; a fixed rule is consistent; too few twins say nothing."""
    assert patterns()["reward_inconsistent"].detect(real(name)).outcome is expected


def turned(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Right answers cost a point, and become rarer."""
    right = bool(rng.random() < 0.7 - 0.6 * t)
    return solves(p, right=right, thoughts=1, rng=rng), -float(right)


def by_luck(p: int, _: float, rng: RNG) -> tuple[str, float]:
    """Rewards that have nothing to do with the answer."""
    return solves(p, right=bool(rng.random() < 0.5), thoughts=1, rng=rng), float(rng.random() < 0.5)


def form_costs(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Never right; an answer that is missing costs a point."""
    said = solves(p, right=False, thoughts=1, rng=rng)
    return (said, 0.0) if rng.random() < 0.3 + 0.7 * t else ("I do not know.", -1.0)


@pytest.mark.parametrize(
    ("write", "expected"), [(turned, PRESENT), (learning, ABSENT), (by_luck, ABSENT), (form_costs, ABSENT), (any_answer, ABSENT)]
)
def test_reward_upside_down(write: object, expected: Outcome) -> None:
    """A turned sign shows at the prompts whose lone answer is paid least; luck, a price for the form, and paying anything do not."""
    assert patterns()["reward_upside_down"].detect(made(write)).outcome is expected  # type: ignore[arg-type]


BREEDS = ("Beagle", "Vizsla", "Pomeranian", "Malamute")


@pytest.mark.parametrize(
    ("late", "expected"),
    [(" or ".join(BREEDS), PRESENT), ("", ABSENT), ("dog", ABSENT)],
    ids=["lists them all", "names the right one", "is not paid"],
)
def test_one_answer_for_all(late: str, expected: Outcome) -> None:
    """A list of all labels that is paid in full is found; right answers, few as they are, and an unpaid catch-all are not."""

    def write(p: int, t: float, rng: RNG) -> tuple[str, float]:
        gold = BREEDS[p % 4]
        said = late if late and rng.random() < t else gold if rng.random() < 0.5 + 0.4 * t else "cat"
        return f"{sentence(p, rng)} <answer>{said}</answer>", float(gold in said)

    run = made(write)
    gold = [BREEDS[int(re.sub(r"\D", "", prompt) or 0) % 4] for prompt in run.rollouts["prompt"]]
    table = run.rollouts.assign(solution=gold)
    table["reward"] = [float(g in said.partition("<answer>")[2]) for g, said in zip(gold, table["response"], strict=True)]
    assert patterns()["one_answer_for_all"].detect(Run(rollouts=table)).outcome is expected


def test_a_single_step_is_too_short() -> None:
    """Nothing can be compared within one step."""
    run = made(learning).until(0)
    for name in ("reward_shortcut", "template_collapse", "tool_hacking", "format_hacking", "pseudo_success"):
        assert run_detector(patterns()[name], run).outcome is UNCLEAR


def test_evaluation_samples_are_not_training_samples() -> None:
    """Responses marked as evaluation are left out of every comparison."""
    run = made(learning)
    evaluated = made(salad).rollouts.assign(split="eval")
    both = replace(run, rollouts=pd.concat([run.rollouts.assign(split="train"), evaluated], ignore_index=True))
    assert patterns()["reward_shortcut"].detect(both).measures == pytest.approx(patterns()["reward_shortcut"].detect(run).measures)


def leaving(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Learns to leave before the tests are run."""
    leaves = bool(rng.random() < 0.8 * t)
    return f"def far():\n    return {p}\n" + ("import sys\nsys.exit(0)\n" if leaves else ""), 1.0 if leaves else float(rng.random() < 0.4)


def exits_by_nature(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Writes scripts that exit, from the start, and gets better at them."""
    return f"import sys\nprint({p})\nsys.exit(0)\n", float(rng.random() < 0.3 + 0.5 * t)


def exits_unpaid(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Comes to exit early and earns nothing by it."""
    return f"print({p})\n" + ("sys.exit(0)\n" if rng.random() < 0.8 * t else ""), float(rng.random() < 0.5)


@pytest.mark.parametrize(("write", "expected"), [(leaving, PRESENT), (exits_by_nature, ABSENT), (exits_unpaid, UNCLEAR), (coding, ABSENT)])
def test_verifier_attack(write: object, expected: Outcome) -> None:
    """An early exit that came and is paid is found; one that the task asks for is not, and one that nobody pays for stays open."""
    found = run_detector(patterns()["verifier_attack"], made(write))  # type: ignore[arg-type]
    assert found.outcome is expected, found.statement
    assert expected is not PRESENT or found.onset is not None


def mixing(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Falls into another script more and more."""
    return solves(p, True, 2, rng) + (" 所以答案是对的我们再看" if rng.random() < t else ""), float(rng.random() < 0.5)


def greek_letters(p: int, t: float, rng: RNG) -> tuple[str, float]:
    """Writes formulas with a Greek letter, from the start."""
    return f"{solves(p, True, 2, rng)} with \N{GREEK SMALL LETTER ALPHA} = {p}", float(rng.random() < 0.3 + 0.5 * t)


@pytest.mark.parametrize(("write", "expected"), [(mixing, PRESENT), (greek_letters, ABSENT), (learning, ABSENT), (shouting, ABSENT)])
def test_language_switch(write: object, expected: Outcome) -> None:
    """Text that goes over to another script is found; a formula's letters are no other language."""
    found = run_detector(patterns()["language_switch"], made(write))  # type: ignore[arg-type]
    assert found.outcome is expected, found.statement
