"""What an assessment has measured, as single facts that a narrative can be held against: numbers and directions, and of what."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evals.lab.own_sentences.said import CONCEPTS, NO_VALUE, NO_WAY, Direction, Number, Sentence, concept, plain_words, sentences
from rl_advisor.answers.story.quantities import logged_at, moved, outcome_quantities
from rl_advisor.finding import Assessment, FindingView
from rl_advisor.run import Run

_WORDS = {
    **{name: name for name, _ in CONCEPTS},
    "tokens": "length",
    "rate": "learning rate",
    "lr": "learning rate",
    "learning": "learning rate",
    "flat": "groups",
    "truncated": "truncation",
}
_FIRST, _LAST = ("at_start", "start", "first", "before"), ("now", "last", "latest", "after")
_VAGUE = frozenset({"low", "high", "share", "percent", "level", "step", "usual", "per", "drop", "gain"})
_CHANGES = ("change", "gain", "drop")


@dataclass(frozen=True)
class Fact:
    """One measured number."""

    value: float
    half: float
    """Half a unit of its last digit, where it was read from a text; 0 for an exact one."""
    role: str
    """step, value or checkpoint."""
    subjects: frozenset[str]
    """Metric names and plain words of what it measures."""
    source: str
    """The pattern whose finding holds it, or the field of the assessment."""
    words: frozenset[str]
    """Words of the sentence or measure it stands in."""
    near: frozenset[str] = frozenset()
    """The words right before it, or those of the measure's name; first, last and best in one form each."""


@dataclass(frozen=True)
class Way:
    """One measured direction: +1 up, -1 down, 0 flat, 2 a peak; ``denied`` when a statement says that it is not so."""

    way: int
    subjects: frozenset[str]
    source: str
    denied: bool = False


@dataclass(frozen=True)
class Facts:
    """Everything a narrative may say."""

    numbers: tuple[Fact, ...]
    ways: tuple[Way, ...]
    patterns: frozenset[str]
    metrics: frozenset[str]
    nouns: frozenset[str]
    """Words that name measures: a number that follows one of them must be that measure."""
    present: frozenset[str]
    verdict: str


def facts(a: Assessment) -> Facts:
    """The facts of an assessment.

    The summary is no source: it is what gets checked.
    """
    patterns = frozenset(f.pattern for f in a.findings)
    metrics = frozenset(str(e["metric"]) for f in a.findings for e in f.evidence)
    numbers: list[Fact] = [*_fields(a)]
    ways: list[Way] = []
    for f in a.findings:
        numbers += of_finding(f)
        told: list[Way] = []
        for s in sentences(f.statement, patterns, metrics):
            _told(s, f.pattern, _evidence_metrics(f), numbers, told)
        # Where the statement says that something is flat, the bare sign of its small change says nothing.
        ways += told + [w for w in _measured_ways(f) if not any(t.way == 0 and w.subjects & t.subjects for t in told)]
    for s in sentences(a.best_checkpoint.why, patterns, metrics):
        _told(s, "best_checkpoint", frozenset(), numbers, ways)
    for line in (*a.could_not_see, *a.ruled_out, a.next_experiment.do, a.why, a.risk, *a.at_odds, *(e.says for e in a.evidence)):
        for s in sentences(line, patterns, metrics):
            _told(s, next((m.name for m in s.mentions if m.kind == "pattern"), "lists"), frozenset(), numbers, ways)
    for answer in _quantities(a):
        numbers += _walk(answer, frozenset(), "")
    present = frozenset(f.pattern for f in a.findings if f.outcome == "present")
    return Facts(tuple(numbers), tuple(ways), patterns, metrics, _nouns(a), present, a.verdict)


def _quantities(a: Assessment) -> Iterator[dict[str, Any]]:
    """Logged values of the outcome, and what curves usually were before and after the first break, where the run is known."""
    run = getattr(a, "_of", Run())
    for q in outcome_quantities(run):
        at = logged_at(run.curves.get(q.metric), a.best_checkpoint.step)
        yield {"metric": q.metric, "first": q.first, "last": q.last, "best": q.best, "best_step": q.best_step, "at_checkpoint": at}
    for curve in run.curves.values():
        if (found := moved(curve, a.onset.step if a.onset else None)) is not None:
            yield {"metric": curve.name, "before": found[0], "after": found[1]}


def named(metrics: Iterable[str]) -> frozenset[str]:
    """Metric names with the plain words for them."""
    return frozenset(n for m in metrics for n in (m, concept(m)) if n)


