"""The outcome swings: large falls and recoveries without getting anywhere.

Looks for: at least three turns of the smoothed outcome, each deeper than the noise of the smooth curve and than a fifth of
    its scale.
Means: updates are too large, the signal too noisy or the data see-saw between versions; the average hides it.
Not to be confused with: sampling noise of few evaluation episodes, which is no swing of the policy; the slow waves that a moving
    average makes of noise, on top of a curve that rises over the whole run: the returns of a policy that learns spread more than those
    of a bad one.
Next test: repeat the last stretch with half the learning rate or twice the batch; swings of the policy shrink, noise does not.
Source: zigzag count against the noise of the smooth curve; the field guide on metrics that see-saw.
"""

import numpy as np

from rl_advisor import course, trajectory
from rl_advisor.finding import Evidence, Finding, Outcome, number
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
NEEDS: tuple[str, ...] = ("eval/score/*|reward/mean|reward/success|reward/used|reward/component/*",)
SYMPTOM = True


def detect(run: Run, share: float = 0.2, turns: int = 3) -> Finding:
    """Present when the smoothed outcome turns ``turns`` times by more than ``share`` of its scale."""
    curve = trajectory.outcome(run)
    assert curve is not None  # diagnosis asked for one of NEEDS
    s = trajectory.shape(curve)
    scale = s.margin / trajectory.MATERIAL
    threshold = max(share * scale, 4 * s.noise / np.sqrt(3))
    seen = course.swings(s.smoothed, threshold)
    measures = {
        "turns": float(seen),
        "smallest_swing": threshold,
        "noise": s.noise,
        "deepest_fall": s.deepest_dip,
        "gain": s.last - s.start,
    }
    where = (Evidence(s.name, float(s.step[0]), float(s.step[-1])),)
    if seen >= turns and not s.got_somewhere:
        text = f"{s.name} turned {seen} times by more than {number(threshold)}."
        return Finding("instability", LINK, Outcome.PRESENT, text, course.began(curve), measures, where)
    text = f"{s.name} turned {seen} times by more than {number(threshold)}"
    text += f", on top of a gain of {number(s.last - s.start)}." if seen >= turns else ": no see-saw."
    return Finding("instability", LINK, Outcome.ABSENT, text, measures=measures, evidence=where)
