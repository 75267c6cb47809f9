"""The learning rate rises in the middle of the run, at once or along a climb that is no warm-up.

Looks for: a ratio of two or more between neighbouring points of the logged learning rate after its first tenth; or a climb to three times
    that begins later than a warm-up does, or goes on from a rate that trains already.
Means: a schedule with restarts, a resumed run with another configuration, or a mistake; what follows is another experiment.
Not to be confused with: warm-up, which climbs in the first steps; a decay; a rate that adapts to the KL of the updates, up and down.
Next test: find what raised the learning rate (scheduler, resume, a new stage); restart from the last checkpoint before it at the old
    rate.
Source: the practitioner's guide on abrupt changes; invariants of the log (the rate matches its schedule).
"""

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, present
from rl_advisor.output.wording import from_to
from rl_advisor.run import Floats, Run
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
ROLE = Role.FAULT
KINDS = ("any",)
NEEDS: tuple[str, ...] = ("policy/learning_rate",)
CHANGE: tuple[tuple[str, str], ...] = (("lr_schedule", "constant"),)


def detect(run: Run, times: float = 2.0, ramp: float = 3.0) -> Answer:
    """Present when the rate rises ``times`` from one row to the next after the first tenth, or ``ramp`` times along more than a warm-up."""
    step, rate = run.curves["policy/learning_rate"].finite()
    if rate.size < 5:
        raise TooFewPoints(f"{rate.size} points of the learning rate")
    measures = {"first": float(rate[0]), "last": float(rate[-1])}
    went = f"The learning rate goes {from_to(rate[0], rate[-1], 'rate')}"
    if adapts(rate):
        return absent(f"{went}, up and down throughout: it adapts to the size of the updates.", measures=measures)
    after = max(step[0] + 0.1 * (step[-1] - step[0]), warmed(step, rate, float(run.planned_steps or 0)))
    later = np.flatnonzero((step[1:] > after) & (rate[:-1] > 0)) + 1
    ratio = rate[later] / rate[later - 1] if later.size else np.ones(1)
    biggest = int(np.argmax(ratio))
    measures["largest_ratio"] = float(ratio[biggest])
    if later.size and ratio[biggest] >= times:
        at = int(later[biggest])
        measures |= {"before": float(rate[at - 1]), "after": float(rate[at])}
        text = f"The learning rate jumps {from_to(rate[at - 1], rate[at], 'rate')} at step {step[at]:.0f}."
        where = (Evidence("policy/learning_rate", float(step[at - 1]), float(step[at])),)
        return present(text, Onset(float(step[at]), float(step[at - 1]), float(step[at])), measures, where)
    climb = ramped(step, rate, ramp, float(run.planned_steps or 0))
    if climb is not None:
        low, high = climb
        text = f"The learning rate climbs {from_to(rate[low], rate[high], 'rate')} between steps {step[low]:.0f} and {step[high]:.0f}"
        doubled = low + int(np.argmax(rate[low:] >= 2 * rate[low]))
        onset = Onset(float(step[doubled]), float(step[low]), float(step[high]))
        where = (Evidence("policy/learning_rate", float(step[low]), float(step[high])),)
        return present(
            f"{text}: too late for a warm-up.", onset, measures | {"before": float(rate[low]), "after": float(rate[high])}, where
        )
    return absent(f"{went} with no jump and no late climb.", measures=measures)


def warmed(step: Floats, rate: Floats, planned: float, share: float = 0.35) -> float:
    """The step at which a warm-up ends: a climb row by row to the highest rate, early in the plan; else the first step."""
    top = int(np.argmax(rate >= 0.999 * rate.max()))
    climbs = top > 0 and bool((np.diff(rate[: top + 1]) > 0).all())
    return float(step[top]) if climbs and step[top] - step[0] <= share * max(planned, float(step[-1] - step[0])) else float(step[0])


def adapts(rate: Floats, turns: int = 3) -> bool:
    """Whether the rate goes up again and again after it went down: a schedule that follows the KL of the updates."""
    moves = np.sign(np.diff(rate))
    moves = moves[moves != 0]
    again = int((np.diff(moves) > 0).sum())
    small = bool((rate > 0).all() and np.max(rate[1:] / rate[:-1]) < 3)
    return again >= (2 if small else turns)


def ramped(step: Floats, rate: Floats, times: float, planned: float) -> tuple[int, int] | None:
    """Rows between which the rate climbs, where that is more than a warm-up: it begins late, or takes over a third of the planned steps."""
    positive = np.flatnonzero(rate > 0)
    if positive.size < 5:
        return None
    # The climb that ends highest above the lowest rate before it.
    lowest = np.minimum.accumulate(rate[positive])
    high = int(np.argmax(rate[positive] / lowest))
    low = high - int(np.argmin(rate[positive][: high + 1][::-1]))
    first, last, whole = step[positive[low]], step[positive[high]], max(planned, float(step[-1] - step[0]))
    late = first > step[0] + 0.2 * whole
    # A warm-up begins at next to nothing; a climb from a rate that trains already is none when it goes on and on.
    long = last - first > 0.35 * whole and high - low >= 20 and rate[positive[high]] < 15 * rate[positive[low]]
    found = rate[positive[high]] >= times * rate[positive[low]] and (late or long)
    return (int(positive[low]), int(positive[high])) if found else None
