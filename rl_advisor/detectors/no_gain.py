"""Nothing has been learned since the start.

Looks for: the outcome's best is not above its start by more than noise and by an amount that matters, and it is not at its
    ceiling already.
Means: some link before the outcome does not work: no signal, no variance in it, no movement of the policy, or a task out of
    reach. Which one is told by the other curves.
Not to be confused with: a run that starts at the top; a run too short or too noisy to show a gain of the size to be expected.
Next test: train on a few easy cases of the task, or on the test itself: the reward must rise there.
Source: AReaL's guide on rewards that do not rise; equivalence instead of a missing significance.
"""

from rl_advisor.curves import outcomes
from rl_advisor.curves.logged import logged
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present, unclear
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.SYMPTOM
KINDS = ("any",)
SPEAKS = {"not_learning": 0.7}
NEEDS: tuple[str, ...] = ("eval/score/*|reward/mean|reward/success|reward/used|reward/component/*",)


def detect(run: Run) -> Answer:
    """Present when neither the held-out score nor the reward has gained anything that matters."""
    curves = [c for c in (outcomes.held_out(run), outcomes.training(run)) if c is not None]
    shapes = [s for s in map(outcomes.course_or_none, curves) if s is not None]
    if not shapes:
        outcomes.course_of(curves[0])  # raises with the number of points
    # The one that rose, where one did: what is said must be what is measured.
    s = next((x for x in shapes if x.rose), shapes[0])
    measures = {"start": s.start, "best": s.best, "last": s.last, "gain": s.best - s.start, "matters": s.margin}
    where, told = (Evidence(s.name, float(s.step[0]), float(s.step[-1])),), logged(run, next(c for c in curves if c.name == s.name))
    if s.rose:
        text = f"{s.name} rose from {told.said(told.first)} to {told.said(told.best)} at its best."
        return absent(text, measures=measures | told.measures, evidence=where)
    if s.at_ceiling or s.touches_ceiling:
        text = f"{s.name} is at its maximum (about {number(s.last)}) from the start, so nothing was left to gain."
        return absent(text, measures=measures, evidence=where)
    if max(s.gain.high, s.best - s.start) > 5 * s.margin and s.gain.high > 0:
        text = f"{s.name} went {told.went}; a gain of up to {number(s.gain.high)} cannot be excluded."
        return unclear(text, measures={**measures, **told.measures, "gain_high": s.gain.high}, evidence=where)
    return present(f"{s.name} went {told.went}: no gain.", measures=measures | told.measures, evidence=where)