def _nouns(a: Assessment) -> frozenset[str]:
    """The words of the names of measures, without those that also say what is measured."""
    return frozenset(w for f in a.findings for key in f.measures for w in plain_words(key.replace("_", " "))) - frozenset(_WORDS) - _VAGUE


def signed(d: Direction, s: Sentence) -> int:
    """The direction with the sign of a number right behind it: to gain -0.3 is to fall."""
    after = s.text[d.end - s.start : d.end - s.start + 4]
    return -d.way if d.way in (1, -1) and re.match(r" (?:by )?-\d", after + "0") else d.way


def stage(n: Number, s: Sentence) -> frozenset[str]:
    """Whether a number is the first or the last of a "from A to B"."""
    for at, a, b in from_to(s):
        if at <= n.start <= at + 60 and n.value in (a, b) and a != b:
            return frozenset({"first" if n.value == a else "last"})
    return frozenset()


def _fields(a: Assessment) -> Iterator[Fact]:
    def fact(value: float, role: str, subjects: tuple[str, ...], field: str) -> Fact:
        return Fact(float(value), 0.0, role, frozenset(subjects), field, frozenset(field.split("_")))

    yield fact(a.step, "step", ("run", "plan"), "step")
    # A chance of which little is known is said in steps of five percent.
    rough = 0.025 if a.confidence == "low" else 0.005
    yield Fact(a.p_continue_pays, rough, "value", frozenset({"chance"}), "p_continue_pays", frozenset({"continue", "pays"}))
    if a.planned_steps:
        yield fact(a.planned_steps, "step", ("run", "plan"), "planned_steps")
        left = max(0.0, 1 - a.step / a.planned_steps)
        yield from (fact(left, "value", ("plan",), "planned_steps"), fact(1 - left, "value", ("plan",), "planned_steps"))
    if a.best_checkpoint.step is not None:
        yield fact(a.best_checkpoint.step, "step", ("checkpoint", "score", "reward", "outcome"), "best_checkpoint")
        yield fact(a.best_checkpoint.step, "checkpoint", (), "best_checkpoint")
    for number in re.findall(r"\d+", a.best_checkpoint.path or ""):
        yield fact(float(number), "checkpoint", (), "best_checkpoint")
    if a.onset:
        link = a.first_broken_link.replace("_", " ")
        for value in (a.onset.step, a.onset.low, a.onset.high):
            yield fact(value, "step", ("run", link), "onset")


def of_finding(f: FindingView) -> Iterator[Fact]:
    """Numbers of a finding's measures, onset and evidence."""
    metrics = _evidence_metrics(f)
    for key, value in f.measures.items():
        if value is not None:
            role = "step" if re.search(r"(?:^|_)steps?(?:_|$)", key) and not key.startswith("steps_per") else "value"
            said = key.replace("_", " ")
            yield Fact(value, 0.0, role, measured_of(key, metrics), f.pattern, _vocabulary(said), frozenset(plain_words(said)))
    everything = named(metrics)
    for value in (f.onset or {}).values():
        yield Fact(value, 0.0, "step", everything, f.pattern, frozenset({"began", "onset"}))
    for e in f.evidence:
        for value in (float(e["first_step"]), float(e["last_step"])):
            yield Fact(value, 0.0, "step", named([str(e["metric"])]), f.pattern, frozenset())


def _evidence_metrics(f: FindingView) -> frozenset[str]:
    return frozenset(str(e["metric"]) for e in f.evidence)


def measured_of(key: str, metrics: frozenset[str]) -> frozenset[str]:
    """What a measure is of: the metric that its key spells or means, else the only one of the evidence; empty when it could be several."""
    spelled = [m for m in metrics if key.startswith(m)]
    if spelled:
        return named(spelled)
    word = next((_WORDS[w] for w in re.split(r"[_ /]", key) if w in _WORDS), "")
    if word:
        return named(m for m in metrics if concept(m) == word) | {word}
    return named(metrics) if len(metrics) == 1 else frozenset()


