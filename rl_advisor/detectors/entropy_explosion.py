"""The policy dissolves into randomness.

Looks for: entropy that grows well beyond its start and beyond its scatter, with the outcome falling or length running to the limit.
Means: updates push probability away from what was sampled without putting it anywhere useful; or temperature, an entropy bonus or
    rare tokens took over. The text becomes gibberish.
Not to be confused with: a longer, more varied reasoning style with a rising score; a raised sampling temperature.
Next test: perplexity of the latest responses under the reference model; then cut the weight of negative advantages.
Source: phases of collapse in tool-using RL (arXiv 2512.04220); the field guide on entropy that stays high.
"""

import numpy as np

from rl_advisor import course, trajectory
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.CONSEQUENCE
NEEDS: tuple[str, ...] = ("entropy/mean",)
CHANGE: tuple[tuple[str, str], ...] = (("entropy_coef", "0"), ("learning_rate", "half"))


def detect(run: Run, times: float = 2.0) -> Answer:
    """Present when entropy ends ``times`` above its start and the outcome fell."""
    curve = run.curves["entropy/mean"]
    step, value = curve.finite()
    if value.size < 6:
        raise TooFewPoints(f"{value.size} points of entropy")
    begin, now = float(np.median(course.opening(curve))), float(np.median(course.final(curve)))
    s = trajectory.shape_or_none(trajectory.outcome(run))
    measures = {"at_start": begin, "now": now}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])),)
    text = f"Entropy went from {number(begin)} to {number(now)}"
    if begin > 0 and now > times * begin and s is not None and s.fell:
        return present(f"{text} as the outcome fell.", course.began(curve), measures, where)
    return absent(f"{text}.", measures=measures, evidence=where)
