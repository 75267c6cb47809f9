"""The outcome is still rising at the end.

Looks for: over the last third, a slope whose interval lies above zero and whose change is not negligible.
Means: going on is likely to pay, unless the reward is being gamed or the budget is spent.
Not to be confused with: a reward that rises while the held-out score does not (see train_eval_gap).
Next test: go on for a tenth of the budget and compare the held-out score with its best.
Source: Prais-Winsten slope with bias-corrected autocorrelation.
"""

from rl_advisor.curves import outcomes
from rl_advisor.curves.ahead import ahead
from rl_advisor.curves.outcomes import Course
from rl_advisor.curves.pace import pace
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present, unclear
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.SYMPTOM
KINDS = ("any",)
SPEAKS = {"improving": 0.7}
NEEDS: tuple[str, ...] = ("eval/score/*|reward/mean|reward/success|reward/used|reward/component/*",)


DOZEN = 12
"""Evaluations from which a score without a gain outweighs a reward that rises."""


def _is_spent(s: Course) -> bool:
    """Whether a forecast over another third of the steps hardly sees a gain: then a reward that still creeps up is a lagging mean."""
    return s.rose and ahead(s, float(s.step[-1] + (s.step[-1] - s.step[0]) / 3)).expected < s.margin


def all_along(s: Course) -> bool:
    """Whether it surely rises over the whole run, and neither stops nor turns in its second half."""
    return s.rose and not s.fell and s.direction_overall() == "rising" and pace(s, s.margin) in ("steady", "accelerating", "slowing")


def detect(run: Run) -> Answer:
    """Present when the held-out score is rising, or the reward is and the score agrees or is missing."""
    curves = [c for c in (outcomes.held_out(run), outcomes.training(run)) if c is not None]
    shapes = [s for s in map(outcomes.course_or_none, curves) if s is not None]
    if not shapes:
        outcomes.course_of(curves[0])  # raises with the number of points
    s = shapes[0]
    ways = [x.direction() for x in shapes]
    rising = next((x for x, way in zip(shapes, ways, strict=True) if way == "rising"), s)
    measures = {"recent_change": rising.recent.slope * rising.recent.span, "p": rising.recent.p, "last": rising.last}
    where = (Evidence(rising.name, rising.recent_first, float(rising.step[-1])),)
    went = "gained" if measures["recent_change"] >= 0 else "lost"
    much, level = number(abs(measures["recent_change"])), number(rising.last)
    text = f"{rising.name} {went} {much} since step {rising.recent_first:.0f}, to about {level}"
    if ways[0] != "rising" and (s.stopped() or _is_spent(s)):
        said = f"{s.name} rose and is not forecast to rise further."
        return absent(said, measures=measures, evidence=where)
    if all(x.at_ceiling for x, way in zip(shapes, ways, strict=True) if way == "rising") and "rising" in ways:
        said = f"{rising.name} reached its maximum ({number(rising.last)}): nothing is left to gain."
        return absent(said, measures=measures, evidence=where)
    if rising is not s and ways[0] != "rising" and s.n >= DOZEN and not s.rose:
        said = f"{text}: rising, while {s.name} has gained nothing over {s.n} evaluations."
        return unclear(said, measures=measures, evidence=where)
    slowly = "rising" not in ways and ways[0] == "undecidable" and all_along(s)
    if "falling" not in ways and ("rising" in ways or slowly):
        why = "; it rises over the whole run, its last third alone is too noisy to tell" if slowly else ": still rising"
        return present(f"{text}{why}.", measures=measures, evidence=where)
    if ways[0] == "undecidable" and "falling" not in ways:
        return unclear(f"{text}: inconclusive.", measures=measures, evidence=where)
    return absent(f"{text}: {ways[0]}.", measures=measures, evidence=where)
