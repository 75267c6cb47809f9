"""Numbers that are no numbers: NaN or infinity in the curves, or a crash that says so.

Looks for: a curve that turns NaN or infinite where it was finite before and stays so or comes back so, skipped updates, and log lines
    about NaN, device-side asserts or overflow.
Means: the numerics broke. Gradient spikes, extreme log-probabilities, reward outliers or half precision usually come before.
Not to be confused with: a metric that is only measured at times and empty in between; a statistic over nothing (a mean over no
    finished response).
Next test: resume before the onset in full precision with the offending batch: does it come back?
Source: the field guide (there are usually warning signs before NaN).
"""

import re
from dataclasses import replace

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.finding import Answer, Evidence, Role, absent, not_logged, present, unclear
from rl_advisor.output.wording import counted
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import Link

LINK = Link.NUMERICS
ROLE = Role.FAULT
SPEAKS = {"collapsed": 8.0}
NEEDS: tuple[str, ...] = ()
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
LATER = 3
"""Points of the outcome that show that it went on."""
GROWN = 3.0
"""Growth of the gradients' middle level, over the tenth before a NaN, that warns of it."""
COMPUTED = ("policy/grad_norm", "policy/total_loss", "policy/loss", "value/loss", "entropy/mean")
"""What every update computes: never empty for want of a reference model, of a finished episode or of an evaluation."""
SAYS = re.compile(
    r"device-side assert|probability tensor"
    r"|(?:loss|grad|logit|log_?prob|reward|advantage|param|weight|tensor|ratio|value|action|observation).{0,80}\b(?:nan|inf)\b"
    r"|\b(?:nan|inf)\b.{0,80}(?:loss|grad|logit|log_?prob|reward|advantage|param|weight|tensor|ratio|value|action|observation)",
    re.IGNORECASE,
)
"""Lines that say it of something that is computed: a NaN in a side metric, or another failed assertion, breaks no numbers."""
NONE = re.compile(r"\b(?:nan|inf|overflow)\w*(?: \w+)?\s*[:=]\s*0\b|metric \S*(?:attention|val|eval|test)\S* is nan", re.IGNORECASE)
"""Lines that count none, or speak of a side metric."""


def turned(curve: Curve) -> float | None:
    """The step from which a curve is NaN or infinite to its end, or None; gaps between finite points do not count.

    One bad row at the end is enough where no earlier row was bad, and so is a log of nothing else: a crash leaves no second one.
    """
    bad = ~np.isfinite(curve.value)
    if not bad.size or not bad[-1]:
        return None
    if bad.all():
        return float(curve.step[0]) if curve.name in COMPUTED else None
    last_good = int(np.flatnonzero(~bad)[-1])
    usual = float(np.mean(bad[: last_good + 1]))
    enough = usual == 0 or (usual < 0.3 and curve.value.size - last_good > 2)
    return float(curve.step[last_good + 1]) if enough else None


def unharmed(run: Run, name: str, at: float) -> bool:
    """Whether the outcome went on after a metric was no number: weights that are none act at random or not at all.

    Then what is not finite is a fact of logging, or of updates that the trainer skipped.
    """
    for outcome in (outcomes.held_out(run), outcomes.training(run)):
        if outcome is None or outcome.name == name:
            continue
        step, x = outcome.finite()
        before, after = x[step <= at], x[step > at]
        if after.size >= LATER and np.ptp(after) > 0 and (before.size < LATER or np.median(after[-LATER:]) >= np.quantile(before, 0.25)):
            return True
    return False


def warned(run: Run, at: float) -> bool:
    """Whether gradients or a loss had left their level before a step: then what is not finite after it is no gap of the log."""
    for name in ("policy/grad_norm", "value/loss", "policy/total_loss"):
        step, x = run.curves[name].finite() if name in run.curves else (np.empty(0), np.empty(0))
        x = np.abs(x[step < at])
        late = max(LATER, x.size // 10)
        if x.size >= 4 * LATER and np.median(x[-late:]) > GROWN * np.median(x[:-late]):
            return True
    return False


def detect(run: Run) -> Answer:
    """Present when a core curve turns non-finite to the end, or the log says so of what is computed."""
    turns = {name: at for name in CORE if name in run.curves and (at := turned(run.curves[name])) is not None}
    logging = {name: at for name, at in turns.items() if unharmed(run, name, at) and not (name in COMPUTED and warned(run, at))}
    turns = {name: at for name, at in turns.items() if name not in logging}
    said = [e for e in run.events if e.kind in {"non_finite", "error"} and SAYS.search(e.text) and not NONE.search(e.text)]
    if turns:
        name, at = min(turns.items(), key=lambda item: item[1])
        text = f"{name} is not finite from step {at:.0f} on ({counted(len(turns), 'curve')} in all)."
        where = (Evidence(name, at, float(run.curves[name].step[-1])),)
        onset = replace(segments.around(run.curves[name].step, at), high=at)
        return present(text, onset, {"curves": float(len(turns))}, where)
    if said:
        at = next((e.step for e in said if e.step is not None), run.last_step)
        text = f"The log reports NaN or Inf in {counted(len(said), 'line')}, first after step {at:.0f}."
        return present(text, segments.around(segments.logged(run), at), {"lines": float(len(said))}, (Evidence("events", at, at),))
    if not any(n in run.curves for n in CORE) and not run.events:
        return not_logged("No loss, gradient norm or reward is logged.")
    if logging:
        name, at = min(logging.items(), key=lambda item: item[1])
        return unclear(
            f"{name} is not finite from step {at:.0f} on, and the outcome goes on as before: it was not logged, or updates were skipped."
        )
    return absent("Every core curve is finite, and the log reports no NaN.")
