"""No answer denies itself: every kind of contradiction is seen where it is made, and none is in what the corpora are told."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from evals.contradictions import KINDS, contradictions
from evals.drawn import make_run, rising, saturating
from rl_advisor.api import assess
from rl_advisor.finding import Assessment, EvidenceView, OnsetView, RivalView
from rl_advisor.reading import read_run
from rl_advisor.run import Run

CORPUS = Path(__file__).parents[1] / "evals" / "corpus"
RUNS = sorted(p for p in CORPUS.glob("*/runs/*"))[::9]


@cache
def run() -> Run:
    """A run that rises."""
    return make_run({"reward/mean": rising(0.2, 0.8), "policy/grad_norm": np.full(200, np.nan)}, planned=300)


@cache
def answer() -> Assessment:
    """What is said of it: nothing that contradicts itself."""
    return assess(run())


def test_a_sound_answer_denies_nothing() -> None:
    """The near miss of every kind: the answer as it is."""
    assert contradictions(run(), answer()) == []


ROSE = EvidenceView(says="reward/mean rose over its last third, from about 1 to 2", for_="collapsed", weight=1.0)
PLANTED: dict[str, dict[str, object]] = {
    "why_denies_the_verdict": {"verdict": "not_learning", "why": "reward/mean rose from 0.2 to 0.8"},
    "evidence_denies_the_verdict": {"verdict": "collapsed", "evidence": [ROSE]},
    "against_what_speaks_for_it": {"rivals": [RivalView(verdict="plateaued", p=0.2, against="reward/mean has stayed at about 0.8")]},
    "odds_with_itself": {"at_odds": ["reward/mean still rises, from about 1 to 2 over its last third"]},
    "stopped_while_improving": {"call": "stop", "call_reason": "no_gain"},
    "stopped_though_it_pays": {"verdict": "plateaued", "call": "stop", "call_reason": "no_gain", "p_continue_pays": 0.8},
    "continued_without_hope": {"call": "continue", "call_reason": "pays", "p_continue_pays": 0.1},
    "undecided_yet_known": {"call": "undecided", "call_reason": "not_measured", "p_continue_pays": 0.9},
    "collapsed_at_its_best": {"verdict": "collapsed"},
    "learns_nothing_and_rises": {"verdict": "not_learning"},
    "cause_of_what_is_sound": {"summary": "The run is still improving. What broke first: truncation."},
    "onset_outside": {"onset": OnsetView(step=900, low=890, high=910)},
    "repairs_what_is_stopped": {"call": "stop", "call_reason": "price"},
    "two_best_steps": {"risk": "Since the best step (20): kl/ref 0 -> 1.", "why": "reward/mean was best at step 190"},
    "high_on_few_points": {"confidence": "high", "step": 10, "planned_steps": 3000},
    "not_the_likeliest": {"verdict": "unstable"},
    "said_twice": {"evidence": [ROSE, ROSE]},
    "from_x_to_x": {"why": "reward/mean rose from about 0.5 to 0.5"},
}


@pytest.mark.parametrize("kind", PLANTED)
def test_what_is_planted_is_seen(kind: str) -> None:
    """Each kind speaks when its contradiction stands in an answer."""
    small = run().until(10) if kind == "high_on_few_points" else run()
    assert kind in {k for k, _ in contradictions(small, answer().model_copy(update=PLANTED[kind]))}
    assert kind in {k.__name__ for k in KINDS}


@pytest.mark.parametrize("path", RUNS, ids=[p.name for p in RUNS])
def test_no_answer_about_a_real_run_denies_itself(path: Path) -> None:
    """A share of the corpora at half; at the end ``test_one_number`` asks more of them, and ``python -m evals.judged`` all."""
    whole = read_run(path)
    half = whole.until(whole.last_step / 2)
    assert contradictions(half, assess(half)) == []


def test_a_metric_that_is_never_finite_breaks_no_run_that_rises() -> None:
    """A gradient norm that could not be logged is no break; one that turns while the outcome falls is."""
    assert answer().first_broken_link == "none"
    fell = np.r_[saturating(0.2, 0.8)[:150], np.zeros(50)]
    assert (
        assess(make_run({"reward/mean": fell, "policy/grad_norm": np.where(np.arange(200) < 150, 0.5, np.nan)})).first_broken_link
        == "numerics"
    )
