"""What a colleague would do next where no finding names a cause: by verdict, kind of training, and what is on disk."""

import re
from dataclasses import dataclass

from rl_advisor.assessment import Call, Experiment, Verdict
from rl_advisor.curves.task import task
from rl_advisor.finding import number
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.settings_to_change import slower
from rl_advisor.output.wording import about
from rl_advisor.run import Run

HELD_LOSS = re.compile(r"(?i)(?:eval|val|valid|validation|test|dev|held.?out)\w{0,40}[/_ .-]?loss$")
"""A loss on data that is not trained on, by its name."""


@dataclass(frozen=True)
class Words:
    """What is said differently of different kinds of training."""

    start: str
    """What a baseline evaluates."""
    easy: str
    """What must be learnable."""
    cases: str
    change: str


WORDS = {
    "control": Words(
        "episodes of an untrained policy",
        "one easy task that this code is known to solve",
        "episodes",
        "exploration, reward or network",
    ),
    "language": Words(
        "the starting model", "the test prompts themselves, a few dozen of them", "prompts", "the data, the reward or the group size"
    ),
    "pairs": Words("the starting model on held-out pairs", "fifty pairs anybody can tell apart", "pairs", "beta, the rate or the pairs"),
    "": Words("the starting policy", "the easiest examples", "cases", "the task, the reward or the model"),
}
"""By the kind of training; the last where that is not known."""
FALLS: frozenset[Verdict] = frozenset({"collapsed", "degrading", "unstable"})


def usual_step(case: Case, verdict: Verdict, call: Call) -> Experiment:
    """The next step for a verdict without a known cause; it never says the opposite of the call."""
    known = task(case.run).traits
    kind = (
        "pairs"
        if not task(case.run).by_reward
        else "language"
        if known & {"language", "tools"}
        else "control"
        if "control" in known
        else ""
    )
    if verdict in FALLS:
        return after_a_fall(case)
    if verdict == "not_learning":
        return from_the_ground(WORDS[kind])
    if verdict == "reward_hacking":
        return Experiment(
            do="Read twenty of the highest-paid answers of the last steps and grade them by hand or with a second, stricter verifier.",
            expect_if_right="They are paid and wrong: mend the reward, and go back to the checkpoint before the two parted.",
            expect_if_wrong="They are right: the evaluation differs; compare its template, limit and temperature with training.",
        )
    if not task(case.run).by_reward and case.performance.counts is None:
        return without_reward(case.run)
    if verdict in ("improving", "plateaued"):
        return going_well(case, verdict, call, WORDS[kind])
    return Experiment(
        do="Log a held-out score at a fixed cadence from step 0 on, at least ten evaluations, and look again.",
        expect_if_right="The score shows a direction beyond its noise.",
        expect_if_wrong="It stays inside its noise: a larger evaluation is needed before anything can be said.",
    )


def without_reward(run: Run) -> Experiment:
    """What judges training that earns no reward, where that is not logged or is a loss alone."""
    kind = task(run)
    held = next((c for c in run.curves.values() if HELD_LOSS.search(c.raw) and c.finite()[1].size > 1), None)
    loss = ""
    if held is not None:
        step, value = held.finite()
        loss = f" {held.raw} went {about(value[0], value[-1])}; it was lowest, {number(value.min())}, at step {step[value.argmin()]:.0f}."
    ask = "its loss on held-out data" if kind.kind == "supervised" else "the share of held-out pairs told apart, not its loss or its margin"
    return Experiment(
        do=f"This looks like {kind.says}. Judge it by {ask}.{loss} Before RL starts from it, measure the reward of its samples.",
        expect_if_right="What is held out gets better: keep the checkpoint where it is best.",
        expect_if_wrong="If this is a run with a reward, that is not logged: log it, and a held-out score, at each evaluation.",
    )


def going_well(case: Case, verdict: Verdict, call: Call, words: Words) -> Experiment:
    """The next step of a run that learned: a harder test where this one is used up, else by whether going on is expected to pay."""
    if case.present("saturated_test"):
        return beyond_the_test(case)
    if case.solved:
        return at_the_top(words)
    over = bool(case.run.planned_steps) and case.remaining <= 0
    rising = call == "continue" or (verdict == "improving" and (call == "undecided" or over))
    return while_rising(case, words) if rising else at_rest(case, words)


def at_the_top(words: Words) -> Experiment:
    """What is left to do on a task that is solved."""
    return Experiment(
        do=f"Stop here, the task is solved. Evaluate the last checkpoint on fresh {words.cases}; a second seed tells whether it was luck.",
        expect_if_right="It stands there as well: take it.",
        expect_if_wrong="It does not: the evaluation was too small or too close to the training cases.",
    )


def after_a_fall(case: Case) -> Experiment:
    """Smaller steps, from before the fall where something was saved then."""
    counts = case.performance.counts
    best = counts.best_step if counts else 0.0
    before = [c for c in case.run.checkpoints if c.step <= best]
    start = f"Resume from {max(before, key=lambda c: c.step).path}" if before else "Start again, saving a checkpoint at every evaluation,"
    return Experiment(
        do=f"{start} with {slower(case.run)} and nothing else changed, up to where it fell.",
        expect_if_right="The outcome holds: the updates were too large.",
        expect_if_wrong="It falls at the same place: the data, the environment or the reward changed there; compare both sides.",
    )


def from_the_ground(words: Words) -> Experiment:
    """The procedure for rewards that do not increase: baseline, a test that must succeed, then branch."""
    return Experiment(
        do=f"First the baseline: evaluate {words.start} with the same evaluation. Then train on {words.easy}: there the reward must rise.",
        expect_if_right="It rises there: the update works; the task, the data or the exploration is too hard, so start from easier ones.",
        expect_if_wrong="It does not: the reward or the update is broken; check the reward by hand, then the rate, ten times up and down.",
    )


def beyond_the_test(case: Case) -> Experiment:
    """A harder test, where this one cannot show any more progress."""
    held = case.performance.held
    stands = f"{held.name} stands at {number(held.last)} of 1" if held is not None else "the score is at its top"
    return Experiment(
        do=f"The test is used up: {stands}. Take a harder test, and evaluate the starting model and the last checkpoints on it.",
        expect_if_right="The checkpoints differ there: choose by it, and train on harder prompts if more is wanted.",
        expect_if_wrong="They do not differ: this is what the data and the reward can teach.",
    )


def while_rising(case: Case, words: Words) -> Experiment:
    """Go on, with the evaluation that tells progress from gaming."""
    left = not case.run.planned_steps or case.remaining > 0
    go = "Go on for a tenth of the steps so far and look again" if left else "It still rose when its plan ended: extend it by a fifth"
    return Experiment(
        do=f"{go}, with an evaluation on held-out {words.cases} large enough to see a change of a few percent.",
        expect_if_right="The held-out score rises by more than its noise.",
        expect_if_wrong="The reward rises and the score does not: look at the best paid samples before going on.",
    )


def at_rest(case: Case, words: Words) -> Experiment:
    """Whether this level is what the set-up gives, and what to change to get beyond it."""
    if len(case.run.checkpoints) >= 3 and words is not WORDS["control"]:
        do = f"Evaluate the last three checkpoints with four times the {words.cases}; if they agree, change data or reward, not the steps."
    else:
        do = f"Stop here, and run two more seeds to see whether it is typical; to get beyond it, change {words.change}, not the steps."
    return Experiment(
        do=do,
        expect_if_right="They agree within noise: more steps of this set-up bring nothing.",
        expect_if_wrong="One is better beyond noise: this run stopped early or was unlucky.",
    )
