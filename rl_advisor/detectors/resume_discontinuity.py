"""The run was resumed and did not go on where it stopped.

Looks for: a restart in the log (steps going back) and a step in the outcome, the gradient norm or KL at the same place.
Means: optimiser state, random state, learning-rate schedule or data position was not restored.
Not to be confused with: a restart after which every curve goes on at its level.
Next test: compare the configuration and the optimiser state of both parts.
Source: resume discontinuities; the practitioner's guide on abrupt changes.
"""

import numpy as np

from rl_advisor.curves import segments
from rl_advisor.features import TooFewPoints
from rl_advisor.features.trend import Change, level_change
from rl_advisor.finding import Answer, Evidence, Role, absent, present, unclear
from rl_advisor.output.wording import about, counted
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import Link

LINK = Link.NUMERICS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("events",)
WATCHED = ("reward/mean", "policy/grad_norm", "kl/ref", "kl/old", "entropy/mean", "policy/learning_rate")


def detect(run: Run, around: int = 10) -> Answer:
    """Present when a watched curve steps across a restart by more than its noise and a third of its level, within two rows."""
    restarts = [e.step for e in run.events if e.kind == "resume" and e.step is not None]
    if not restarts:
        return absent("No restart was seen.")
    looked = 0
    for at in restarts:
        for curve in (run.curves[n] for n in WATCHED if n in run.curves):
            jump = across(curve, at, around)
            looked += jump is not None
            if jump is not None and stepped(curve, at, jump):
                text = f"{curve.name} goes {about(jump.before, jump.after)} across the restart at step {at:.0f}."
                onset = segments.around(curve.finite()[0], at)
                where = (Evidence(curve.name, onset.low, onset.high),)
                return present(text, onset, {"before": jump.before, "after": jump.after}, where)
    measures = {"restarts": float(len(restarts))}
    if not looked:
        return unclear(f"{counted(len(restarts), 'restart')}, with too few points around to compare both sides.", measures=measures)
    return absent(f"{counted(len(restarts), 'restart')}; the curves continue at their level.", measures=measures)


def across(curve: Curve, at: float, rows: int) -> Change | None:
    """The level of so many rows before a step against as many from it on; None where there are too few."""
    step, value = curve.finite()
    place = int(np.searchsorted(step, at))
    near = slice(max(0, place - rows), place + rows)
    try:
        return level_change(step[near], value[near], at)
    except TooFewPoints:
        return None


def stepped(curve: Curve, at: float, jump: Change) -> bool:
    """Whether a change of level is surely one, large, and made at the step itself instead of on the way past it."""
    step, value = curve.finite()
    place = int(np.searchsorted(step, at))
    there = float(np.median(value[place : place + 2]) - np.median(value[max(0, place - 2) : place]))
    sure = (jump.low > 0 or jump.high < 0) and abs(jump.delta) > max(abs(jump.before), abs(jump.after)) / 3
    return bool(sure and there * jump.delta > 0 and abs(there) > 0.5 * abs(jump.delta))
