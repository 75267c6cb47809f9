"""The outcome's noise is larger than any trend in it.

Looks for: a reward whose scatter exceeds the range of its smooth part, with no trend that could be told.
Means: the run says too little about itself: too few samples or evaluations per point. It is not the same as no learning.
Not to be confused with: a curve that is flat by equivalence, which does say something; a curve that rose or fell at one place, whose
    break is no noise.
Next test: double the batch, or evaluate on four times the cases; the smallest change that could have been found is given.
Source: minimum detectable change under autocorrelated noise; AReaL's guide on high variance of the task reward.
"""

from rl_advisor.curves import outcomes
from rl_advisor.features.noise import more_points_needed, signal_to_noise
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.TRAINING_SIGNAL
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("reward/mean|reward/used|reward/success|eval/score/*",)
CHANGE: tuple[tuple[str, str], ...] = (("prompts_per_step", "twice"), ("group_size", "twice"))

SWINGS = 0.1
"""Noise of one point of a share from which the variance is high in itself."""


def detect(run: Run) -> Answer:
    """Present when noise exceeds signal and the direction over the whole run cannot be told."""
    curve = outcomes.outcome(run)
    assert curve is not None  # diagnosis asked for one
    s = outcomes.course_of(curve)
    found = signal_to_noise(s.step, s.value)
    measures = {"signal": found.signal, "noise": found.noise, "ratio": found.ratio, "detectable": found.detectable}
    where = (Evidence(s.name, float(s.step[0]), float(s.step[-1])),)
    wide = s.ceiling == 1.0 and found.noise > SWINGS and s.direction_overall() == "undecidable"
    if wide and s.gain.low <= 0 <= s.gain.high:
        text = f"{s.name} swings by {number(found.noise)} from point to point and shows no trend: the variance is high. A larger batch "
        text += "is often enough to see one."
        return present(text, measures=measures, evidence=where)
    if s.rose or s.fell or s.gain.low > 0 or s.gain.high < 0:
        text = f"{s.name} moved by more than its noise (sd {number(found.noise)})."
        return absent(text, measures=measures, evidence=where)
    text = f"{s.name} has a noise of {number(found.noise)} a point, so changes under {number(found.detectable)} are not resolvable"
    # A change of a hundredth of what a point swings by is none that anybody looks for.
    sought = s.scale / 10 > found.noise / 100
    if sought and found.signal < found.detectable and s.direction_overall() == "undecidable":
        # A tenth of the scale is a change that anybody would want to see.
        wanted = s.scale / 10
        more = more_points_needed(s.overall, wanted)
        measures |= {"wanted": wanted, "more_points": float(more)}
        text += f"; resolving {number(wanted)} takes about {more} more points, or more episodes a point"
        return present(f"{text}.", measures=measures, evidence=where)
    return absent(f"{text}.", measures=measures, evidence=where)
