"""Trained on the test set, and trained on the training set: which of the two rewards rose, and what that says is broken.

The procedure for rewards that do not increase: a small run on the test prompts must succeed when the update, the reward and the model
can do the task at all. What the pair shows decides where to look next.
"""

from typing import Literal

from rl_advisor.answers.story.quantities import quantity
from rl_advisor.curves import outcomes
from rl_advisor.judgement.case import case_of
from rl_advisor.output import Answer
from rl_advisor.output.errors import UsageError
from rl_advisor.run import Curve, Run

Way = Literal["rose", "stayed", "cannot be told"]
RISES, STAYS = 0.99, 0.2
"""Probability of a rise from which one is told, and up to which none is: a probe that works rises by far, noise alone by a little."""
BRANCHES: dict[tuple[Way, Way], tuple[str, str]] = {
    ("rose", "stayed"): (
        "The update and the reward work; the training data do not let it learn.",
        "Compare the prompts of both: difficulty, length, graders. Start from easier ones, or filter (areal: `should_accept_fn`).",
    ),
    ("stayed", "stayed"): (
        "Not even the test prompts are learned: the model, the update or the reward cannot do it.",
        "Grade ten outputs by hand. Then a larger batch, another learning rate, another base model, or fine-tuning first.",
    ),
    ("rose", "rose"): (
        "Both rise: the set-up learns.",
        "Look at the held-out score of the training run; if that stays, it is the evaluation or the difference between the sets.",
    ),
    ("stayed", "rose"): (
        "Training rises and the test prompts do not: they are not the same task.",
        "Compare template, limits, grader and difficulty of the two sets before anything else.",
    ),
}
UNTOLD = ("One of the two is too short or too noisy to say.", "Run both on for as many steps again, or with more prompts a step.")


def probe(test: Run, train: Run) -> Answer:
    """``said``, ``do``, and of both runs the reward with its way; ``branch`` names the two ways.

    Raises:
        UsageError: one of them logs no reward.
    """
    rows = [_row(name, run) for name, run in (("test", test), ("train", train))]
    said, do = BRANCHES.get((rows[0]["way"], rows[1]["way"]), UNTOLD)
    return {"said": said, "do": do, "branch": [row["way"] for row in rows], "runs": rows}


def _rise(run: Run, curve: Curve) -> float:
    """Probability that the reward rose, be it that it fell again: then up to its best, doubted twice as noise has a best, too."""
    measured = outcomes.course_or_none(curve)
    if measured is None:
        return 0.5
    whole, top = case_of(run, {}).paid, case_of(run.until(measured.best_step), {}).paid
    fell = measured.best - measured.last > max(3 * measured.noise, measured.margin)
    return max(whole, 1 - 2 * (1 - top)) if fell else whole


def _row(name: str, run: Run) -> Answer:
    curve = outcomes.training(run)
    told = None if curve is None else quantity(run.curves.get(curve.name, curve), run)
    if curve is None or told is None:
        raise UsageError(f"{run.name} logs no training reward, so it cannot say whether that rose")
    chance = _rise(run, curve)
    way: Way = "rose" if chance >= RISES else "stayed" if chance <= STAYS else "cannot be told"
    return {"trained_on": name, "run": run.name, "reward": told.label, "way": way, "chance_of_a_rise": round(chance, 2), "said": told.said}
