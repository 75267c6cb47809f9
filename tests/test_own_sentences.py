"""What our own sentences may say of a run, and that no finding says what it did not measure."""

from pathlib import Path

import pytest
from evals.lab.own_sentences import ground, unmeasured, unsupported
from rl_advisor.api import assess
from rl_advisor.finding import Assessment, BestCheckpoint, Experiment, FindingView, OnsetView
from rl_advisor.reading import read_run

HERE = Path(__file__).parent
RUNS = [*(HERE / "data" / "corpus" / "runs" / f"run-0{i}" for i in (1, 3)), *sorted((HERE / "data" / "golden").glob("*/*"))]
"""Two GRPO runs and one of each other framework that lies here."""


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
        call_reason="broken",
        why="",
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


@pytest.mark.parametrize(("said", "wrong"), WRONG.values(), ids=WRONG)
def test_wrong_sentence_is_caught_where_it_is_wrong(said, wrong) -> None:
    """Exactly the wrong words are found, each with a reason."""
    claims = [c for c in ground(said, small_assessment()) if not c.supported]
    assert [c.text for c in claims] == wrong
    assert all(said[c.start : c.end] == c.text and c.why for c in claims)


def test_the_summary_is_no_witness_for_itself() -> None:
    """A number that stands in the summary alone supports nothing."""
    a = small_assessment().model_copy(update={"summary": "The score is 0.777."})
    assert unsupported(a.summary, a) == ["0.777: no measure of score has this value"]


def test_names_hold_no_claims() -> None:
    """Digits and words of direction inside metric, pattern and run names are names."""
    said = "Look at eval/score/pass@4, drift_without_gain and run-1: nothing more."
    assert ground(said, small_assessment()) == []


def test_statements_say_what_their_measures_hold() -> None:
    """Every number of a finding that is present or absent stands among its measures or steps, in runs of several frameworks."""
    loose = [
        f"{run.name}, {f.pattern}: {n} in: {f.statement}" for run in RUNS for f in assess(read_run(run)).findings for n in unmeasured(f)
    ]
    assert loose == []


def test_statement_beside_its_measures_is_caught() -> None:
    """A number that a finding says and did not measure is named; percents, signs and rounding are understood."""
    fall = small_assessment().findings[0]
    said = "eval/score/accuracy fell from 0.914 to 0.0203 and lost 97.8 % after step 120, 0.5 of it at once."
    assert unmeasured(fall.model_copy(update={"statement": said})) == ["0.5"]
    assert unmeasured(fall.model_copy(update={"statement": said, "outcome": "unclear"})) == []
