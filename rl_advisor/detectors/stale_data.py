"""The data an update uses was sampled by a policy that is too old.

Looks for: staleness in policy versions that grows or stands high, samples thrown away as too old, or many updates on one batch
    together with a clip fraction above zero.
Means: rollout workers and learner are out of step, or a batch is used too often. Ratios leave the trust region, metrics see-saw.
Not to be confused with: a large update on fresh data (clip fraction without reuse or staleness).
Next test: set the allowed staleness to zero, or one pass per batch: does the same run become stable?
Source: the field guide on data freshness; AReaL's advice to fall back to synchronous training.
"""

import numpy as np

from rl_advisor import course, trajectory
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.DATA_FRESHNESS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("rollout/staleness|rollout/staleness_max|ratio/clip_fraction",)
BRINGS: tuple[str, ...] = (
    "update_too_large",
    "destructive_drift",
    "drift_without_gain",
    "entropy_explosion",
    "truncation",
    "zero_variance_groups",
    "gradient_spikes",
    "loss_discontinuity",
    "importance_weight",
    "reward_outliers",
    "sample_repetition",
    "template_collapse",
)
CHANGE: tuple[tuple[str, str], ...] = (("synchronous", ""), ("updates_per_batch", "1"))


def reuse(run: Run) -> float:
    """Gradient updates per sampled batch, from the settings; 1 when unknown."""
    return float(run.settings.get("updates_per_batch") or 1) * float(run.settings.get("minibatches") or 1)


def detect(run: Run, many: float = 4.0, versions: float = 2.0) -> Answer:
    """Present when data is over ``versions`` old and ageing, or used ``many`` times and clipped, and the outcome fell."""
    fell = trajectory.any_fell(run)
    curve = run.curves.get("rollout/staleness") or run.curves.get("rollout/staleness_max")
    if curve is not None and curve.finite()[1].size >= 3:
        begin, now = float(np.median(course.opening(curve))), float(np.median(course.final(curve)))
        measures = {"at_start": begin, "now": now}
        where = (Evidence(curve.name, float(curve.step[0]), float(curve.step[-1])),)
        text = f"Samples are {number(begin)} versions old at the start and {number(now)} at the end"
        grew = now > versions and now > 1.5 * max(begin, 0.5)
        if grew or (fell and now > versions):
            return present(f"{text}.", course.began(curve), measures, where)
        return absent(f"{text}.", measures=measures, evidence=where)
    return _by_reuse(run, many, fell=fell)


def _by_reuse(run: Run, many: float, *, fell: bool) -> Answer:
    times = reuse(run)
    clip = run.curves.get("ratio/clip_fraction")
    highest = float(np.quantile(clip.finite()[1], 0.9)) if clip is not None and clip.finite()[1].size else float("nan")
    measures = {"updates_per_batch": times, "clip_fraction_90": highest}
    text = f"Each batch is used {number(times)} times; nine tenths of the clip fractions lie below {number(highest)}"
    if times >= many and fell and highest > 0 and clip is not None:
        first = float(clip.step[0])
        where = (Evidence("ratio/clip_fraction", first, float(clip.step[-1])),)
        return present(f"{text}, and the outcome fell.", Onset(first, first, first), measures, where)
    if times <= 1:
        return absent("Each batch is used once, as far as the settings say.", measures=measures)
    return absent(f"{text}.", measures=measures)
