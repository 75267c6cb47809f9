"""The built-in judgement: verdicts, first breaks, calls and checkpoints on runs whose story is known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from evals.drawn import flat, make_run, noise, rising, saturating, stepping
from rl_advisor.answers.compare import compare
from rl_advisor.api import assess
from rl_advisor.finding import Assessment, Finding, Onset, Outcome
from rl_advisor.judgement.case import open_case
from rl_advisor.judgement.causes import before, explains, in_order, survived
from rl_advisor.output.errors import UsageError
from rl_advisor.reading import read_run
from rl_advisor.run import Gap, Run
from rl_advisor.vocabulary import Link


def score(*shape: float, n: int = 21) -> np.ndarray:
    """Held-out scores through these levels at equal distances, with the noise of a few hundred prompts."""
    return np.clip(np.interp(np.linspace(0, 1, n), np.linspace(0, 1, len(shape)), shape) + noise(n, 0.01, seed=2), 0, 1)


def grpo(**curves: np.ndarray) -> dict[str, np.ndarray]:
    """The curves of a healthy GRPO run, some of them replaced."""
    healthy = {
        "reward__mean": saturating(0.3, 0.9),
        "eval__score__accuracy": score(0.3, 0.8, 0.88, 0.9, 0.9),
        "kl__ref": saturating(0, 0.05, sd=0.001),
        "entropy__mean": saturating(0.6, 0.3, sd=0.01),
        "reward__std": flat(0.4, 0.01),
        "reward__flat_groups": np.clip(saturating(0.1, 0.5), 0, 1),
        "response__length": flat(120, 3),
        "response__truncated": np.abs(flat(0.01, 0.005)),
        "policy__learning_rate": np.full(200, 1e-6),
        "policy__grad_norm": flat(0.5, 0.04),
    }
    return {name.replace("__", "/"): value for name, value in (healthy | curves).items()}


BREAK = {
    "reward__mean": np.r_[saturating(0.3, 0.9)[:100], np.abs(flat(0.02, 0.01))[:100]],
    "eval__score__accuracy": score(0.3, 0.85, 0.9, 0.02, 0.01),
}
STORIES = [
    ("healthy and flat", grpo(), {"plateaued", "improving"}, {"none"}),
    ("still rising", grpo(reward__mean=rising(0.2, 0.8), eval__score__accuracy=score(0.2, 0.5, 0.8)), {"improving"}, {"none"}),
    (
        "learning rate jumps",
        grpo(**BREAK, policy__learning_rate=stepping(1e-6, 1e-4, sd=0), kl__ref=stepping(0.03, 3, sd=0.005)),
        {"collapsed"},
        {"policy_update"},
    ),
    (
        "reward gamed",
        grpo(
            reward__mean=saturating(0.3, 1.6),
            eval__score__accuracy=score(0.6, 0.2, 0.05, 0.0),
            response__length=saturating(100, 390, sd=2),
            response__truncated=np.clip(saturating(0.0, 0.95), 0, 1),
        ),
        {"reward_hacking"},
        {"reward_signal"},
    ),
    (
        "never paid",
        grpo(reward__mean=np.zeros(200), reward__std=np.zeros(200), reward__flat_groups=np.ones(200), eval__score__accuracy=np.zeros(21)),
        {"not_learning"},
        {"reward_signal"},
    ),
    (
        "cut off from the start",
        grpo(
            reward__mean=np.zeros(200),
            reward__std=np.zeros(200),
            reward__flat_groups=np.ones(200),
            eval__score__accuracy=np.zeros(21),
            response__truncated=flat(0.99, 0.003),
        ),
        {"not_learning"},
        {"environment_data"},
    ),
    (
        "not moving",
        grpo(
            reward__mean=flat(0.5, 0.03), eval__score__accuracy=score(0.5, 0.5), kl__ref=np.full(200, 1e-4), entropy__mean=flat(0.6, 0.005)
        ),
        {"not_learning"},
        {"policy_update"},
    ),
    ("NaN to the end", grpo(**BREAK, policy__grad_norm=np.where(np.arange(200) < 100, 0.5, np.nan)), {"collapsed"}, {"numerics"}),
    ("NaN that the outcome outlived", grpo(policy__grad_norm=np.where(np.arange(200) < 150, 0.5, np.nan)), {"plateaued"}, {"none"}),
    (
        "harder data",
        grpo(reward__mean=np.r_[saturating(0.3, 0.9)[:120], flat(0.2, 0.02)[:80]], prompt__length=stepping(20, 60, at=0.6, sd=1)),
        {"collapsed", "degrading", "plateaued"},  # the reward fell, the score on the old prompts stands
        {"environment_data"},
    ),
]


@pytest.mark.parametrize(("curves", "verdicts", "links"), [s[1:] for s in STORIES], ids=[s[0] for s in STORIES])
def test_story(curves: dict[str, np.ndarray], verdicts: set[str], links: set[str]) -> None:
    """The verdict and the first broken link are those that the story was made with."""
    a = assess(make_run(curves, planned=300))
    assert a.verdict in verdicts, a.summary
    assert a.first_broken_link in links, a.summary


@pytest.mark.parametrize(
    ("curves", "verdicts"),
    [
        (grpo(eval__score__accuracy=np.r_[score(0.3, 0.8, 0.88, 0.9, 0.9)[:-1], 0.55]), {"plateaued", "improving"}),
        (grpo(eval__score__accuracy=score(0.3, 0.8, 0.5, 0.85, 0.92, 0.92)), {"plateaued", "improving"}),
        (
            grpo(
                reward__mean=np.r_[saturating(0.3, 0.6)[:100], flat(0.6, 0.02)[:100]],
                eval__score__accuracy=score(0.3, 0.6, 0.6),
                policy__learning_rate=np.r_[np.full(100, 1e-6), np.full(100, 1e-9)],
            ),
            {"plateaued"},
        ),
        (grpo(reward__mean=flat(0.99, 0.003), eval__score__accuracy=score(0.4, 0.4)), {"not_learning"}),
    ],
    ids=["one bad evaluation at the end", "a dip that recovered", "a plateau made by the schedule", "solved prompts, unmoved score"],
)
def test_what_is_no_break(curves: dict[str, np.ndarray], verdicts: set[str]) -> None:
    """A single low evaluation and a dip that came back are no decline; a plateau is called one; solved prompts teach nothing."""
    a = assess(make_run(curves, planned=300))
    assert a.verdict in verdicts, a.summary
    assert a.first_broken_link == ("training_signal" if a.verdict == "not_learning" else "none"), a.summary


def test_what_the_outcome_outlived_is_not_why_it_fell() -> None:
    """Spikes early in a run that went on to its best are not blamed for a fall that a jump of the learning rate led."""
    spiky = flat(0.5, 0.04)
    spiky[[14, 16, 18, 20, 22]] = 9.0
    curves = grpo(**BREAK, policy__learning_rate=stepping(1e-6, 1e-4, sd=0), kl__ref=stepping(0.03, 3, sd=0.005), policy__grad_norm=spiky)
    case = open_case(make_run(curves, planned=300))
    assert survived(case, finding("gradient_spikes", Link.NUMERICS, 14, 22))
    assert not survived(case, finding("learning_rate_jump", Link.POLICY_UPDATE, 99, 101))
    assert assess(case.run).first_broken_link == "policy_update"


def test_a_reward_above_every_evaluation_is_named_although_the_score_stands() -> None:
    """Returns of one task that leap beyond what evaluation ever saw say that the reward changed, whatever the score does."""
    curves = {"reward/mean": stepping(-900, 900, sd=30), "episode/length": flat(200), "eval/score/a": np.linspace(-900, -500, 20)}
    assert assess(make_run(curves, planned=300)).first_broken_link == "reward_signal"


def test_progress_that_nothing_checks_is_never_told_with_high_confidence() -> None:
    """A reward that rose, with no held-out score and no sample beside it, may be gamed: a judgement, but an unverified one."""
    curves = {"reward/mean": rising(0.3, 0.9), "response/length": saturating(100, 300, sd=2)}
    unchecked = assess(make_run(curves, planned=300))
    assert unchecked.verdict == "improving"
    assert unchecked.confidence != "high"


def test_a_run_that_rose_to_its_planned_end_has_finished() -> None:
    """Nobody is told to stop what is over: the summary says that it finished, and that a longer plan may pay."""
    a = assess(make_run(grpo(reward__mean=rising(0.2, 0.8), eval__score__accuracy=score(0.2, 0.5, 0.8)), planned=200))
    assert a.verdict == "improving"
    assert "Finished while still improving: a longer plan may pay." in a.summary


def test_a_run_that_rises_in_spite_of_a_break_is_not_called_sound() -> None:
    """Where something broke first, the opening says what the outcome does and no more."""
    folder = Path(__file__).parents[1] / "evals" / "corpus" / "second" / "runs" / "second-grpo-06"
    a = assess(read_run(folder))
    assert a.verdict in {"improving", "plateaued"}
    assert a.first_broken_link == "reward_signal"
    assert a.call_reason == "solved"


def test_nothing_logged_is_undecidable() -> None:
    """Without a reward or a score nothing is called healthy."""
    a = assess(make_run({"policy/learning_rate": np.full(50, 1e-6)}))
    assert a.verdict == "undecidable"
    assert a.confidence == "low"


def test_without_any_score_nothing_is_blamed() -> None:
    """A run without a reward says so first, and its checkpoint is not praised for an escape from a fault that nobody found."""
    run = replace(make_run({"policy/loss": flat(60)}), gaps=(Gap("reward", "no reward metric was found"),))
    judged = assess(run)
    assert "No reward metric was found." in judged.summary
    assert "went wrong" not in judged.best_checkpoint.why


def test_checkpoint_is_one_on_disk_and_the_earlier_of_equals() -> None:
    """On a plateau the earlier checkpoint is kept; after a fall the one before it; never a path that is not there."""
    level = np.r_[0.3, 0.6, 0.8, np.full(18, 0.9)]
    flat_end = assess(make_run(grpo(eval__score__accuracy=level + noise(21, 0.02, seed=4)), planned=300))
    assert flat_end.best_checkpoint.path in {"checkpoint-50", "checkpoint-100", "checkpoint-150"}
    fallen = assess(make_run(grpo(**BREAK, kl__ref=stepping(0.03, 3, sd=0.005)), planned=300))
    assert fallen.best_checkpoint.path in {"checkpoint-50", "checkpoint-100"}
    none = assess(make_run(grpo(), save_every=10_000))
    assert none.best_checkpoint.path is None


def test_few_evaluations_choose_a_checkpoint_too() -> None:
    """Too few points for a shape still say which checkpoint stood highest, and that they are few."""
    run = make_run({"eval/score/accuracy": np.array([0.1, 0.2, 0.7, 0.4])}, planned=100, save_every=10)
    best = assess(run).best_checkpoint
    assert (best.step, best.path) == (20, "checkpoint-20")
    assert "too few" in best.why


def test_where_the_score_stands_does_not_move_the_choice() -> None:
    """A constant added to every evaluation makes nobody's checkpoint a tie."""
    level = 10 + np.r_[np.linspace(0, 1, 20), np.full(20, 1.0)] + noise(40, 0.02, seed=5)
    here, far = (assess(make_run({"eval/score/return": level + added}, save_every=10)).best_checkpoint for added in (0.0, 1e5))
    assert here.step == far.step


