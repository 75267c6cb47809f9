"""The entropy weight (SAC's temperature) runs away, up or down.

Looks for: a coefficient that grows or shrinks by orders of magnitude without levelling off.
Means: the entropy target cannot be reached (wrong for the action space) or is met already; the policy turns random or deterministic.
Not to be confused with: the usual decay of a learned temperature to a level as the task is learned; a weight that is held fixed (see
    entropy_bonus_too_large).
Next test: plot the policy's entropy against its target; fix the target or slow the temperature's learning rate.
Source: reports on soft actor-critic temperatures that grow to 1e8 or vanish.
"""

import numpy as np

from rl_advisor.curves import outcome_shape, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Outcome, Role, absent, number, present
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("entropy/coef", "reward/mean|eval/score/*")
CHANGE: tuple[tuple[str, str], ...] = (("fixed_temperature", ""),)


def detect(run: Run, times: float = 100.0) -> Answer:
    """Present when the coefficient ends ``times`` above its start and the outcome did not rise.

    One that vanished is present when the outcome never rose at all, and unclear when it rose and fell again: the log of a run seldom
    holds the entropy itself, without which a met target and a lost one look alike.
    """
    curve = run.curves["entropy/coef"]
    step, value = curve.finite()
    if value.size < 4:
        raise TooFewPoints(f"{value.size} points of entropy/coef")
    begin, now = float(np.median(segments.opening(curve))), float(np.median(segments.final(curve)))
    thriving = outcome_shape.thriving(run)
    measures = {"at_start": begin, "now": now}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])),)
    text = f"The entropy coefficient went {about(begin, now)}"
    if np.ptp(value) == 0:
        return absent(f"The entropy coefficient is fixed at {number(begin)}.", measures=measures, evidence=where)
    if not thriving and now > times * max(begin, 1e-6):
        return present(f"{text} and the outcome did not rise.", segments.began(curve, growing=True), measures, where)
    if begin > 0 and now < begin / (10 * times) and not thriving:
        outcome = Outcome.PRESENT if _never_rose(run) else Outcome.UNCLEAR
        text += ": it vanished, and the outcome fell."
        return Answer(outcome, text, segments.began(curve, growing=True), measures, where)
    return absent(f"{text}.", measures=measures, evidence=where)


def _never_rose(run: Run) -> bool:
    """Whether neither the score nor the reward ever gained more than noise."""
    shapes = [outcome_shape.shape_or_none(c) for c in (outcome_shape.held_out(run), outcome_shape.training(run))]
    return not any(s.rose for s in shapes if s is not None)
