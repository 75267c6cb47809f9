"""Grounding: what a narrative may say, and that planted errors are found while right sentences are left alone."""

import random
import re
from pathlib import Path

import pytest
from rl_advisor.advisors.builtin import assess
from rl_advisor.assessment import Assessment, BestCheckpoint, Experiment, FindingView, OnsetView
from rl_advisor.grounding import ground, held, strike, unsupported
from rl_advisor.grounding.facts import facts
from rl_advisor.reading import read_run

HERE = Path(__file__).parent
RUNS = [HERE.parent / "examples" / "grpo-run", *(HERE / "data" / "corpus" / "runs" / f"run-0{i}" for i in range(1, 5))]
_PAIRS = (
    "rising falling",
    "rose fell",
    "declined improved",
    "flat rising",
    "grew shrank",
    "gained lost",
    "collapsed improved",
    "dropping climbing",
)
OPPOSITE = {a: b for pair in _PAIRS for a, b in (pair.split(), pair.split()[::-1])} | {"improved": "declined", "rising": "falling"}
NUMBER = re.compile(r"(?<![\w./-])-?\d+(?:\.\d+)?(?:e-?\d+)?(?!\w|\.\d)")
METRIC = re.compile(r"\b[a-z]+/[\w/]+")
PAIR = re.compile(r"from (-?[\d.]+) to (-?[\d.]*\d)")


def small_assessment() -> Assessment:
    """An assessment with one fall, one rise and one flat stretch, every number of which is known."""
    fall = FindingView(
        pattern="collapse",
        link="reward_signal",
        outcome="present",
        statement="eval/score/accuracy fell from 0.914 (step 120) to 0.02 and stayed there.",
        onset={"step": 152, "low": 150, "high": 160},
        measures={"best": 0.9141, "best_step": 120, "last": 0.0203, "lost_share": 0.978},
        evidence=[{"metric": "eval/score/accuracy", "first_step": 120, "last_step": 300}],
    )
    rise = FindingView(
        pattern="drift_without_gain",
        link="policy_update",
        outcome="present",
        statement="Since step 200 KL to the reference is rising (0.81, now 2.78) and the outcome flat (-0.0012).",
        measures={"kl_change": 0.8123, "kl_last": 2.7826, "outcome_change": -0.0012, "outcome_last": 0.0203},
        evidence=[{"metric": m, "first_step": 200, "last_step": 300} for m in ("kl/ref", "eval/score/accuracy")],
    )
    return Assessment(
        run="run-1",
        step=300,
        planned_steps=400,
        verdict="collapsed",
        call="stop",
        p_continue_pays=0.015,
        confidence="high",
        best_checkpoint=BestCheckpoint(step=100, path="checkpoint-100", why="it scored best"),
        first_broken_link="policy_update",
        onset=OnsetView(step=152, low=150, high=160),
        findings=[fall, rise],
        ruled_out=[],
        could_not_see=[],
        next_experiment=Experiment(do="resume from checkpoint-100", expect_if_right="it holds", expect_if_wrong="it falls"),
        summary="",
    )


RIGHT = [
    "This run has collapsed.",
    "eval/score/accuracy fell from 0.91 to 0.02.",
    "The score peaked at 0.914 near step 120 and declined to 0.02.",
    "KL to the reference is rising and stands at 2.8 now.",
    "kl/ref rose by 0.81 since step 200, while the outcome is flat.",
    "Keep checkpoint-100.",
    "After 300 of 400 planned steps, 25 percent of the plan is left.",
    "The chance that going on pays is about 1.5%.",
    "The collapse (reward signal) began at step 152 (between 150 and 160).",
    "The run collapsed near step 152, and KL to the reference rose to 2.8.",
    "Does the reward rise when the learning rate falls?",
    "Nothing was written to run-1 after step 300.",
]
WRONG = {
    "wrong number": ("eval/score/accuracy fell from 0.93 to 0.02.", ["0.93"]),
    "right number of the wrong metric": ("eval/score/accuracy stands at 2.78.", ["2.78"]),
    "number of nothing": ("The entropy is 0.914.", ["0.914"]),
    "wrong direction": ("KL to the reference is falling.", ["falling"]),
    "direction against the numbers beside it": ("eval/score/accuracy rose from 0.914 to 0.02.", ["rose"]),
    "ends exchanged": ("eval/score/accuracy went from 0.02 to 0.914.", ["0.02", "0.914"]),
    "wrong sign": ("The outcome changed by 0.0012 since step 200.", ["0.0012"]),
    "flat that is not": ("KL to the reference is flat.", ["flat"]),
    "wrong step": ("The score peaked near step 180.", ["180"]),
    "wrong checkpoint": ("Keep checkpoint-150.", ["150"]),
    "verdict denied": ("This run is improving.", ["improving"]),
    "too sharp": ("kl/ref stands at 2.7899.", ["2.7899"]),
    "wrong percent": ("The chance that going on pays is about 15 percent.", ["15"]),
}


@pytest.mark.parametrize("said", RIGHT)
def test_right_sentence_stands(said) -> None:
    """What was measured may be said, in any rounding and in a colleague's words."""
    assert unsupported(said, small_assessment()) == []
    assert strike(said, small_assessment()) == said