def test_the_plan_speaks_where_nothing_is_measured() -> None:
    """Before the first evaluations the odds follow the share of the plan that is left."""
    early, late = (assess(make_run({"eval/score/return": np.array([1.0, 2.0])}, planned=planned)) for planned in (100, 14))
    assert early.verdict == late.verdict == "undecidable"
    assert early.p_continue_pays > late.p_continue_pays


def test_what_cannot_gain_is_bounded_and_says_why() -> None:
    """A run that is broken, solved, without a signal, or done is stopped, each for its own reason; nothing measured is no call."""
    solved = make_run({"eval/score/accuracy": np.r_[np.linspace(0.3, 1, 10), np.ones(20)]}, planned=600)
    dead = make_run(
        grpo(reward__mean=np.zeros(200), reward__std=np.zeros(200), reward__flat_groups=np.ones(200), eval__score__accuracy=np.zeros(21))
    )
    done = make_run({"reward/mean": rising()}, planned=200)
    broken = make_run(grpo(**BREAK, kl__ref=stepping(0.03, 3, sd=0.005)), planned=400)
    nothing = make_run({"policy/learning_rate": np.full(50, 1e-6)})
    told = [(a.call, a.call_reason) for a in map(assess, (solved, dead, done, broken, nothing))]
    reasons = ("solved", "dead", "finished", "broken")
    assert told == [*(("stop", reason) for reason in reasons), ("undecided", "not_measured")]


