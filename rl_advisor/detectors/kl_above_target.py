"""Updates move the policy by several times the KL that was set as their target.

Looks for: KL per update whose middle stands above three times the configured target.
Means: the target stops nothing: it is checked too seldom (once a pass over a large batch), or the step is so large that the first
    mini-batches overshoot it. Rate, passes or batch do not fit the target.
Not to be confused with: single updates above it; a target of an adaptive penalty that is still finding its weight.
Next test: a third of the learning rate, or one pass over each batch: does KL come down to its target?
Source: Stable-Baselines3 stops a pass at one and a half times target_kl; Spinning Up's early stopping.
"""

import numpy as np

from rl_advisor.curves import segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, not_logged, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
ROLE = Role.LIMIT
NEEDS: tuple[str, ...] = ("kl/old",)
CHANGE: tuple[tuple[str, str], ...] = (("learning_rate", "a third of"), ("updates_per_batch", "1"))
KEYS = {"target_kl", "kl_target", "desired_kl"}


def detect(run: Run, times: float = 3.0) -> Answer:
    """Present when the middle KL per update is over ``times`` its target."""
    target = target_of(run)
    if target is None:
        return not_logged("No target of the KL per update is configured.")
    curve = run.curves["kl/old"]
    step, value = curve.finite()
    if value.size < 5:
        raise TooFewPoints(f"{value.size} points of KL per update, 5 needed")
    usual = float(np.median(value))
    measures = {"target": target, "usual": usual, "share_above": float((value > 1.5 * target).mean())}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])),)
    text = f"KL per update has a median of {number(usual)}, the target is {number(target)}"
    if usual > times * target:
        return present(f"{text}: {number(usual / target)} times as high.", segments.around(step, float(step[0])), measures, where)
    return absent(f"{text}.", measures=measures, evidence=where)


def target_of(run: Run) -> float | None:
    """The configured target of KL per update; None without one."""
    told = (v for k, v in run.config.items() if str(k).rpartition(".")[2] in KEYS)
    return next((float(v) for v in told if isinstance(v, int | float) and not isinstance(v, bool) and v > 0), None)