@pytest.mark.parametrize(("said", "wrong"), WRONG.values(), ids=WRONG)
def test_wrong_sentence_is_caught_where_it_is_wrong(said, wrong) -> None:
    """Exactly the wrong words are found, each with a reason, and marked in the text."""
    claims = [c for c in ground(said, small_assessment()) if not c.supported]
    assert [c.text for c in claims] == wrong
    assert all(said[c.start : c.end] == c.text and c.why for c in claims)
    marked = strike(said, small_assessment())
    assert all(f"[not measured: {w}]" in marked for w in wrong)
    assert re.sub(r"\[not measured: (.*?)\]", r"\1", marked) == said


def test_further_answers_of_the_tools_count() -> None:
    """A number that only a tool's answer holds is supported once that answer is given, for its metric alone."""
    answer = {"metrics": [{"name": "entropy/mean", "start": 0.531, "highest": {"value": 0.62, "step": 88}}]}
    said = "entropy/mean started at 0.531 and was highest near step 88."
    assert len(unsupported(said, small_assessment())) == 2
    assert unsupported(said, small_assessment(), [answer]) == []
    assert unsupported("kl/ref started at 0.531.", small_assessment(), [answer])


def test_the_summary_is_no_witness_for_itself() -> None:
    """A number that stands in the summary alone supports nothing."""
    a = small_assessment().model_copy(update={"summary": "The score is 0.777."})
    assert unsupported(a.summary, a) == ["0.777: no measure of score has this value"]


def test_names_hold_no_claims() -> None:
    """Digits and words of direction inside metric, pattern and run names are names."""
    said = "Look at eval/score/pass@4, drift_without_gain and run-1: nothing more."
    assert ground(said, small_assessment()) == []


@pytest.fixture(scope="module")
def told():
    """The assessments of the small real runs, with their facts and the sentences that may be said of them."""
    judged = [assess(read_run(path)) for path in RUNS]
    return [(a, facts(a), sentences_of(a)) for a in judged]


def sentences_of(a: Assessment) -> list[str]:
    """Right sentences of a run: of the summary, of the findings, and the same told in other words with fewer digits."""
    out = [f"{f.pattern.replace('_', ' ')}: {f.statement}" for f in a.findings if f.outcome != "not_logged"]
    out += [
        f"The {f.pattern.replace('_', ' ')} began near step {f.onset['step']:.0f}."
        for f in a.findings
        if f.outcome == "present" and f.onset
    ]
    for f in a.findings:
        for m in re.finditer(r"([a-z]+/[\w/]+) (?:went|rose|fell) from (-?[\d.]+) to (-?[\d.]*\d)", f.statement):
            first, last = float(m[2]), float(m[3])
            if abs(first - last) > 0.1:
                out.append(f"We saw {m[1]} {'climbing' if last > first else 'dropping'} from {first:.2f} to {last:.2f} over the run.")
    return out


def planted(said: str, kind: str, a: Assessment, rng: random.Random) -> str | None:
    """The sentence with one error of a kind; None where it offers no place for one."""
    places: list[tuple[int, int, str]] = []
    if kind == "number":
        for m in NUMBER.finditer(said):
            value = float(m[0]) * rng.choice([0.5, 0.7, 1.3, 1.6]) + (0.137 if float(m[0]) == 0 else 0)
            if not re.search(r"steps? $| to $| and $", said[: m.start()]):
                places.append((m.start(), m.end(), f"{value:.3g}" if "." in m[0] or not float(m[0]) else f"{value + 1:.0f}"))
    elif kind == "metric":
        others = sorted({str(e["metric"]) for f in a.findings for e in f.evidence if "/" in str(e["metric"])})
        for m in METRIC.finditer(said):
            number = NUMBER.search(said[m.end() : m.end() + 30])
            left = [o for o in others if o not in said]
            if left and number and number[0] not in ("0", "1"):
                places.append((m.start(), m.end(), rng.choice(left)))
    elif kind == "direction":
        start = said.find(": ") if said[0].islower() else 0
        for word, opposite in OPPOSITE.items():
            found = re.finditer(rf"\b{word}\b(?! or not)", said)
            places += [
                (m.start(), m.end(), opposite) for m in found if m.start() >= start and "not " not in said[m.start() - 5 : m.start()]
            ]
        places += [(m.start(), m.end(), f"from {m[2]} to {m[1]}") for m in PAIR.finditer(said) if abs(float(m[1]) - float(m[2])) > 0.1]
    else:
        for m in re.finditer(r"(?<=step )\d+(?![\w.])", said):
            step = rng.randrange(a.planned_steps or a.step)
            places.append((m.start(), m.end(), str(step if abs(step - int(m[0])) > 2 else step + 17)))
    if not places:
        return None
    start, end, text = rng.choice(places)
    return said[:start] + text + said[end:]


def test_planted_errors_are_caught_and_right_sentences_left_alone(told) -> None:
    """Of errors planted into the sentences of five real runs at least 98 of 100 are caught; at most 2 of 100 right sentences are struck."""
    rng = random.Random(7)  # noqa: S311 - a fixed seed, nothing secret
    right, struck, tried, caught = 0, 0, 0, 0
    for a, known, sentences in told:
        for said in sentences:
            right += 1
            if any(not c.supported for c in held(said, known)):
                struck += 1
                continue
            for kind in ("number", "metric", "direction", "step"):
                wrong = planted(said, kind, a, rng)
                if wrong is not None and wrong != said:
                    tried += 1
                    caught += any(not c.supported for c in held(wrong, known))
    assert right > 150 and tried > 200
    assert struck <= 0.02 * right
    assert caught >= 0.98 * tried, (caught, tried)