def test_going_on_pays_more_while_rising_than_when_broken() -> None:
    """The chance of a gain orders a rising run before a flat and a collapsed one, and calls follow."""
    rising_run = assess(make_run(grpo(reward__mean=rising(0.2, 0.6), eval__score__accuracy=score(0.2, 0.4, 0.6)), planned=400))
    flat_run = assess(make_run(grpo(), planned=400))
    broken = assess(make_run(grpo(**BREAK, kl__ref=stepping(0.03, 3, sd=0.005)), planned=400))
    assert rising_run.p_continue_pays > max(flat_run.p_continue_pays, broken.p_continue_pays)
    assert (rising_run.call, broken.call) == ("continue", "stop")


BROKEN_HALF_WAY = make_run({"reward/mean": stepping(0.8, 0.02), "eval/score/accuracy": stepping(0.8, 0.0, n=20, sd=0.01)}, planned=400)
RISING_HALF_WAY = make_run({"reward/mean": rising(), "eval/score/accuracy": rising(n=20)}, planned=400)


@pytest.mark.parametrize(
    ("run", "price", "call"),
    [
        (RISING_HALF_WAY, None, "continue"),
        (RISING_HALF_WAY, 0.01, "continue"),
        (RISING_HALF_WAY, 0.8, "stop"),
        (BROKEN_HALF_WAY, None, "stop"),
        (BROKEN_HALF_WAY, 0.1, "stop"),
        (BROKEN_HALF_WAY, 1e-6, "continue"),  # next to nothing is lost by waiting for a recovery
        (make_run({"reward/mean": rising()}, planned=200), 1e-6, "stop"),  # nothing is left to go on with
    ],
)
def test_the_price_of_compute_enters_the_call(run: Run, price: float | None, call: str) -> None:
    """The dearer what is left of the plan, the more must be to gain."""
    assert assess(run, price=price).call == call


