"""Trained on the test set, and trained on the training set: which of the two rewards rose, and what that says is broken.

The procedure for rewards that do not increase: a small run on the test prompts must succeed when the update, the reward and the model
can do the task at all. What the pair shows decides where to look next.
"""

from rl_advisor.answers.story.quantities import quantity
from rl_advisor.answers.templates import case
from rl_advisor.curves import outcomes
from rl_advisor.judgement.case import case_of
from rl_advisor.output import Answer
from rl_advisor.output.errors import UsageError
from rl_advisor.run import Curve, Run

RISES, STAYS = 0.99, 0.2
"""Probability of a rise from which one is told, and up to which none is: a probe that works rises by far, noise alone by a little."""


def probe(test: Run, train: Run) -> Answer:
    """``said``, ``do``, and of both runs the reward with its way; ``branch`` names the two ways.

    Raises:
        UsageError: one of them logs no reward.
    """
    rows = [_row(name, run) for name, run in (("test", test), ("train", train))]
    ways = {row["trained_on"]: row["way"] for row in rows}
    return {**case("probe", ways), "branch": list(ways.values()), "runs": rows}


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
    if curve is None or not curve.numbers.size:
        raise UsageError(f"{run.name} logs no training reward, so it cannot say whether that rose")
    chance, told = _rise(run, curve), quantity(run.curves.get(curve.name, curve), run)
    way = "rose" if chance >= RISES else "stayed" if chance <= STAYS else "cannot be told"
    return {"trained_on": name, "run": run.name, "reward": told.label, "way": way, "chance_of_a_rise": round(chance, 2), "said": told.said}
