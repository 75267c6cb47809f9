"""The outcome has lost most of what it had.

Looks for: the held-out score, or the reward where none is logged, ends far below its own smoothed best, beyond what noise of
    the same colour would do, and with little left above the floor.
Means: the run is broken, and was better before. It is the last thing to move: what moved before it is the cause.
Not to be confused with: a single bad evaluation at the end; a dip that recovers; a reward whose data or scale changed while
    the held-out score stands (see reward_jump and prompt_shift).
Next test: load the checkpoint before the onset, evaluate it and the last one on many cases.
Source: the share of courses behind the noise that end below their best; the practitioner's guide on peaks and declines.
"""

from rl_advisor.curves import outcomes, segments
from rl_advisor.curves.logged import logged
from rl_advisor.finding import Answer, Evidence, Role, absent, present
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.SYMPTOM
KINDS = ("any",)
SPEAKS = {"collapsed": 2.0, "degrading": 1.0}
NEEDS: tuple[str, ...] = ("eval/score/*|reward/mean|reward/success|reward/used|reward/component/*",)


def detect(run: Run, most_left: float = 0.4) -> Answer:
    """Present when the held-out score or the training reward keeps less than ``most_left`` of its best height."""
    able = [c for c in (outcomes.held_out(run), outcomes.training(run)) if c is not None]
    curves = [c for c in able if outcomes.course_or_none(c) is not None]
    if not curves:
        outcomes.course_of(able[0])  # raises with the number of points
    for curve in curves:
        if (found := _of(run, curve, most_left)) is not None:
            return found
    s, told = outcomes.course_of(curves[0]), logged(run, curves[0])
    measures = {"best": s.best, "last": s.last, "lost_share": s.lost} | told.measures
    text = f"{s.name} ends at {told.said(told.last)}, best {told.said(told.best)} at step {told.best_step:.0f}: no collapse."
    return absent(text, measures=measures)


def _of(run: Run, curve: Curve, most_left: float) -> Answer | None:
    s = outcomes.course_of(curve)
    if not s.fell or s.lost < 1 - most_left:
        return None
    onset = segments.decline_began(curve)
    told = logged(run, curve)
    text = f"{s.name} fell from {told.said(told.best)} (step {told.best_step:.0f}) to {told.said(told.last)} and stayed down"
    text += f"; the fall began near step {onset.step:.0f}." if onset else "."
    measures = {"best": s.best, "best_step": s.best_step, "last": s.last, "lost_share": s.lost, "p": 1 - s.falls} | told.measures
    return present(text, onset, measures, (Evidence(curve.name, s.best_step, float(s.step[-1])),))
