"""Numbers that are no numbers: NaN or infinity in the curves, or a crash that says so.

Looks for: a curve that turns NaN or infinite where it was finite before and stays so or comes back so, skipped updates, and log lines
    about NaN, device-side asserts or overflow.
Means: the numerics broke. Gradient spikes, extreme log-probabilities, reward outliers or half precision usually come before.
Not to be confused with: a metric that is only measured at times and empty in between; a statistic over nothing (a mean over no
    finished response).
Next test: resume before the onset in full precision with the offending batch: does it come back?
Source: the field guide (there are usually warning signs before NaN).
"""

import numpy as np

from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, present
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import Link

LINK = Link.NUMERICS
ROLE = Role.FAULT
SPEAKS = {"collapsed": 6.0}
NEEDS: tuple[str, ...] = ("policy/grad_norm|policy/loss|policy/total_loss|reward/mean|value/loss|entropy/mean|kl/ref|events",)
BRINGS: tuple[str, ...] = ("truncation", "zero_variance_groups", "loss_discontinuity")
CORE = (
    "policy/grad_norm",
    "policy/total_loss",
    "policy/loss",
    "value/loss",
    "kl/ref",
    "kl/old",
    "entropy/mean",
    "reward/mean",
    "numerics/update_ok",
)


def turned(curve: Curve) -> float | None:
    """The step from which a curve, finite before, is NaN or infinite to its end, or None; gaps between finite points do not count."""
    bad = ~np.isfinite(curve.value)
    if not bad.any() or bad.all() or not bad[-1]:
        return None
    last_good = int(np.flatnonzero(~bad)[-1])
    usual = float(np.mean(bad[: last_good + 1]))
    run_length = curve.value.size - last_good - 1
    return float(curve.step[last_good + 1]) if usual < 0.3 and run_length >= 2 else None


def detect(run: Run) -> Answer:
    """Present when a core curve turns non-finite to the end, or the log says so."""
    turns = {name: at for name in CORE if name in run.curves and (at := turned(run.curves[name])) is not None}
    said = [e for e in run.events if e.kind == "non_finite" or (e.kind == "error" and "assert" in e.text.lower())]
    if turns:
        name, at = min(turns.items(), key=lambda item: item[1])
        text = f"{name} is not finite from step {at:.0f} on ({len(turns)} curves in all)."
        where = (Evidence(name, at, float(run.curves[name].step[-1])),)
        return present(text, Onset(at, at - 1, at), {"curves": float(len(turns))}, where)
    if said:
        at = next((e.step for e in said if e.step is not None), run.last_step)
        text = f"The log reports {said[0].kind.replace('_', ' ')} in {len(said)} lines, first after step {at:.0f}."
        where = (Evidence("events", at, at),)
        return present(text, Onset(at, max(0.0, at - 5), at), {"lines": float(len(said))}, where)
    return absent("Every core curve is finite to its end and the log reports no NaN.")
