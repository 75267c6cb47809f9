"""Importance weights leave one.

Looks for: the mean new-over-old ratio or the behaviour weight away from one beyond its scatter, or drifting away from it.
Means: with one mini-batch per batch the ratio must be exactly one: anything else is an inconsistency between trainer and sampler (or
    a mixture of experts routing differently). With more mini-batches it says that the policy moves too far within a batch; for the
    behaviour weight, that the data is too old.
Not to be confused with: a ratio reported as distance from one; clipped ratios.
Next test: one mini-batch and deterministic kernels: is the ratio one now? Then a cap on the behaviour weight and a lower staleness.
Source: AReaL's guide (both weights stay very close to one; fewer mini-batches, cap 5, less off-policyness).
"""

import numpy as np

from rl_advisor import course
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.DATA_FRESHNESS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("ratio/mean|rollout/behave_weight",)
CHANGE: tuple[tuple[str, str], ...] = (("minibatches", "1"), ("weight_cap", ""), ("deterministic", ""))


def detect(run: Run, away: float = 0.05) -> Answer:
    """Present when one of the two weights ends more than ``away`` from one, beyond its scatter."""
    measures: dict[str, float] = {}
    for name in ("ratio/mean", "rollout/behave_weight"):
        curve = run.curves.get(name)
        if curve is None or curve.finite()[1].size < 3:
            continue
        late = course.final(curve)
        level, error = float(np.mean(late)), float(np.std(late) / np.sqrt(late.size))
        measures[name] = level
        if abs(level - 1) > away + 2 * error:
            text = f"{name} is {number(level)} in the last part of the run, one is right."
            where = (Evidence(name, float(curve.step[0]), float(curve.step[-1])),)
            return present(text, course.began(curve), measures, where)
    if not measures:
        raise TooFewPoints("the importance weights have fewer than 3 points")
    text = ", ".join(f"{name} {number(level)}" for name, level in measures.items())
    return absent(f"Importance weights stay at one: {text}.", measures=measures)
