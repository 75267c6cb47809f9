"""What is wrong in the lines, whoever found it, in one list: the crash, the settings, the trainer's warnings, the rows, the findings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rl_advisor.detectors import patterns
from rl_advisor.finding import Cause, Finding, Outcome
from rl_advisor.judgement.proofs import cause
from rl_advisor.judgement.proofs.crashes import crash_in, warnings_in
from rl_advisor.output.wording import plain, sentence
from rl_advisor.run import Run
from rl_advisor.settings import checks
from rl_advisor.vocabulary import Link

LATE = "broken_policy"
"""The cause that says no more than that something broke: what a finding names goes before it."""
PROVEN = ("settings", "warnings", "rows", "values")
"""What makes a fault certain, and not only found or possible."""


def faults(run: Run, text: str, told: Iterable[Mapping[str, Any]], proven: Sequence[Finding], found: Iterable[Finding]) -> list[Finding]:
    """Everything that is wrong, in the order in which it is likely to be the cause; what is worth knowing of the settings, as unclear."""
    rows_say, crash, settings = [f for f in proven if f.there], crash_in(text), checks.run(run)
    late = [f for f in rows_say if LATE in {c.name for c in f.causes}]
    accused = {name for f in (*rows_say, *settings) if f.there for name in f.about}
    beyond = (t for t in told if t["normal"] == "broken" and not {t["metric"], t["name"]} & accused)
    return [
        *([_crashed(crash)] if crash else []),
        *(_setting(f) for f in settings if f.there),
        *(replace(w, statement=sentence(w.statement)) for w in warnings_in(text)),
        *(f for f in rows_say if f not in late),
        *(_value(run, t) for t in beyond),
        *map(_found, found),
        *late,
        *(_setting(f) for f in settings if f.outcome is Outcome.UNCLEAR and f.causes[0].tell_apart),
    ]


def certain(f: Finding) -> bool:
    """Whether a fault is proven."""
    return f.there and f.seen_in in PROVEN


def odd(told: Mapping[str, Any]) -> str:
    """A metric whose value is not normal, in a sentence."""
    return f"{told['name']} {told['value']} is {told['normal']}: {told['why']}"


def _value(run: Run, told: Mapping[str, Any]) -> Finding:
    """A number that cannot be; one that is not finite at all is what an update that overflowed leaves."""
    causes = (cause(run, "overflow"),) if told["non_finite"] and "loss" in told["name"].lower() else ()
    return Finding("value", causes[0].link if causes else Link.EVALUATION, Outcome.PRESENT, odd(told), seen_in="values", causes=causes)


def _crashed(crash: Finding) -> Finding:
    """The crash by its kind and its place; its message is the run's text and stands apart."""
    cause = crash.causes[0]
    return replace(crash, statement=f"It stopped with {cause.because}: {cause.cause}. {cause.tell_apart}")


def _setting(f: Finding) -> Finding:
    """What a setting proves, or with what to do about it what is worth knowing of it."""
    cause = replace(f.causes[0], because="the log shows it" if f.confirmed else f.causes[0].because)
    return replace(f, statement=f.statement if f.there else f"{f.statement} {cause.tell_apart}", causes=(cause,))


def _found(f: Finding) -> Finding:
    cause = Cause(f.link, plain(f.pattern), f.statement, patterns()[f.pattern].page["Next test"])
    return replace(f, statement=f"{plain(f.pattern)}: {f.statement}", causes=(cause,))
