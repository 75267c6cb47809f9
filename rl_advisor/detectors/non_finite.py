"""Numbers that are no numbers: NaN or infinity in the curves, or a crash that says so.

Looks for: a curve that turns NaN or infinite where it was finite before and stays so or comes back so, skipped updates, and log lines
    about NaN, device-side asserts or overflow.
Means: the numerics broke, first where the first name along the loop says (data, forward pass, loss, gradient): what comes behind it in the
    loop follows from it, and what stays finite beside it is sound. Gradient spikes, extreme log-probabilities, reward outliers or half
    precision usually come before. A loss scaler and some trainers skip such updates, most others put NaN into the weights.
Not to be confused with: a metric that is only measured at times and empty in between; a statistic over nothing (a mean over no
    finished response).
Next test: resume before the onset in full precision with the offending batch: does it come back?
Source: the field guide (there are usually warning signs before NaN).
"""

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from rl_advisor.curves import segments
from rl_advisor.finding import Answer, Evidence, Role, absent, not_logged, present, unclear
from rl_advisor.output.wording import counted, listed
from rl_advisor.run import Run
from rl_advisor.settings.not_finite import LATER, STAGES, turned, unharmed
from rl_advisor.settings.priors.circumstances import circumstances
from rl_advisor.vocabulary import Link

LINK = Link.NUMERICS
ROLE = Role.FAULT
SPEAKS = {"collapsed": 8.0}
MARKS = ("at_odds",)
NEEDS: tuple[str, ...] = ()
CORE = STAGES["core"]
LANGUAGE = ("grpo", "ppo_language", "language")
"""Methods whose episodes always end: there a reward that is NaN was computed so."""
GROWN = 3.0
"""Growth of the gradients' middle level, over the tenth before a NaN, that warns of it."""
SAYS = re.compile(
    r"device-side assert|probability tensor"
    r"|(?:loss|grad|logit|log_?prob|reward|advantage|param|weight|tensor|ratio|value|action|observation).{0,80}\b(?:nan|inf)\b"
    r"|\b(?:nan|inf)\b.{0,80}(?:loss|grad|logit|log_?prob|reward|advantage|param|weight|tensor|ratio|value|action|observation)",
    re.IGNORECASE,
)
"""Lines that say it of something that is computed: a NaN in a side metric, or another failed assertion, breaks no numbers."""
NONE = re.compile(r"\b(?:nan|inf|overflow)\w*(?: \w+)?\s*[:=]\s*0\b|metric \S*(?:attention|val|eval|test)\S* is nan", re.IGNORECASE)
"""Lines that count none, or speak of a side metric."""


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
    logging = {name: at for name, at in turns.items() if unharmed(run, name, at) and not (name in STAGES["computed"] and warned(run, at))}
    turns = {name: at for name, at in turns.items() if name not in logging}
    if turns and turns.keys() <= {*STAGES["outcome"]} and circumstances(run).method not in LANGUAGE:
        return unclear(
            f"{listed([*turns])} is not finite from step {min(turns.values()):.0f} on and nothing else: as it seems no episode ended since."
        )
    said = [e for e in run.events if e.kind in {"non_finite", "error"} and SAYS.search(e.text) and not NONE.search(e.text)]
    if turns:
        name, at, text = _first(run, turns)
        where = (Evidence(name, at, float(run.curves[name].step[-1])),)
        onset = replace(segments.around(run.curves[name].step, at), high=at)
        return present(f"{text}.", onset, {"curves": float(len(turns))}, where)
    if said:
        at = next((e.step for e in said if e.step is not None), run.last_step)
        text = f"The log reports NaN or Inf in {counted(len(said), 'line')}, first after step {at:.0f}."
        return present(text, segments.around(segments.logged(run), at), {"lines": float(len(said))}, (Evidence("events", at, at),))
    if not any(n in run.curves for n in CORE) and not run.events:
        return not_logged("No loss, gradient norm or reward is logged.")
    if logging:
        name, at, text = _first(run, logging)
        skipped = "the trainer skipped those updates, or what is printed is a mean of nothing"
        return unclear(f"{text}, and the outcome goes on as before: {skipped}.", None, {"curves": float(len(logging))})
    return absent("Every core curve is finite, and the log reports no NaN.")


def _first(run: Run, turns: Mapping[str, float]) -> tuple[str, float, str]:
    """What turned first, along the loop of an update where several did at one step; that step; and the sentence for it."""
    order = sorted(turns, key=lambda name: turns[name])
    sound = [name for name in CORE if name in run.curves and np.isfinite(run.curves[name].value[-1:]).any()]
    behind = f", the first along the loop; {listed(order[1:])} behind it" if order[1:] else ""
    beside = f"; finite beside it: {listed(sound)}" if sound else ""
    return order[0], turns[order[0]], f"{order[0]} is not finite from step {turns[order[0]]:.0f} on{behind}{beside}"
