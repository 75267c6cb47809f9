"""Holds our own sentences to what was measured: every number and word of direction must stand in the assessment's findings or fields.

A check of ourselves and no part of the package: a model's judgement is held to the log by its claims. A number must fit the metric or
pattern that is named nearest to it, within the rounding in which it is said; a direction must have the sign of what was measured.
"""

import math
from dataclasses import dataclass

from evals.lab.own_sentences.facts import Fact, Facts, Way, facts, from_to, of_finding, signed, vocabulary
from evals.lab.own_sentences.said import NO_VALUE, NO_WAY, Direction, Mention, Number, Sentence, concept, sentences
from rl_advisor.finding import Assessment, FindingView

_STAGED = frozenset({"first", "last", "best", "change", "gain", "noise"})
_RUN_SAYS = {
    1: frozenset({"improving"}),
    -1: frozenset({"collapsed", "degrading"}),
    0: frozenset({"plateaued", "not_learning"}),
    2: frozenset({"degrading", "collapsed"}),
}
_RUN_PATTERNS = {
    1: frozenset({"still_improving"}),
    -1: frozenset({"collapse", "decline"}),
    0: frozenset({"plateau"}),
    2: frozenset({"decline", "collapse"}),
}


@dataclass(frozen=True)
class Claim:
    """Something a narrative says that can be right or wrong, with its place in the text."""

    text: str
    start: int
    end: int
    supported: bool
    why: str
    """What it rests on, or what it does not fit."""


def ground(text: str, assessment: Assessment) -> list[Claim]:
    """Every number and word of direction of ``text``, each with whether a computed measure supports it."""
    return held(text, facts(assessment))


def held(text: str, known: Facts) -> list[Claim]:
    """The same against facts that were gathered before."""
    claims: list[Claim] = []
    for s in sentences(text, known.patterns, known.metrics):
        rests = {n: _fitting(n, s, known) for n in s.numbers}
        claims += [_number_claim(n, s, rests[n], known, text) for n in s.numbers]
        claims += [_direction_claim(d, s, rests, known, text) for d in s.directions if not d.open]
    return sorted(claims, key=lambda c: c.start)


def unsupported(text: str, assessment: Assessment) -> list[str]:
    """What no measure supports, each as one line: the words and why; empty when everything stands."""
    return [f"{c.text}: {c.why}" for c in ground(text, assessment) if not c.supported]


def unmeasured(f: FindingView) -> list[str]:
    """The numbers of a finding's statement that are neither among its own measures nor among its steps; signs may be said in words.

    What is unclear or not logged names what would be needed, which nobody measured, and is not asked.
    """
    if f.outcome not in ("present", "absent"):
        return []
    known = [fact.value for fact in of_finding(f)]
    out = []
    for s in sentences(f.statement, frozenset(), frozenset(str(e["metric"]) for e in f.evidence)):
        scales = (1.0, 100.0) if any(n.percent for n in s.numbers) else (1.0,)
        spoken = [n for n in s.numbers if not _is_bound(n, s)]
        out += [f"{n.value:g}" for n in spoken if not any(_same_size(n, scale * value) for value in known for scale in scales)]
    return out


def _is_bound(n: Number, s: Sentence) -> bool:
    """Whether a share is only said to be under or over it: "under 1 %"."""
    return n.percent and s.text[max(0, n.start - s.start - 6) : n.start - s.start].strip() in ("under", "over")


def _same_size(n: Number, value: float) -> bool:
    """Whether a number is a measure in the rounding of statements: two digits, whole from ten on."""
    digits = math.floor(math.log10(abs(n.value))) - 1 if n.value else 0
    return abs(abs(n.value) - abs(value)) <= max(n.half, 0.5 * 10.0 ** min(digits, 0)) + 1e-9


def _number_claim(n: Number, s: Sentence, rests: list[Fact], known: Facts, text: str) -> Claim:
    subject = _of_number(n, s)
    said = f"of {subject.name}" if subject else "of the run"
    if rests and not _in_pair(n, s, known):
        return Claim(text[n.start : n.end], n.start, n.end, False, "no change between these two values was measured")
    why = f"measured by {rests[0].source}" if rests else f"no measure {said} has this value"
    return Claim(text[n.start : n.end], n.start, n.end, bool(rests), why)


def _of_number(n: Number, s: Sentence) -> Mention | None:
    return s.subject(n.start, besides=NO_VALUE if n.role == "value" else frozenset())


def _in_pair(n: Number, s: Sentence, known: Facts) -> bool:
    """Whether a number is no end of a "from A to B", or the change between both ends was measured that way round."""
    for at, first, last in from_to(s):
        ends = [m for m in s.numbers if at <= m.start <= at + 60 and m.value in (first, last)][:2]
        if n in ends and len(ends) == 2 and first != last:
            begin, end = (_fitting(m, s, known) for m in ends)
            return not begin or not end or _forward(begin, end)
    return True


