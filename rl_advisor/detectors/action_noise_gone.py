"""The noise of the actions is gone before anything was learned.

Looks for: the standard deviation of a Gaussian policy below a tenth of its start within the first half of the run, and an outcome that
    has not gained anything by then or since.
Means: the policy became deterministic on chance results of its first episodes, or its actions saturate at their bounds; nothing new is
    tried any more.
Not to be confused with: noise that shrinks while the return rises, which is learning; a state-dependent deviation that is low on average.
Next test: three seeds with ten times the entropy weight; a histogram of the actions against their bounds.
Source: the field guide on premature certainty; studies of what matters in on-policy learning (arXiv 2006.05990).
"""

import numpy as np

from rl_advisor.curves import outcome_shape, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present, unclear
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("policy/std", "reward/mean|reward/used|eval/score/*")
CHANGE: tuple[tuple[str, str], ...] = (("entropy_coef", "ten times"),)


def detect(run: Run, left: float = 0.1) -> Answer:
    """Present when the deviation fell below ``left`` of its start in the first half and the outcome never rose."""
    curve = run.curves["policy/std"]
    step, value = curve.finite()
    if value.size < 8:
        raise TooFewPoints(f"{value.size} points of the policy's deviation, 8 needed")
    begin = float(np.median(segments.opening(curve)))
    half, now = float(np.median(value[value.size // 2 :][:5])), float(np.median(segments.final(curve)))
    outcome = outcome_shape.outcome(run)
    assert outcome is not None  # diagnosis asked for one
    s = outcome_shape.shape(outcome)
    measures = {"at_start": begin, "half_way": half, "now": now, "outcome_gain": s.best - s.start}
    where = (Evidence("policy/std", float(step[0]), float(step[-1])), Evidence(s.name, float(s.step[0]), float(s.step[-1])))
    text = f"The policy's standard deviation went {about(begin, half)} half way and {number(now)} now"
    gone = begin > 0 and half < left * begin and now < left * begin
    if not gone or s.rose or s.at_ceiling:
        return absent(f"{text}.", measures=measures, evidence=where)
    if max(s.gain.high, s.best - s.start) > 5 * s.margin and s.gain.high > 0:
        text += "; noise hides whether anything was gained"
        return unclear(f"{text}.", measures=measures, evidence=where)
    return present(f"{text} without any gain.", segments.began(curve), measures, where)
