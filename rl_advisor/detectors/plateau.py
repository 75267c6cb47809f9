"""The outcome rose and has stopped rising.

Looks for: a gain earlier, and over the last third a slope whose whole interval lies inside the margin that matters.
Means: what this set-up can learn it has probably learned. Whether to stop depends on whether the level is good enough.
Not to be confused with: a slope that merely is not significant (undecidable); a plateau made by a learning rate that has
    decayed to nothing (see schedule_plateau).
Next test: evaluate the last three checkpoints on many cases; equal within noise means that more steps of this set-up bring nothing.
Source: two one-sided tests (equivalence) on an autocorrelation-aware slope.
"""

from rl_advisor.curves import outcomes, segments
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present, unclear
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.SYMPTOM
KINDS = ("any",)
SPEAKS = {"plateaued": 0.7}
NEEDS: tuple[str, ...] = ("eval/score/*|reward/mean|reward/success|reward/used|reward/component/*",)


def detect(run: Run) -> Answer:
    """Present when the last third of the outcome is flat by equivalence, after a gain or at the ceiling."""
    curve = outcomes.outcome(run)
    assert curve is not None  # diagnosis asked for one of NEEDS
    s = outcomes.course_of(curve)
    change = s.recent.slope * s.recent.span
    measures = {"recent_change": change, "recent_low": s.recent.low * s.recent.span, "recent_high": s.recent.high * s.recent.span}
    measures["last"] = s.last
    where = (Evidence(s.name, s.recent_first, float(s.step[-1])),)
    way = s.direction()
    since = f"{s.name} since step {s.recent_first:.0f}"
    if (way == "flat" and (s.rose or s.at_ceiling)) or (way == "undecidable" and s.stopped()):
        text = f"{s.name} is flat at about {number(s.last)} since step {s.recent_first:.0f} (change {number(change)})."
        began = segments.began(curve)
        return present(text, began if s.rose else None, measures, where)
    if way == "undecidable":
        low, high = number(measures["recent_low"]), number(measures["recent_high"])
        text = f"{since}: change {number(change)} (interval {low} to {high}), inconclusive."
        return unclear(text, measures=measures, evidence=where)
    return absent(f"{since} is {way} (change {number(change)}).", measures=measures, evidence=where)
