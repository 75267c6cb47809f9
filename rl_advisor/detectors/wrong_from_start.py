"""The first step already shows what only a wrong set-up can show.

Looks for: at the first logged step, before anything can have been learned: KL to the reference well above zero, trainer and engine far
    apart, or nearly every response cut at the limit.
Means: a chat template, an end token, a mask of padding or a precision that differs between sampler, trainer and reference. Everything
    after it is measured on the wrong tokens.
Not to be confused with: a first logged step that stands for many updates; a reference that is another model on purpose; a limit that
    is too short for the task, which is one of the signs and no proof of a bug.
Next test: log-probabilities of one batch by sampler, trainer and reference, token by token, end token and padding included.
Source: consistency checks of rollouts before the first update; the invariant that nothing has drifted at step zero.
"""

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present, unclear
from rl_advisor.run import Run
from rl_advisor.vocabulary import METRICS, Link

LINK = Link.ENVIRONMENT_DATA
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("kl/ref|kl/mismatch|mismatch/logprob|response/truncated",)
LEVELS = {"kl/ref": 0.05, "kl/mismatch": 0.05, "mismatch/logprob": 0.1, "response/truncated": 0.9}
FEWEST = 12
"""Points of KL that say what is usual."""
"""Levels at the first step above which a practitioner stops and looks (nats per token; share)."""


UPDATES = 10.0
"""As many usual updates no single first one can have made."""


def _usual_update(run: Run) -> float:
    """By how much KL to the reference differs from one logged step to the next as a rule; 0 where there are too few to say."""
    value = run.curves["kl/ref"].finite()[1]
    return float(np.median(np.abs(np.diff(value)))) if value.size >= FEWEST else 0.0


def detect(run: Run, first_step: float = 2.0) -> Answer:
    """Present when two measures stand above their levels at the first step, or a KL that no single update of this run makes.

    Unclear when one other does, or when the log begins later.
    """
    firsts = {n: (float(c.finite()[0][0]), float(c.finite()[1][0])) for n in LEVELS if (c := run.curves.get(n)) and c.finite()[1].size}
    if not firsts:
        raise TooFewPoints("none of the measures has a value")
    measures = {f"{name} first": value for name, (_, value) in firsts.items()}
    told = ", ".join(f"{name} {number(value)}" for name, (_, value) in firsts.items())
    high = {n: at for n, (at, value) in firsts.items() if value > LEVELS[n]}
    where = tuple(Evidence(n, at, at) for n, (at, _) in firsts.items())
    if not high:
        return absent(f"At the first logged step: {told}.", measures=measures, evidence=where)
    late = run.step_unit == "env steps" or min(high.values()) > first_step
    if "kl/ref" in high and not late and (usual := _usual_update(run)) and firsts["kl/ref"][1] > UPDATES * usual:
        measures["usual change of kl/ref"] = usual
        text = f"At the first logged step: {told}. One update moves this KL by {number(usual)}, so it was there before training."
        return present(text, Onset(high["kl/ref"], high["kl/ref"], high["kl/ref"]), measures, where)
    if len(high) < 2 or late:
        why = "the log begins too late to tell" if late else f"{METRICS[next(iter(high))].meaning.rstrip('.').lower()} alone proves no bug"
        text = f"At the first logged step: {told}; {why}."
        return unclear(text, measures=measures, evidence=where)
    at = min(high.values())
    return present(f"At the first logged step: {told}.", Onset(at, at, at), measures, where)
