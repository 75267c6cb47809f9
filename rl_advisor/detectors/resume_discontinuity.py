"""The run was resumed and did not go on where it stopped.

Looks for: a restart in the log (steps going back) and a step in the outcome, the gradient norm or KL at the same place.
Means: optimiser state, random state, learning-rate schedule or data position was not restored.
Not to be confused with: a restart after which every curve goes on at its level.
Next test: compare the configuration and the optimiser state of both parts.
Source: resume discontinuities; the practitioner's guide on abrupt changes.
"""

from rl_advisor.features import TooFewPoints
from rl_advisor.features.trend import level_change
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.NUMERICS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("events",)
WATCHED = ("reward/mean", "policy/grad_norm", "kl/ref", "kl/old", "entropy/mean", "policy/learning_rate")


def detect(run: Run, around: int = 10) -> Answer:
    """Present when a watched curve changes level across a restart by more than its noise and a third of its level."""
    restarts = [e.step for e in run.events if e.kind == "resume" and e.step is not None]
    if not restarts:
        return absent("No restart was seen.")
    for at in restarts:
        for name in (n for n in WATCHED if n in run.curves):
            step, value = run.curves[name].finite()
            near = (step >= at - around) & (step < at + around)
            try:
                jump = level_change(step[near], value[near], at)
            except TooFewPoints:
                continue
            if (jump.low > 0 or jump.high < 0) and abs(jump.delta) > max(abs(jump.before), abs(jump.after)) / 3:
                text = f"{name} goes from {number(jump.before)} to {number(jump.after)} across the restart at step {at:.0f}."
                measures = {"before": jump.before, "after": jump.after}
                where = (Evidence(name, at - around, at + around),)
                return present(text, Onset(at, at - 1, at + 1), measures, where)
    text = f"{len(restarts)} restarts, and the curves go on at their level."
    return absent(text, measures={"restarts": float(len(restarts))})
