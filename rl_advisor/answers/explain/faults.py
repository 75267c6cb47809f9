"""What is wrong in the lines, whoever found it, in one list: the crash, the settings, the trainer's warnings, the rows, the findings."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rl_advisor.detectors import patterns
from rl_advisor.finding import Finding
from rl_advisor.judgement.proofs import Proof, causes
from rl_advisor.judgement.proofs.crashes import crash_in, warnings_in
from rl_advisor.judgement.proofs.rows import Rows
from rl_advisor.judgement.proven import act
from rl_advisor.output.wording import plain, sentence
from rl_advisor.settings import checks
from rl_advisor.vocabulary import Link

LATE = "broken_policy"
"""The cause that says no more than that something broke: what a finding names goes before it."""
Cause = dict[str, str]


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: what shows it, and the likely causes, each with its link, why it fits and what tells it from others."""

    kind: str
    """``crash``, ``setting``, ``warning``, ``row``, ``value``, ``finding``, or ``hint``, which accuses nothing by itself."""
    says: str
    causes: tuple[Cause, ...] = ()

    @property
    def proven(self) -> bool:
        """Whether it is certain, and not only found or possible."""
        return self.kind in ("setting", "warning", "row", "value")


def faults(rows: Rows, text: str, told: Iterable[Mapping[str, Any]], proven: Sequence[Proof], found: Iterable[Finding]) -> list[Fault]:
    """Everything that is wrong, in the order in which it is likely to be the cause."""
    rows_say = [f for p in proven if p.fault for f in _of_rows(rows, p)]
    late = [f for f in rows_say if LATE in {c["name"] for c in f.causes}]
    return [
        *_crashed(text),
        *_settings(rows, "fault"),
        *(Fault("warning", sentence(w.means), (_cause(w.link, w.means, "the trainer prints it", w.do),)) for w in warnings_in(text)),
        *(f for f in rows_say if f not in late),
        *_values(rows, told, proven),
        *(Fault("finding", f"{plain(f.pattern)}: {f.statement}", (_found(f),)) for f in found),
        *late,
        *_settings(rows, "note"),
    ]


def _cause(link: Link, cause: str, because: str, tell_apart: str, name: str = "") -> Cause:
    return {"link": link.value, "cause": cause, "because": because, "tell_apart": tell_apart, "name": name}


def _crashed(text: str) -> Iterator[Fault]:
    """The crash by its kind and its place; its message is the run's text and stands apart."""
    if (crash := crash_in(text)) is not None:
        kind = re.split(r"[:\s(]", crash.error, maxsplit=1)[0]
        at = f"{kind} at {crash.where}" if crash.where else kind
        yield Fault("crash", f"It stopped with {at}: {crash.means}. {crash.do}", (_cause(crash.link, crash.means, at, crash.do),))


def _settings(rows: Rows, outcome: str) -> Iterator[Fault]:
    """What the settings prove, or what is worth knowing of them."""
    for o in checks.run(rows.run):
        if o.outcome == outcome and (o.do or outcome == "fault"):
            because = "the log shows it" if o.confirmed else o.confirm_by
            kind, says = ("setting", o.statement) if outcome == "fault" else ("hint", f"{o.statement} {o.do}")
            yield Fault(kind, says, (_cause(o.link, o.statement, because, o.do),))


def _of_rows(rows: Rows, proof: Proof) -> Iterator[Fault]:
    named = ((name, causes()[name]) for name in proof.causes)
    yield Fault("row", proof.says, tuple(_cause(c.link, c.cause, c.because, act(rows.run, name), name) for name, c in named))


def _values(rows: Rows, told: Iterable[Mapping[str, Any]], proven: Sequence[Proof]) -> Iterator[Fault]:
    """Values beyond what is possible that nothing else accuses."""
    accused = {name for p in proven if p.fault for name in p.about}
    accused |= {key for o in checks.run(rows.run) if o.outcome == "fault" for key in o.keys}
    yield from (Fault("value", odd(t)) for t in told if t["normal"] == "broken" and not {t["metric"], t["name"]} & accused)


def odd(told: Mapping[str, Any]) -> str:
    """A metric whose value is not normal, in a sentence."""
    return f"{told['name']} {told['value']} is {told['normal']}: {told['why']}"


def _found(f: Finding) -> Cause:
    return _cause(f.link, plain(f.pattern), f.statement, patterns()[f.pattern].page["Next test"])
