"""The critic's values are of another scale than the returns it is fitted to.

Looks for: values whose middle, late in the run, is less than a fifth or more than five times that of the returns.
Means: the reward's scale, the value target or its normalisation is wrong: the advantage is then the return itself, and no baseline.
Not to be confused with: the first updates, in which a critic starts at nothing; returns around zero, where a ratio says nothing; values
    that are logged normalised beside returns that are not.
Next test: freeze the actor, fit the critic alone on one fixed batch, with the returns normalised: do the values reach them?
Source: the field guide's signals of a broken critic (value prediction scale much smaller than return).
"""

import numpy as np

from rl_advisor.curves import segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.TRAINING_SIGNAL
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("value/mean", "value/return_mean")
CHANGE: tuple[tuple[str, str], ...] = (("critic", ""),)
FEWEST = 8


def detect(run: Run, apart: float = 5.0) -> Answer:
    """Present when late values are ``apart`` times smaller or larger than the returns, which are not around zero."""
    value, target = run.curves["value/mean"], run.curves["value/return_mean"]
    step, late = value.finite()[0], segments.final(value, 0.4)
    returns = segments.final(target, 0.4)
    if min(step.size, target.finite()[1].size) < FEWEST:
        raise TooFewPoints(f"fewer than {FEWEST} points of values and returns")
    mean, wanted = float(np.median(late)), float(np.median(returns))
    measures = {"values": mean, "returns": wanted}
    where = (Evidence("value/mean", float(step[0]), float(step[-1])),)
    text = f"The critic's values are {number(mean)} late in the run, the returns {number(wanted)}"
    around_zero = abs(wanted) < 2 * float(np.std(returns))
    ratio = abs(mean) / abs(wanted) if wanted else 1.0
    if not around_zero and (ratio < 1 / apart or ratio > apart):
        return present(f"{text}: another scale, so the advantage has no baseline.", measures=measures, evidence=where)
    return absent(f"{text}.", measures=measures, evidence=where)
