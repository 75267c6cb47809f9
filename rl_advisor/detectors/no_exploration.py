"""Nothing is tried at random, from the first steps on.

Looks for: an exploration rate that is next to zero when it is first logged, while the outcome swings, falls or gains nothing.
Means: a value-based agent only repeats what its random initial values prefer; what it does not try it cannot learn, and it learns from what
    one narrow policy happens to meet.
Not to be confused with: a rate that was annealed down, which starts high; an agent that explores by other means (noisy layers, parameter
    noise) or goes on from a trained one: then the outcome tells.
Next test: the same run with the rate annealed from one over the first tenth of the steps.
Source: Q-learning needs every action to be tried again and again (Sutton and Barto, chapter 6); the field guide on exploration.
"""

from rl_advisor.curves import outcome_shape
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present, unclear
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("exploration/rate", "eval/score/*|reward/mean|reward/success|reward/used|reward/component/*")
CHANGE: tuple[tuple[str, str], ...] = (("explore_longer", ""),)


def detect(run: Run, least: float = 0.01, early: float = 0.05) -> Answer:
    """Present when the rate stays below ``least`` from its first values on and the outcome does not thrive; unclear when it does.

    A rate first logged after more than ``early`` of the run may have been annealed before.
    """
    curve = run.curves["exploration/rate"]
    step, value = curve.finite()
    if value.size < 3:
        raise TooFewPoints(f"{value.size} points of the exploration rate, 3 needed")
    highest = float(value.max())
    measures = {"first": float(value[0]), "highest": highest}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])),)
    text = f"The exploration rate is {number(value[0])} when it is first logged and {number(highest)} at most"
    if highest >= least:
        return absent(f"{text}.", measures=measures, evidence=where)
    if step[0] > early * run.last_step:
        return unclear(f"{text}; earlier values are not logged.", measures=measures, evidence=where)
    shape = outcome_shape.shape_or_none(outcome_shape.outcome(run))
    if shape is None or shape.got_somewhere:
        return unclear(f"{text}, yet the outcome does not suffer visibly.", measures=measures, evidence=where)
    first = float(step[0])
    return present(f"{text}.", Onset(first, first, first), measures, where)
