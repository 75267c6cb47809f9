"""What broke first: the present causes that no earlier present cause would have brought about, ordered by onset and link.

``detectors/brings.toml`` names what each cause tends to bring about. A finding is explained when something present brings
it and did not clearly start later. What is left are roots; the earliest one names the first broken link, and roots whose
onset intervals overlap are ties, which the order of the loop decides: outside in.
"""

import numpy as np

from rl_advisor.detectors import marked, patterns
from rl_advisor.finding import FALLS, Finding, Outcome, Role, Verdict
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.diagnosis import ORDER, role_of
from rl_advisor.judgement.proven import STANDS
from rl_advisor.vocabulary import Link

BORNE = ("truncation", "flat_groups", "no_entropy", "drift")
"""Causes that an outcome may bear: a score that was reached in spite of them says that they do not matter."""
STRONG = 2.0
"""Weight from which a finding of the systems is a break, not a side note."""
ONE_EVENT = 0.03
"""Share of the steps until then within which two beginnings are one event: of curves that break together, the share of cut answers shows it
before the mean entropy does."""


def causes(case: Case) -> list[Finding]:
    """The present findings that are more than a description of the outcome, and that sound runs of the same set-up do not show."""
    present = [f for f in case.findings.values() if f.outcome is Outcome.PRESENT and role_of(f.pattern) is not Role.SYMPTOM]
    return [f for f in present if not (f.evidence and all(e.metric in case.usual for e in f.evidence))]


def roots(case: Case, *, of_fall: bool = False) -> list[Finding]:
    """The present causes that no other present cause explains, the earliest first, ties in the order of the loop.

    ``of_fall`` leaves out what cannot make an outcome fall.
    """
    present = [f for f in causes(case) if not (of_fall and is_weak(f))]
    left = [f for f in present if not any(explains(other, f) for other in present if other is not f)]
    return in_order(left or present)


def is_weak(finding: Finding) -> bool:
    """Whether a finding tells of silence, or of systems and not strongly: that breaks no outcome."""
    pattern = patterns()[finding.pattern]
    return pattern.role is Role.SILENCE or (finding.link is Link.SYSTEMS and pattern.weight < STRONG)


def explains(cause: Finding, effect: Finding) -> bool:
    """Whether one finding would bring the other and did not clearly begin after it; of two that bring each other the earlier wins."""
    if effect.pattern not in patterns()[cause.pattern].brings:
        return False
    if cause.pattern in patterns()[effect.pattern].brings:
        return before(cause, effect) or (not before(effect, cause) and ORDER[cause.link] < ORDER[effect.link])
    return not before(effect, cause)


def explained_by(case: Case, finding: Finding) -> list[Finding]:
    """The other present causes that would bring this finding about."""
    return [other for other in causes(case) if other is not finding and explains(other, finding)]


def proven_of(case: Case, verdict: Verdict) -> list[Finding]:
    """The proven faults that a verdict leaves standing; not rows whose finding is another's doing, or cannot have made the outcome fall."""
    able = able_to_fell(case) if verdict in FALLS else roots(case)
    others = {e.metric for f in causes(case) if f not in able for e in f.evidence} - {e.metric for f in able for e in f.evidence}
    faults = [fault for fault in case.proven if fault.seen_in != "rows" or others.isdisjoint(fault.about)]
    return [fault for fault in faults if not (fault.causes[0].name in BORNE and verdict in STANDS)]


def able_to_fell(case: Case) -> list[Finding]:
    """The roots that can have made the outcome fall: not clearly later than the fall, and no mere aftermath of it."""
    falls = [case.findings[p] for p in marked("fall") if case.present(p)]
    able = [f for f in roots(case, of_fall=True) if not any(before(fall, f) for fall in falls)]
    first = [f for f in able if not case.parted and any(before(f, fall) for fall in falls)]
    return [f for f in able if f in first or not falls or role_of(f.pattern) is not Role.CONSEQUENCE]


def root_of_fall(case: Case) -> Finding | None:
    """The first root that can have made the outcome fall, those first that it did not outlive."""
    able = able_to_fell(case)
    return next(iter([f for f in able if not survived(case, f)] or able), None)


def survived(case: Case, cause: Finding) -> bool:
    """Whether the outcome came to its best well after the cause had begun, above where it stood: then something later made it fall."""
    s = case.outcome
    if s is None or cause.onset is None:
        return False
    then = float(np.interp(cause.onset.high, s.step, s.smoothed))
    later = s.best_step - cause.onset.high > 0.1 * float(s.step[-1] - s.step[0])
    return later and s.best - then > 2 * s.margin


def before(a: Finding, b: Finding) -> bool:
    """Whether ``a`` clearly began before ``b``: their onset intervals do not touch, and it is more than the two curves' own delay."""
    return a.onset is not None and b.onset is not None and a.onset.high < (1 - ONE_EVENT) * b.onset.low


def in_order(findings: list[Finding]) -> list[Finding]:
    """Findings by onset; those whose intervals overlap the earliest one's stand in the order of the loop."""
    left, out = list(findings), []
    while left:
        first = min(left, key=lambda f: f.onset.high if f.onset else float("inf"))
        tied = [f for f in left if not before(first, f)]
        chosen = min(tied, key=lambda f: (ORDER[f.link], f.onset.step if f.onset else 0.0))
        out.append(chosen)
        left.remove(chosen)
    return out
