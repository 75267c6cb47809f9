"""What a colleague would do next where no finding names a cause: by verdict, kind of training, and what is on disk."""

from rl_advisor.curves.task import task
from rl_advisor.detectors import marked
from rl_advisor.discovery import table
from rl_advisor.finding import FALLS, Call, Experiment, Verdict, number
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.settings_to_change import slower
from rl_advisor.output.wording import about
from rl_advisor.run import Run

TOLD = table(__file__, "usual_steps.toml")


MOVED = ("eval/loss", "kl/teacher", "pairs/chosen", "pairs/rejected")
"""What is told of training that has no outcome, the first with where it was lowest."""


def told_step(name: str, **filled: str) -> Experiment:
    """The row of that name with its blanks filled."""
    row = TOLD["step"][name]
    return Experiment(do=row["do"].format(**filled).strip(), expect_if_right=row["right"], expect_if_wrong=row["wrong"])


def usual_step(case: Case, verdict: Verdict, call: Call) -> Experiment:
    """The next step for a verdict without a known cause; it never says the opposite of the call."""
    kind = _kind(case.run)
    guess = case.run.outcome_guess
    by_loss = "judge" in TOLD["words"][kind] and (case.performance.counts is None or (guess is not None and guess.lower_is_better))
    if verdict == "reward_hacking" or (verdict in FALLS and case.parted):
        return told_step("gamed")
    if verdict in FALLS:
        return told_step("by_heart", **TOLD["words"][kind]) if by_loss else _after_a_fall(case)
    if verdict == "not_learning":
        return told_step("from_the_ground" if task(case.run).by_reward else "nothing_fitted", **TOLD["words"][kind])
    if by_loss:
        return _without_reward(case.run, TOLD["words"][kind]["judge"])
    return _going_well(case, verdict, call, kind) if verdict in ("improving", "plateaued") else told_step("unknown")


def satisfied(case: Case) -> Experiment:
    """What to do once the goal is reached."""
    return told_step("solved", enough="the goal is reached", **TOLD["words"][_kind(case.run)])


def _kind(run: Run) -> str:
    """Which words fit the kind of training."""
    known = task(run)
    return next((kind for kind in (known.kind, known.base) if kind in TOLD["words"]), "any")


def _without_reward(run: Run, ask: str) -> Experiment:
    """What judges training that earns no reward, where that is not logged or is a loss alone, and what of it is logged."""
    moved = ""
    for curve in (run.curves[name] for name in MOVED if name in run.curves):
        step, value = curve.finite()
        moved += f" {curve.raw} went {about(value[0], value[-1])}"
        moved += f"; it was lowest, {number(value.min())}, at step {step[value.argmin()]:.0f}." if curve.name == MOVED[0] else "."
    return told_step("without_reward", kind=task(run).says, ask=ask, moved=moved)


def _going_well(case: Case, verdict: Verdict, call: Call, kind: str) -> Experiment:
    """The next step of a run that learned: a harder test where this one is used up, else by whether going on is expected to pay."""
    words, held = TOLD["words"][kind], case.performance.held
    if case.present(*marked("used up")):
        return told_step(
            "used_up", stands=f"{held.name} stands at {number(held.last)} of 1" if held is not None else "the score is at its top"
        )
    if case.solved:
        return told_step("solved", enough="the task is solved", **words)
    over = bool(case.run.planned_steps) and case.remaining <= 0
    if call == "continue" or (verdict == "improving" and (call == "undecided" or over)):
        extend = "It still rose when its plan ended: extend it by a fifth"
        return told_step("rising", go=extend if over else "Go on for a tenth of the steps so far and look again", **words)
    compared = len(case.run.checkpoints) >= 3 and task(case.run).base != "control"
    return told_step("resting_with_checkpoints" if compared else "resting", **words)


def _after_a_fall(case: Case) -> Experiment:
    """Smaller steps, from before the fall where something was saved then."""
    counts = case.performance.counts
    best = counts.best_step if counts else 0.0
    before = [c for c in case.run.checkpoints if c.step <= best]
    resume = f"Resume from {max(before, key=lambda c: c.step).path}" if before else "Start again, saving a checkpoint at every evaluation,"
    return told_step("fallen", resume=resume, slower=TOLD["words"][_kind(case.run)].get("slower") or slower(case.run))
