"""Each number of the judge, against what it is meant to be: change one and a test fails (``benchmarks/witnesses.py``)."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rl_advisor.curves.ahead import Ahead
from rl_advisor.curves.performance import Performance
from rl_advisor.detectors import patterns
from rl_advisor.finding import VERDICTS, Onset, Role
from rl_advisor.judgement import causes, continuation, evidence, going_on, meaning
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.evidence import Piece
from rl_advisor.judgement.verdict import Judged, confidence, enough, reason
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import Link

STEPS = np.arange(91.0)
SOUND = {
    "order": 0.0,
    "gone": 0.0,
    "rose": 1.0,
    "still rises": 0.0,
    "best at": 1.0,
    "lost": 0.0,
    "gained": 1.0,
    "deepest dip": 0.0,
    "falls lately": 0.0,
}


def course(middle: Any = STEPS, n: int = 91, **amounts: float) -> Any:
    """A course as far as the words ask of it."""
    level, ends = (
        SimpleNamespace(step=STEPS, noise=0.0, draws=np.tile(middle, (2, 1))),
        {"start": float(middle[0]), "last": float(middle[-1]), "best": float(middle.max())},
    )
    return SimpleNamespace(name="reward/mean", middle=middle, level=level, best_step=90.0, margin=3.0, n=n, amounts=SOUND | amounts, **ends)


def case(n: int = 91, planned: int | None = None, step: float = 90.0, **amounts: float) -> Any:
    """A case with such an outcome."""
    counts = course(n=n, **amounts)
    run = SimpleNamespace(planned_steps=planned, outcome_guess=None, rollouts=(1,))
    both = SimpleNamespace(counts=counts, held=counts, train=None)
    return SimpleNamespace(performance=both, run=run, step=step, present=lambda *_: False)


def piece(says: str, weight: float) -> Piece:
    """Something beside the outcome that speaks so much for every verdict."""
    return Piece(says, dict.fromkeys(VERDICTS, weight))


@pytest.mark.parametrize(("rises", "says"), [(0.5, "still rises"), (0.49, "was best at step 90")])
def test_a_word_is_used_from_one_half(rises: float, says: str) -> None:
    assert says in meaning.improving(course(**{"still rises": rises}))[-1]


@pytest.mark.parametrize(
    ("bends", "says"), [(2.0, "over its last third, faster than before"), (0.5, "more slowly than before"), (1.0, "third")]
)
def test_a_rise_is_said_with_its_pace(bends: float, says: str) -> None:
    """A rise whose halves differ by more than matters says so; a straight line says nothing of it."""
    assert meaning.improving(course(90 * (STEPS / 90) ** bends, **{"still rises": 1.0}))[-1].endswith(says)


@pytest.mark.parametrize(("gone", "rises"), [(0.19, True), (0.21, False)])
def test_what_has_lost_a_fifth_at_its_end_is_not_said_to_rise(gone: float, rises: bool) -> None:
    assert ("still rises" in meaning.improving(course(gone=gone, **{"still rises": 1.0}))[-1]) == rises


def test_the_last_third_begins_at_two_thirds_of_the_steps() -> None:
    assert "from about 60 to 90" in meaning.improving(course(**{"still rises": 1.0}))[-1]


@pytest.mark.parametrize(("before", "since"), [(0.88, 60), (0.92, 30)])
def test_a_plateau_begins_within_a_tenth_of_its_last_third(before: float, since: int) -> None:
    middle = np.where(STEPS < 30, 0.0, np.where(STEPS < 60, before, 1.0))
    assert meaning.plateaued(course(middle))[-1].endswith(f"since step {since}")


def test_a_plateau_holds_what_its_whole_last_third_held() -> None:
    middle = np.where(STEPS < 60, 0.0, np.where(STEPS < 68, 0.5, 1.0))
    assert meaning.plateaued(course(middle))[-1].endswith("since step 60")


def test_a_course_has_few_points_below_twenty() -> None:
    assert meaning.undecidable(course(n=19)) == ["reward/mean has only 19 points"]
    assert "only" not in meaning.undecidable(course(n=20))[0]


@pytest.mark.parametrize(("dip", "denied"), [(0.29, True), (0.31, False)])
def test_a_run_swings_from_three_tenths_of_its_range(dip: float, denied: bool) -> None:
    assert bool(meaning.denies("unstable", case(**{"deepest dip": dip}).performance)) == denied


@pytest.mark.parametrize(("p", "said"), [(0.75, "high"), (0.74, "medium"), (0.5, "medium"), (0.49, "low")])
def test_confidence_is_high_from_three_in_four_and_medium_from_one_in_two(p: float, said: str) -> None:
    assert confidence(case(), "reward_hacking", p) == said


@pytest.mark.parametrize(
    ("n", "planned", "step", "is_enough"),
    [(10, None, 90, True), (9, None, 90, False), (10, 100, 15, True), (29, 100, 14, False), (30, 100, 14, True)],
)
def test_ten_points_are_enough_and_thirty_early_in_a_plan(n: int, planned: int | None, step: float, is_enough: bool) -> None:
    assert enough(case(n, planned, step), "reward_hacking") == is_enough


def test_three_of_what_speaks_against_by_more_than_half_are_told() -> None:
    judged = Judged("improving", "", "low", evidence=(*(piece(f"against {i}", -0.51) for i in range(4)), piece("hardly", -0.5)))
    assert judged.at_odds == ("against 0", "against 1", "against 2")
    assert Judged("improving", "", "low", evidence=(piece("hardly", -0.5), piece("against", -0.51))).at_odds == ("against",)


def test_three_reasons_are_told_of_what_speaks_by_more_than_half() -> None:
    speaks = [piece(f"for {i}", 0.51) for i in range(4)]
    none = SimpleNamespace(performance=SimpleNamespace(held=None, train=None, counts=None))
    assert reason(none, "improving", speaks) == "for 0; for 1; for 2"  # type: ignore[arg-type]
    assert reason(none, "improving", [*speaks[:1], piece("hardly", 0.5)]) == "for 0"  # type: ignore[arg-type]


@pytest.mark.parametrize(("first", "clearly"), [(96.9, True), (97.1, False)])
def test_beginnings_within_three_hundredths_are_one_event(first: float, clearly: bool) -> None:
    a, b = (SimpleNamespace(onset=Onset(at, at, at)) for at in (first, 100.0))
    assert causes.before(a, b) == clearly  # type: ignore[arg-type]


@pytest.mark.parametrize(("best", "outlived"), [(61.0, True), (59.0, False)])
def test_a_cause_is_outlived_a_tenth_of_the_run_later(best: float, outlived: bool) -> None:
    outcome = SimpleNamespace(step=np.arange(101.0), smoothed=np.zeros(101), best_step=best, best=1.0, margin=0.1)
    found = SimpleNamespace(onset=Onset(50.0, 50.0, 50.0))
    assert causes.survived(SimpleNamespace(outcome=outcome), found) == outlived  # type: ignore[arg-type]


@pytest.mark.parametrize(("n", "weight"), [(4, 2.0), (7, 0.5), (8, None)])
def test_eight_points_are_a_course_and_fewer_weigh_up_to_four(n: int, weight: float | None) -> None:
    told = [p.speaks["undecidable"] for p in evidence.context(case(n))]
    assert told == ([] if weight is None else [pytest.approx(evidence.centred({"undecidable": weight})["undecidable"])])


def test_no_outcome_weighs_six() -> None:
    nothing = SimpleNamespace(performance=SimpleNamespace(counts=None), run=SimpleNamespace(planned_steps=None))
    (told,) = evidence.context(nothing)  # type: ignore[arg-type]
    assert told.speaks == evidence.centred({"undecidable": 6.0})


@pytest.mark.parametrize(("runs", "weight"), [(1, 0.25), (3, 0.75), (6, 0.75)])
def test_three_sound_runs_beside_weigh_three_quarters(runs: int, weight: float) -> None:
    finding = SimpleNamespace(measures={"outcome": -1.9, "sound_runs": runs})
    (told,) = evidence.beside_sound_runs(SimpleNamespace(findings={"unlike_sound_runs": finding}))  # type: ignore[arg-type]
    assert told.speaks == pytest.approx(evidence.centred({"improving": weight, "plateaued": weight}))


@pytest.mark.parametrize(("gamed", "parted"), [(0.8, True), (0.79, False)])
def test_a_score_fell_alone_from_four_in_five(gamed: float, parted: bool) -> None:
    assert Case.parted.fget(SimpleNamespace(gamed=gamed)) == parted  # type: ignore[attr-defined]


def test_a_score_follows_a_reward_by_a_sixth_of_its_way() -> None:
    asked: list[float] = []
    held = SimpleNamespace(ceiling=1.0, rise=lambda least=0.0: asked.append(least) or 1.0)
    train = SimpleNamespace(ceiling=1.0, start=0.2, last=0.8)
    assert Case.rose.fget(SimpleNamespace(performance=SimpleNamespace(held=held, train=train))) == 1.0  # type: ignore[attr-defined]
    assert max(asked) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("by", "paid", "share"), [((), 1.0, 1.0), ((), 0.0, 0.4), (("reward_code",), 1.0, 0.3), (("evaluation",), 1.0, 0.0)]
)
def test_a_sign_of_gaming_weighs_four(monkeypatch: pytest.MonkeyPatch, by: tuple[str, ...], paid: float, share: float) -> None:
    one = next(d for d in patterns().values() if d.role is Role.GAMING and not d.speaks)
    links = [SimpleNamespace(link=Link.EVALUATION if name == "evaluation" else Link.REWARD_SIGNAL) for name in by]
    monkeypatch.setattr(evidence, "explained_by", lambda *_: links)
    told = evidence.speaks_for(SimpleNamespace(progressed=0.0, paid=paid), SimpleNamespace(pattern=one.name))  # type: ignore[arg-type]
    assert told == {"reward_hacking": pytest.approx(4 * share * one.weight)}


def test_a_meaning_that_is_denied_leaves_a_twentieth_and_gaming_four_fifths_less_of_a_fall() -> None:
    told = evidence.fitting(SimpleNamespace(**vars(case(lost=1.0, rose=0.0)), solved=False, gamed=0.5))  # type: ignore[arg-type]
    assert told["degrading"] - told["improving"] == pytest.approx(np.log(0.6 / 0.05))


def judged(said: Any, p: float = 0.0) -> Any:
    """A verdict, as far as going on asks of it."""
    return SimpleNamespace(verdict=said, probabilities={"undecidable": p})


@pytest.mark.parametrize(
    ("points", "held", "train", "weights"),
    [
        ((10, 100), False, False, (0.8, 0.2)),
        ((5, 100), False, False, (0.5 / 1.25, 0.75 / 1.25)),
        ((10, 5), False, False, (1 / 1.125, 0.125 / 1.125)),
        ((10, 100), True, False, (0.2 / 1.25, 1.05 / 1.25)),
        ((10, 100), False, True, (1 / 1.05, 0.05 / 1.05)),
    ],
)
def test_a_score_of_ten_evaluations_speaks_nearly_alone(
    points: tuple[int, int], held: bool, train: bool, weights: tuple[float, float]
) -> None:
    """The reward weighs a quarter beside it and more beside fewer; a curve that changed by itself keeps a fifth."""
    both = Performance(*(course(n=n) for n in points), held, train)
    assert both.weights == pytest.approx(weights)


@pytest.mark.parametrize(("pays", "odds"), [(0.0, 0.02 / 0.98), (1.0, 0.98 / 0.02), (None, 1.0)])
def test_what_is_foreseen_is_never_sure(monkeypatch: pytest.MonkeyPatch, pays: float | None, odds: float) -> None:
    """Two in a hundred are left either way; of nothing foreseen it is even."""
    monkeypatch.setattr(going_on, "foreseen", lambda _: None if pays is None else Ahead(pays, 0.1))
    there = course(order=0.0)
    both = SimpleNamespace(amounts=lambda: there.amounts, counts=there, train=None)
    run = SimpleNamespace(planned_steps=None)
    found = going_on.facts(SimpleNamespace(performance=both, run=run, solved=False), dict.fromkeys(VERDICTS, 0.1))
    assert found["forecast"] == pytest.approx(np.log(odds))


def test_what_the_reward_is_foreseen_to_bring_counts_half_beside_a_score(monkeypatch: pytest.MonkeyPatch) -> None:
    score, reward = (SimpleNamespace(step=STEPS, scale=1.0) for _ in range(2))
    monkeypatch.setattr(going_on, "ahead", lambda found, _: Ahead(0.9 if found is score else 0.3, 0.1))
    found = going_on.foreseen(SimpleNamespace(held=score, train=reward, remaining=0.5, run=SimpleNamespace(planned_steps=180)))
    assert found.pays == pytest.approx((0.9 + 0.5 * 0.3) / 1.5)


@pytest.mark.parametrize(("said", "least"), [("improving", 0.3), ("not_learning", 0.5), ("unstable", 0.5)])
def test_a_run_goes_on_from_its_least_odds(monkeypatch: pytest.MonkeyPatch, said: str, least: float) -> None:
    monkeypatch.setattr(continuation.goal, "reached", lambda _: False)
    calls = [continuation.call(case(), judged(said), continuation.Continuation(p, 0.1))[0] for p in (least, least - 0.01)]
    assert calls == ["continue", "stop"]


@pytest.mark.parametrize(("said", "p", "told"), [("collapsed", 0.5, 0.03), ("plateaued", 0.0, 0.01), ("plateaued", 1.0, 0.97)])
def test_what_going_on_brings_is_never_sure(monkeypatch: pytest.MonkeyPatch, said: str, p: float, told: float) -> None:
    monkeypatch.setattr(continuation, "foreseen", lambda _: None)
    monkeypatch.setattr(continuation, "facts", lambda *_: None if said == "collapsed" else {})
    monkeypatch.setattr(continuation, "probability", lambda _: p)
    monkeypatch.setattr(continuation, "bounded", lambda *_: None)
    found = continuation.continuation(case(), judged(said))
    assert (found.p, found.gain) == (pytest.approx(told), pytest.approx(1 / 3))


@pytest.mark.parametrize(
    ("kl", "lost", "says"),
    [
        ([0.0, 1.0, 2.0, 50.0, 10.0, 11.0, 12.0], 0.0, "Since the best step (0): kl/ref 1 -> 11."),
        ([10.0, 10.0, 10.0, 16.0, 16.0], 0.0, "Since the best step (0): kl/ref 10 -> 16."),
        ([10.0, 10.0, 16.0, 16.0], 0.0, ""),
        ([10.0, 10.0, 10.0, 14.0, 14.0], 0.0, ""),
        ([], 0.31, "No checkpoint is on disk, so what was lost cannot be had back."),
        ([], 0.29, ""),
    ],
)
def test_what_drifted_since_the_best_step(kl: list[float], lost: float, says: str) -> None:
    curve = Curve("kl/ref", "kl", "f", np.arange(float(len(kl))), np.array(kl), mapped=True)
    counts = SimpleNamespace(best_step=0.0, amounts={"lost": lost})
    asked: Any = SimpleNamespace(performance=SimpleNamespace(counts=counts), run=Run(curves={"kl/ref": curve}))
    assert continuation.risk(asked) == says


@pytest.mark.parametrize(("price", "said"), [(0.19, "continue"), (0.21, "stop")])
def test_without_a_plan_a_quarter_of_the_way_is_left_to_pay(monkeypatch: pytest.MonkeyPatch, price: float, said: str) -> None:
    monkeypatch.setattr(continuation.goal, "reached", lambda _: False)
    assert continuation.call(case(), judged("plateaued"), continuation.Continuation(0.5, 0.1), price) == (said, "price")


def test_without_a_plan_four_tenths_of_it_are_left() -> None:
    assert going_on.plan_left(case()) == 0.4
    assert going_on.known(0.001) == going_on.known(0.01) == pytest.approx(np.log(0.01))


@pytest.mark.parametrize(("last", "collapsed"), [(31.0, 0.0), (25.0, 0.5), (19.0, 1.0)])
def test_three_quarters_of_the_gain_part_a_collapse_from_a_decline(last: float, collapsed: float) -> None:
    """Of a rise from 0 to 100, by what is left at the end; not where it gained less than half of what its points cover."""
    odds = {"degrading": 0.6, "collapsed": 0.2, "improving": 0.2}
    for start, wanted in ((0.0, collapsed), (51.0, None)):
        level = SimpleNamespace(value=np.array([start, 100.0, 0.0]))
        course = SimpleNamespace(start=start, best=100.0, last=last, level=level)
        told = evidence.told_apart(SimpleNamespace(performance=SimpleNamespace(counts=course), present=lambda *_: False), odds)  # type: ignore[arg-type]
        wanted_fall = 0.2 if wanted is None else 0.8 * wanted
        assert told["collapsed"] == pytest.approx(wanted_fall) and sum(told.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(("present", "gamed"), [(True, 0.27), (False, 0.0)])
def test_where_the_sign_of_progress_is_open_a_gamed_reward_takes_nearly_half_of_it(present: bool, gamed: float) -> None:
    """Of .6 that a run improves, .27; the rest stays."""
    open_case = SimpleNamespace(
        performance=SimpleNamespace(counts=None), present=lambda *patterns: present and "sooner_is_paid" in patterns
    )
    told = evidence.told_apart(open_case, {"improving": 0.6, "plateaued": 0.4, "reward_hacking": 0.0})  # type: ignore[arg-type]
    assert told == pytest.approx({"improving": 0.6 - gamed, "plateaued": 0.4, "reward_hacking": gamed})


@pytest.mark.parametrize(("drifts", "verdict", "left"), [(True, "plateaued", 0.24), (False, "plateaued", 0.4), (True, "improving", 0.24)])
def test_a_drift_without_gain_lowers_the_odds_of_going_on(drifts: bool, verdict: str, left: float) -> None:
    """By the share of the threshold below even odds, so that the call is what it was."""
    planned = SimpleNamespace(planned_steps=200)
    drifting = SimpleNamespace(run=planned, remaining=0.5, present=lambda *patterns: drifts and "drift_without_gain" in patterns)
    judged = SimpleNamespace(verdict=verdict, probabilities={"undecidable": 0.0})
    assert continuation.coherent(drifting, judged, 0.4, None) == pytest.approx(left)  # type: ignore[arg-type]


@pytest.mark.parametrize(("pattern", "weak"), [("checkpoint_stall", True), ("out_of_memory", False), ("entropy_collapse", False)])
def test_waiting_machines_make_no_outcome_fall(pattern: str, weak: bool) -> None:
    """A finding of the systems that does not weigh two is a side note of any outcome."""
    assert causes.is_weak(SimpleNamespace(pattern=pattern, link=patterns()[pattern].link)) == weak  # type: ignore[arg-type]


@pytest.mark.parametrize(("solved", "less"), [(True, np.log(0.05)), (False, 0.0)])
def test_what_stands_at_its_ceiling_has_learnt_and_can_be_told(solved: bool, less: float) -> None:
    """A twentieth is left of not learning and of undecidable, however far its points scatter below."""
    told = evidence.fitting(SimpleNamespace(**vars(case(gained=0.0)), solved=solved, gamed=0.0))  # type: ignore[arg-type]
    assert [told[v] - told["plateaued"] for v in ("not_learning", "undecidable")] == pytest.approx([less, less])
