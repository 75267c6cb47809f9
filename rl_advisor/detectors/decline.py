"""The outcome passed its best and is now lower.

Looks for: a smoothed peak, and after it a decline that is larger than the margin that matters and than autocorrelated noise,
    but leaves a good part of the height (more is a collapse).
Means: going on makes the current model worse; the better one is already on disk, if it was saved.
Not to be confused with: one low evaluation at the end; a dip that has already turned; harder data.
Next test: evaluate the checkpoint nearest the peak and the last one on the same test, with enough cases to see the difference.
Source: the practitioner's guide (peak and decline); the share of courses behind the noise that end below their best.
"""

from rl_advisor.curves import outcomes, segments
from rl_advisor.curves.logged import logged
from rl_advisor.finding import Answer, Evidence, Role, absent, present, unclear
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.SYMPTOM
KINDS = ("any",)
SPEAKS = {"degrading": 0.7, "collapsed": 0.7}
NEEDS: tuple[str, ...] = ("eval/score/*|reward/mean|reward/success|reward/used|reward/component/*",)


def detect(run: Run) -> Answer:
    """Present when the held-out score, or the reward without one, ends below its smoothed peak by more than noise."""
    curve = outcomes.outcome(run)
    assert curve is not None  # diagnosis asked for one of NEEDS
    s = outcomes.course_of(curve)
    measures = {"best": s.best, "best_step": s.best_step, "last": s.last, "drop": s.best - s.last, "p": 1 - s.falls}
    if s.fell:
        return _present(run, curve, measures)
    told = logged(run, curve)
    measures |= told.measures
    drop = f"{s.name} ends at {told.said(told.last)}; its best was {told.said(told.best)} at step {told.best_step:.0f}"
    if -s.since_best.low <= s.margin or s.best - s.last <= s.margin / 2:
        return absent(f"{drop}: no decline that matters.", measures=measures)
    return unclear(f"{drop}: within noise.", measures=measures)


def _present(run: Run, curve: Curve, measures: dict[str, float]) -> Answer:
    s = outcomes.course_of(curve)
    told = logged(run, curve)
    text = f"{s.name} peaked at {told.said(told.best)} (step {told.best_step:.0f}) and declined to {told.said(told.last)}."
    where = (Evidence(curve.name, s.best_step, float(s.step[-1])),)
    return present(text, segments.decline_began(curve), measures | told.measures, where)
