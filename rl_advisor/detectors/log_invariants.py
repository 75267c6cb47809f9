"""Something in the log contradicts what must hold by construction.

Looks for: shares outside 0 to 1, and a mean ratio other than one with one update per batch.
Means: a wiring or masking error, or another meaning than the name says.
Not to be confused with: percentages under the name of a share; a ratio that is averaged over several passes of one batch; entries that
    contradict one another (see contradictory_metrics).
Next test: the log-probabilities of one batch by trainer and reference, token by token, before any update.
Source: invariants of training metrics; AReaL's rule that the ratio is one with a single mini-batch.
"""

import numpy as np

from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import METRICS, Link

LINK = Link.NUMERICS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("kl/ref|ratio/mean|response/truncated|ratio/clip_fraction|reward/flat_groups",)


def broken(run: Run) -> list[tuple[str, str, float]]:
    """Metric, what is wrong with it, and the first step at which it is."""
    out = []
    for name, curve in run.curves.items():
        step, value = curve.finite()
        known = METRICS.get(name)
        if known is None or not value.size:
            continue
        if known.unit == "share" and name != "value/explained_variance":
            outside = np.flatnonzero((value < -1e-6) | (value > 1 + 1e-6))
            if outside.size:
                out.append((name, f"is a share and reads {number(float(value[outside[0]]))}", float(step[outside[0]])))
    return out + _ratio(run)


def _ratio(run: Run) -> list[tuple[str, str, float]]:
    curve = run.curves.get("ratio/mean")
    once = run.settings.get("updates_per_batch") == 1 and run.settings.get("minibatches") == 1
    if curve is None or not once:
        return []
    step, value = curve.finite()
    off = np.flatnonzero(np.abs(value - 1) > 1e-3)
    return (
        [("ratio/mean", f"must be 1 with one update per batch and reads {number(float(value[off[0]]))}", float(step[off[0]]))]
        if off.size
        else []
    )


def detect(run: Run) -> Answer:
    """Present when an invariant of the log is violated."""
    wrong = broken(run)
    if not wrong:
        return absent("Everything that must hold by construction does, as far as it is logged.")
    name, what, at = min(wrong, key=lambda w: w[2])
    where = (Evidence(name, at, at),)
    return present(
        f"{name} {what} at step {at:.0f}.",
        Onset(at, at, at),
        {"violations": float(len(wrong))},
        where,
    )
