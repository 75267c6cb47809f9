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

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present, unclear
from rl_advisor.run import Run
from rl_advisor.vocabulary import METRICS, Link

LINK = Link.ENVIRONMENT_DATA
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("kl/ref|kl/mismatch|mismatch/logprob|response/truncated",)
LEVELS = {"kl/ref": 0.05, "kl/mismatch": 0.05, "mismatch/logprob": 0.1, "response/truncated": 0.9}
"""Levels at the first step above which a practitioner stops and looks (nats per token; share)."""


def detect(run: Run, first_step: float = 2.0) -> Answer:
    """Present when two measures stand above their levels at the first step, unclear when one does or when the log begins later."""
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
    if len(high) < 2 or late:
        why = "the log begins too late to tell" if late else f"{METRICS[next(iter(high))].meaning.rstrip('.').lower()} alone proves no bug"
        text = f"At the first logged step: {told}; {why}."
        return unclear(text, measures=measures, evidence=where)
    at = min(high.values())
    return present(f"At the first logged step: {told}.", Onset(at, at, at), measures, where)
