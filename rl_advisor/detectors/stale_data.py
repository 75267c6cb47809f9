"""The data an update uses was sampled by a policy that is too old.

Looks for: staleness in policy versions that grows, or that stands high in a run that never learned.
Means: rollout workers and learner are out of step. Ratios leave the trust region, metrics see-saw.
Not to be confused with: several passes over each batch, which is a setting and no event (see update_too_large); an age that was there
    while the run learned.
Next test: set the allowed staleness to zero, or one pass per batch: does the same run become stable?
Source: the field guide on data freshness; AReaL's advice to fall back to synchronous training.
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.DATA_FRESHNESS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("rollout/staleness|rollout/staleness_max",)
CHANGE: tuple[tuple[str, str], ...] = (("synchronous", ""), ("updates_per_batch", "1"))


def detect(run: Run, versions: float = 2.0) -> Answer:
    """Present when samples are over ``versions`` old and surely ageing, or that old while the outcome never rose and fell."""
    curve = run.curves.get("rollout/staleness") or run.curves["rollout/staleness_max"]
    step, value = curve.finite()
    if value.size < 3:
        raise TooFewPoints(f"{value.size} points of the staleness")
    begin, now = float(np.median(segments.opening(curve))), float(np.median(segments.final(curve)))
    measures = {"at_start": begin, "now": now}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])),)
    text = f"Samples are {number(begin)} policy versions old at the start and {number(now)} at the end"
    grown = outcomes.course_or_none(curve)
    s = outcomes.course_or_none(outcomes.outcome(run))
    learns = outcomes.thriving(run) or (s is not None and (s.rose or s.direction() == "rising"))
    turned = s is not None and s.fell and s.direction() != "rising" and not outcomes.thriving(run)
    if now > versions and (turned or not learns) and now > 1.5 * max(begin, 0.5) and (grown is None or grown.gain.low > 0):
        return present(f"{text}.", segments.began(curve), measures, where)
    if now > versions and s is not None and s.fell and not learns:
        return present(f"{text}, and the outcome fell.", segments.around(step, float(step[0])), measures, where)
    text += ", as they were while the run learned" if now > versions and learns else ""
    return absent(f"{text}.", measures=measures, evidence=where)
