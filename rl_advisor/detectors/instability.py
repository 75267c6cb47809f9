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

from rl_advisor.curves import outcomes, segments
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.output.wording import counted
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.SYMPTOM
KINDS = ("any",)
SPEAKS = {"unstable": 0.7}
NEEDS: tuple[str, ...] = ("eval/score/*|reward/mean|reward/success|reward/used|reward/component/*",)
CHANGE: tuple[tuple[str, str], ...] = (("learning_rate", "half"), ("prompts_per_step", "twice"))


def detect(run: Run, share: float = 0.2, turns: int = 3) -> Answer:
    """Present when the smoothed outcome turns ``turns`` times by more than ``share`` of its scale."""
    curve = outcomes.outcome(run)
    assert curve is not None  # diagnosis asked for one of NEEDS
    s = outcomes.course_of(curve)
    scale = s.scale
    noise = s.noise
    threshold = max(share * scale, 4 * noise / np.sqrt(3))
    seen = segments.swings(s.smoothed, threshold)
    error = _own_error(run, s)
    if error is not None and seen < turns:
        # What the episodes of each evaluation scatter by is known: what single evaluations swing beyond it is the policy's own.
        # The second half must do it alone: what swung while it learned and has settled is no see-saw.
        threshold = max(2 * share * scale, 2 * error)
        late = segments.swings(s.value[s.value.size // 2 :], threshold)
        seen = segments.swings(s.value, threshold) if late >= turns else seen
    measures = {
        "turns": float(seen),
        "smallest_swing": threshold,
        "noise": noise,
        "deepest_fall": s.deepest_dip,
        "gain": s.last - s.start,
    }
    where = (Evidence(s.name, float(s.step[0]), float(s.step[-1])),)
    if seen >= turns and not s.got_somewhere:
        text = f"{s.name} swung back {counted(seen, 'time')} by more than {number(threshold)}."
        return present(text, segments.began(curve), measures, where)
    text = f"{s.name} swung back {counted(seen, 'time')} by more than {number(threshold)}"
    text += f", on top of a gain of {number(s.last - s.start)}." if seen >= turns else "."
    return absent(text, measures=measures, evidence=where)


def _own_error(run: Run, s: outcomes.Course) -> float | None:
    """The spread of the episodes within one evaluation, which is more than the error of their mean; None where it is not logged.

    The largest ones count: returns of a policy between failing and solving a task spread most.
    """
    spread = run.curves.get("eval/other/reward_std")
    if spread is None or not s.name.startswith("eval/"):
        return None
    value = spread.finite()[1]
    return float(np.quantile(value, 0.75)) if value.size >= outcomes.FEWEST and (value > 0).mean() > 0.3 else None