def _forward(begin: list[Fact], end: list[Fact]) -> bool:
    """Whether the facts behind two values say that the first came first."""

    def at(found: list[Fact], *stages: str) -> set[str]:
        return {f.source for f in found if f.near & set(stages)}

    if at(begin, "first", "best") & at(end, "last", "best"):
        return True
    if at(begin, "last") & at(end, "first"):
        return False
    loose = {f.source for f in begin if not f.near & _STAGED} & {f.source for f in end if not f.near & _STAGED}
    return bool(loose) or bool(at(begin, "first", "best") and at(end, "last", "best"))


def _fitting(n: Number, s: Sentence, known: Facts) -> list[Fact]:
    """The facts that a number can rest on."""
    subject = _of_number(n, s)
    able = [f for f in known.numbers if _role_fits(n, f) and _value_fits(n, f, s)]
    if n.role == "value" and (nouns := n.near & known.nouns - {"first", "last"}):
        able = [f for f in able if f.near & nouns]
    if n.role == "checkpoint":
        return able
    if subject is not None and subject.name != "run":
        return [f for f in able if about(subject, f.subjects, f.source, known)]
    begin, end = s.clause(n.start)
    words = vocabulary(s.text[begin - s.start : end - s.start]) or vocabulary(s.text)
    return [f for f in able if f.words & words or "run" in f.subjects]


def _role_fits(n: Number, f: Fact) -> bool:
    return n.role == f.role or (n.role == "count" and f.role != "checkpoint")


def _value_fits(n: Number, f: Fact, s: Sentence) -> bool:
    scale = 100.0 if n.percent else 1.0
    slack = n.half + scale * f.half + 1e-9 * max(1.0, abs(n.value))
    if abs(n.value - scale * f.value) <= slack:
        return True
    # "Fell by 0.3" says with a word what the measure says with its sign.
    falls = s.text[max(0, n.start - s.start - 4) : n.start - s.start].endswith(" by ") and any(d.way == -1 for d in s.directions)
    return falls and f.value < 0 and abs(n.value + scale * f.value) <= slack


def about(subject: Mention, subjects: frozenset[str], source: str, known: Facts) -> bool:
    """Whether a fact is of what was named: a metric by its name or, where the fact names none, by its plain word."""
    if subject.kind == "pattern":
        return source == subject.name
    if subject.kind == "concept":
        return subject.name in subjects or (subject.name == "outcome" and bool(subjects & {"score", "reward"}))
    return subject.name in subjects or (concept(subject.name) in subjects and not subjects & known.metrics)


def _direction_claim(d: Direction, s: Sentence, rests: dict[Number, list[Fact]], known: Facts, text: str) -> Claim:
    word = text[d.start : d.end]
    shown, way = _shown(d, s), signed(d, s)
    if shown is not None and d.way in (1, -1) and not d.negated:
        return Claim(
            word, d.start, d.end, shown == way, "the numbers beside it" if shown == way else "the numbers beside it go another way"
        )
    subject = s.subject(d.start, besides=NO_WAY)
    if subject is None or subject.name == "run":
        good = known.verdict in _RUN_SAYS[d.way] or bool(known.present & _RUN_PATTERNS[d.way])
        good = good or (d.way == -1 and known.verdict == "unstable")
        return Claim(word, d.start, d.end, good != d.negated, f"the verdict is {known.verdict}")
    ways = [w for w in known.ways if about(subject, w.subjects, w.source, known)]
    heading = {m.name for m in s.mentions if m.kind == "pattern" and m.end <= d.start}
    sources = _sources_beside(d, s, rests)
    near = [w for w in ways if w.source in heading] or [w for w in ways if w.source in sources] or ways
    good = _stands(way, near, negated=d.negated)
    return Claim(word, d.start, d.end, good, f"{subject.name} was measured" if good else f"{subject.name} was not measured to do this")


def _stands(way: int, ways: list[Way], *, negated: bool) -> bool:
    """Whether a direction was measured; a denied one needs that it was denied too, that another was measured, or none."""
    if negated:
        return any(w.denied == (w.way == way) for w in ways) or not ways
    return any(w.way == way and not w.denied for w in ways)


def _shown(d: Direction, s: Sentence) -> int | None:
    """The sign that the numbers right beside a word of direction show, as in "fell from A to B"; None when there are none."""
    end = s.clause(d.start)[1]
    for at, first, last in from_to(s):
        if d.end <= at <= min(end, d.end + 12):
            return 0 if first == last else 1 if last > first else -1
    values = [n for n in s.numbers if n.role == "value"]
    after = next((n for n in values if d.end < n.start <= d.end + 5), None)
    before = [n for n in values if n.end < d.start and s.subject(n.start) == s.subject(d.start)]
    if after is None or not before or s.text[d.end - s.start : after.start - s.start].strip() != "to":
        return None
    return 0 if after.value == before[-1].value else 1 if after.value > before[-1].value else -1


def _sources_beside(d: Direction, s: Sentence, rests: dict[Number, list[Fact]]) -> set[str]:
    """Where the numbers of the same clause were measured."""
    begin, end = s.clause(d.start)
    beside = [{f.source for f in found} for n, found in rests.items() if begin <= n.start < end and found]
    return set.union(*beside) if beside else set()