def _measured_ways(f: FindingView) -> Iterator[Way]:
    """Directions that follow from pairs of measures and from measured changes."""
    metrics = _evidence_metrics(f)
    known = {k: v for k, v in f.measures.items() if v is not None}
    for key, value in known.items():
        if key.split("_")[-1] in _CHANGES and "explained" not in key:
            sign = -1 if key.endswith("drop") else 1
            yield Way(_sign(0.0, sign * value, 1.0 if abs(value) > 1e-6 else 0.0), measured_of(key, metrics), f.pattern)
        if key.split("_")[-1] == "ratio" and value > 0:
            yield Way(_sign(1.0, value), measured_of(key, metrics), f.pattern)
        stem = next((key.removesuffix(end) for end in _FIRST if key == end or key.endswith("_" + end)), None)
        for end in _LAST if stem is not None else ():
            if stem is not None and stem + end in known:
                yield Way(_sign(value, known[stem + end]), measured_of(key, metrics), f.pattern)
    if known.get("start", known.get("best", 0.0)) < known.get("best", 0.0):
        yield Way(_sign(known["start"], known["best"]), measured_of("best", metrics), f.pattern)
    if "best" in known and "last" in known and known["best"] > known["last"]:
        yield from (Way(way, measured_of("best", metrics), f.pattern) for way in (-1, 2))


def _sign(first: float, last: float, scale: float | None = None) -> int:
    """+1, -1, or 0 for a change of under two percent of the larger end."""
    size = 0.02 * max(abs(first), abs(last)) if scale is None else 0.0
    return 0 if abs(last - first) <= size else 1 if last > first else -1


def _told(s: Sentence, source: str, metrics: frozenset[str], numbers: list[Fact], ways: list[Way]) -> None:
    """Add what a statement says."""
    numbers += [_said(n, s, source, metrics) for n in s.numbers]
    ways += [Way(signed(d, s), _of(s, d.start, metrics, NO_WAY), source, d.negated) for d in s.directions if not d.open]
    ways += [Way(_sign(first, last), _of(s, at, metrics), source) for at, first, last in from_to(s)]


def _said(n: Number, s: Sentence, source: str, metrics: frozenset[str]) -> Fact:
    """A number of a statement as a fact. Statements give two digits: "0.1" there is 0.10, not anything from 0.05 to 0.15."""
    scale = 0.01 if n.percent else 1.0
    value = n.value * scale
    of = _of(s, n.start, metrics, NO_VALUE if n.role == "value" else frozenset())
    role = n.role if n.role in ("step", "checkpoint") else "value"
    return Fact(value, min(n.half * scale, 0.01 * abs(value)), role, of, source, _vocabulary(s.text), n.near | stage(n, s))


def _of(s: Sentence, at: int, metrics: frozenset[str], besides: frozenset[str] = frozenset()) -> frozenset[str]:
    """What a place of a statement is about: what is named there, else the only metric of its evidence."""
    mention = s.subject(at, besides=besides)
    if mention is None or mention.kind == "pattern":
        return named(metrics) if len(metrics) == 1 else frozenset()
    if mention.kind == "metric":
        return named([mention.name])
    same = [m for m in metrics if concept(m) == mention.name]
    return frozenset({mention.name}) | (named(same) if len(same) == 1 else frozenset())


_PAIR = re.compile(r"from (?:about )?(?P<a>-?[\d.]+(?:e-?\d+)?)(?: \([^)]*\))? to (?:about )?(?P<b>-?[\d.]+(?:e-?\d+)?)(?![\d.]*\d)")


def from_to(s: Sentence) -> list[tuple[int, float, float]]:
    """Every "from A to B" of a sentence: its place, A and B."""
    return [(s.start + m.start(), _float(m["a"]), _float(m["b"])) for m in _PAIR.finditer(s.text)]


def _float(text: str) -> float:
    return float(text.rstrip("."))


def _vocabulary(text: str) -> frozenset[str]:
    return frozenset(w.lower() for w in re.findall(r"[A-Za-z]{4,}", text)) - _COMMON


_COMMON = frozenset(
    {"this", "that", "from", "with", "went", "were", "have", "been", "step", "steps", "near", "under", "over", "there", "since", "while"}
    | {"after", "before", "which", "what"}
)


def vocabulary(text: str) -> frozenset[str]:
    """The telling words of a text."""
    return _vocabulary(text)


def _walk(value: Any, subjects: frozenset[str], key: str) -> Iterator[Fact]:
    """Numbers of a tool's answer; ``name`` or ``metric`` beside them says what they are of."""
    if isinstance(value, Mapping):
        name = value.get("name") or value.get("metric")
        inside = named([name]) if isinstance(name, str) else subjects
        for k, v in value.items():
            yield from _walk(v, inside, f"{key} {k}" if k in ("step", "step_interval", "steps") else str(k))
    elif isinstance(value, list | tuple):
        for v in value:
            yield from _walk(v, subjects, key)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        role = "step" if "step" in key else "value"
        yield Fact(
            float(value),
            abs(float(value)) * 1e-4,
            role,
            subjects or measured_of(key, frozenset()),
            "tools",
            _vocabulary(key),
            frozenset(plain_words(key.replace("_", " "))),
        )
