"""The policy dissolves into randomness.

Looks for: entropy that grows well beyond its start and beyond its scatter, with the outcome falling or length running to the limit.
Means: updates push probability away from what was sampled without putting it anywhere useful; or temperature, an entropy bonus or
    rare choices took over. What is sampled becomes random.
Not to be confused with: a longer, more varied reasoning style with a rising score; a raised sampling temperature.
Next test: sample the checkpoint before it and the last one side by side; then cut the weight of negative advantages.
Source: phases of collapse in tool-using RL (arXiv 2512.04220); the field guide on entropy that stays high.
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, present, unclear
from rl_advisor.output.wording import about
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.CONSEQUENCE
NEEDS: tuple[str, ...] = ("entropy/mean",)
CHANGE: tuple[tuple[str, str], ...] = (("entropy_coef", "0"), ("learning_rate", "half"))


def detect(run: Run, times: float = 2.0) -> Answer:
    """Present when entropy surely grew, to ``times`` its start, while the outcome fell or answers came to be cut; else unclear."""
    curve = run.curves["entropy/mean"]
    step, value = curve.finite()
    if value.size < 6:
        raise TooFewPoints(f"{value.size} points of entropy")
    begin, now = float(np.median(segments.opening(curve))), float(np.median(segments.final(curve)))
    measures = {"at_start": begin, "now": now}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])),)
    text = f"Entropy went {about(begin, now)}"
    if not (begin > 0 and now > times * begin):
        return absent(f"{text}.", measures=measures, evidence=where)
    if outcomes.course_of(curve).gain.low <= 0:
        return unclear(f"{text}: within its own noise.", measures=measures, evidence=where)
    cut = run.curves.get("response/truncated")
    if outcomes.any_fell(run) or (cut is not None and _filled(cut)):
        text += " as the outcome fell" if outcomes.any_fell(run) else " as answers ran to the length limit"
        return present(f"{text}.", segments.began(curve), measures, where)
    if outcomes.thriving(run):
        return absent(f"{text}, and the outcome rose with it.", measures=measures, evidence=where)
    return unclear(f"{text}; the outcome neither rose nor fell with it.", measures=measures, evidence=where)


def _filled(cut: Curve, most: float = 0.5) -> bool:
    """Whether most answers are cut at the end that were not at the start."""
    value = cut.finite()[1]
    return bool(value.size >= 3 and np.median(segments.final(cut)) >= most > np.median(segments.opening(cut)))