def test_finished_plan_has_nothing_left_that_could_pay() -> None:
    """At the planned end the chance that going on to that end pays is next to nothing."""
    assert assess(make_run(grpo(reward__mean=rising()), planned=200)).p_continue_pays <= 0.05


def test_assessment_survives_json() -> None:
    """What is signed can be written and read again, under the contract's name for its schema."""
    a = assess(make_run(grpo(), planned=300))
    text = a.model_dump_json(by_alias=True)
    assert '"schema":"rl-advisor/assessment/2"' in text
    assert a.model_dump() == Assessment.model_validate_json(text).model_dump()


def finding(pattern: str, link: Link, low: float, high: float) -> Finding:
    """A present finding with an onset interval."""
    return Finding(pattern, link, Outcome.PRESENT, "", Onset((low + high) / 2, low, high))


def test_what_broke_first_orders_by_onset_and_ties_outside_in() -> None:
    """Clearly earlier comes first; overlapping onsets are ties, which the order of the loop decides."""
    late_data = finding("truncation", Link.ENVIRONMENT_DATA, 50, 60)
    policy = finding("update_too_large", Link.POLICY_UPDATE, 10, 20)
    tied_reward = finding("train_eval_gap", Link.REWARD_SIGNAL, 15, 30)
    assert [tied_reward, policy, late_data] == in_order([late_data, policy, tied_reward])
    assert before(policy, late_data) and not before(policy, tied_reward)


def test_consequence_is_no_root() -> None:
    """What a cause brings about is explained by it, unless it clearly began before."""
    jump = finding("learning_rate_jump", Link.POLICY_UPDATE, 100, 100)
    assert explains(jump, finding("truncation", Link.ENVIRONMENT_DATA, 101, 103))
    assert not explains(jump, finding("truncation", Link.ENVIRONMENT_DATA, 10, 20))


def test_one_run_is_no_comparison() -> None:
    """A comparison needs two."""
    with pytest.raises(UsageError, match="at least two"):
        compare([Run()])
