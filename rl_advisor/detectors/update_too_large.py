"""Single updates move the policy too far.

Looks for: KL to the sampling policy or the clip fraction far above its own usual level for a stretch, or KL to the reference jumping
    to a new level within a few steps, followed by a fall of the outcome.
Means: the learning rate, the number of passes over a batch, or the scale of the advantage is too large; clipping brakes, it does not
    hold.
Not to be confused with: one outlying batch from which everything recovers; a clip range so wide that the clip fraction is blind.
Next test: resume from before the jump with a third of the learning rate and one pass over each batch.
Source: the field guide's guardrail (KL, clip fraction, entropy); TRPO and PPO.
"""

import numpy as np

from rl_advisor.curves import outcomes
from rl_advisor.features import TooFewPoints
from rl_advisor.features.change import change_points
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
ROLE = Role.LIMIT
NEEDS: tuple[str, ...] = ("kl/old|ratio/clip_fraction|kl/ref",)
CHANGE: tuple[tuple[str, str], ...] = (("learning_rate", "a third of"), ("updates_per_batch", "1"), ("minibatches", "1"))
PRIOR = {"kl/old": 0.1, "ratio/clip_fraction": 0.3, "kl/ref": 0.5}
"""Levels above which a practitioner looks twice (nats per token, share, nats per token); only ever used with a fall of the outcome."""


def detect(run: Run) -> Answer:
    """Present when a step-size measure leaves its level upwards and the outcome falls with it, or violates the trust region throughout."""
    s = outcomes.course_or_none(outcomes.outcome(run))
    fell = outcomes.any_fell(run)
    seen = [(name, run.curves[name]) for name in PRIOR if name in run.curves and _tells(name, run.curves[name])]
    if not seen:
        raise TooFewPoints("the step-size measures have fewer than 5 points")
    measures: dict[str, float] = {}
    for name, curve in seen:
        size = np.abs(curve.finite()[1])
        level, highest, usual = float(np.quantile(size, 0.9)), float(size.max()), float(np.median(size))
        measures[f"{name} p90"] = level
        onset = jump(curve, PRIOR[name]) if size.size > outcomes.FEWEST else None
        text = f"{name} reached {number(highest)} (p90 {number(level)})"
        measures[f"{name} highest"] = highest
        violated = name != "kl/ref" and usual > 5 * PRIOR[name] and s is not None and s.direction() != "rising"
        # No trust region is left where half of all updates move the policy by half a nat and more: whatever came of it, that is no step.
        measures["out of all bounds"] = max(measures.get("out of all bounds", 0.0), float(name == "kl/old" and usual > 5 * PRIOR[name]))
        violated |= bool(measures["out of all bounds"])
        if violated or (fell and (level > PRIOR[name] or highest > 5 * PRIOR[name] or (onset is not None and level > PRIOR[name] / 5))):
            where = (Evidence(name, onset.step if onset else float(curve.step[0]), float(curve.step[-1])),)
            passes = run.settings.get("updates_per_batch")
            text += f", with {passes} passes over each batch," if isinstance(passes, int | float) and passes > 1 else ""
            text += " and the outcome fell" if fell or not violated else ", far beyond any trust region"
            return present(f"{text}.", first_above(curve, PRIOR[name]) or onset, measures, where)
    text = ", ".join(f"{name} {number(value)}" for name, value in measures.items())
    return absent(f"No update was too large just before a fall ({text}).", measures=measures)


def _tells(name: str, curve: Curve) -> bool:
    """Whether there are rows enough; of updates that move the policy out of all bounds a few are."""
    size = np.abs(curve.finite()[1])
    return size.size >= outcomes.FEWEST or (name == "kl/old" and size.size > 1 and float(np.median(size)) > 5 * PRIOR[name])


def jump(curve: Curve, prior: float, times: float = 3.0) -> Onset | None:
    """The first lasting rise of the level by ``times``, other than the way from zero to a small level at the beginning."""
    step, value = curve.finite()
    size = np.maximum(np.abs(value), prior / 10)
    for point in change_points(step, np.log(size + 1e-4 + 0.01 * float(np.median(size)))):
        if point.after - point.before > np.log(times):
            near = step[np.searchsorted(step, point.step) - 2 :][:5]
            return Onset(point.step, float(near[0]) if near.size else point.step, float(near[-1]) if near.size else point.step)
    return None


def first_above(curve: Curve, level: float) -> Onset | None:
    """The first step at which the running median of three passes ``level``."""
    step, value = curve.finite()
    size = np.abs(value)
    if size.size < 3:
        median = np.full(size.size, np.median(size)) if size.size else size
    else:  # at both ends of two
        inner = np.median(np.lib.stride_tricks.sliding_window_view(size, 3), axis=1)
        median = np.concatenate([[size[:2].mean()], inner, [size[-2:].mean()]])
    above = np.flatnonzero(median > level)
    return (
        Onset(float(step[above[0]]), float(step[max(0, above[0] - 1)]), float(step[min(step.size - 1, above[0] + 1)]))
        if above.size
        else None
    )
