"""What a sentence says: the metrics and patterns it names, its numbers with their role, and its words of direction."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from rl_advisor.vocabulary import Link

CONCEPTS: tuple[tuple[str, str], ...] = (
    ("score", r"held-out score|scores?|accuracy|pass@\d+"),
    ("spread", r"spread|standard deviation"),
    ("reward", r"rewards?|returns?"),
    ("kl", r"KL(?: divergence)?(?: to the reference)?"),
    ("entropy", r"entropy"),
    ("length", r"(?:mean |response )*lengths?|tokens_\w+"),
    ("learning rate", r"learning rate"),
    ("gradient norm", r"gradient norm|grad_norm"),
    ("truncation", r"truncated share|share of truncated responses|truncation(?: rate)?|truncated responses"),
    ("groups", r"groups without spread|flat groups|zero-variance groups"),
    ("clipping", r"clip fractions?"),
    ("loss", r"(?:policy |value )?loss"),
    ("chance", r"chance|probability|p_continue_pays"),
    ("plan", r"planned steps|plan"),
    ("checkpoint", r"checkpoint"),
    ("outcome", r"outcome"),
    ("run", r"(?<!over )(?<!of )(?<!in )(?:this|the) run"),
)
"""How people call what is measured; longer names stand before the words they contain."""
NO_VALUE = frozenset({"checkpoint"})
"""What has a step and no value."""
NO_WAY = frozenset({"checkpoint", "chance", "plan"})
"""What does not rise or fall."""
_STARTS = (
    ("eval/score/", "score"),
    ("reward/std", "spread"),
    ("reward/group_std", "spread"),
    ("reward/component_std", "spread"),
    ("reward/flat_groups", "groups"),
    ("reward/", "reward"),
    ("kl/", "kl"),
    ("entropy/mean", "entropy"),
    ("response/truncated", "truncation"),
    ("response/", "length"),
    ("policy/learning_rate", "learning rate"),
    ("policy/grad_norm", "gradient norm"),
    ("ratio/clip", "clipping"),
    ("policy/", "loss"),
)
_NUMBER = re.compile(r"(?<![\w./@-])(-?(?:\d+\.\d+|\d{1,3}(?:,\d{3})+|\d+)(?:[eE][+-]?\d+)?)(?![\w@]|\.\d|-\w)(\s?%|\s+percent\b)?")
_CHECKPOINT = re.compile(r"\b(?:checkpoint|step|global_step|iter)[-_](\d+)\b")
_STEP_BEFORE = re.compile(
    r"\b(?:steps?|updates?|iterations?)\s+(?:about\s+|near\s+|around\s+)?(?:\d+(?:\.\d+)?\s*(?:to|and|-|\u2013)\s*)?$"
    r"|\bstep \d+(?:\.\d+)? \(between (?:\d+(?:\.\d+)? and )?$",
    re.IGNORECASE,
)
_STEP_AFTER = re.compile(r"\s+(?:of (?:the )?\d+ )?(?:planned |training |more |logged )*(?:steps|updates|iterations)\b", re.IGNORECASE)
LONGEST = 1000
"""Characters of a sentence; what is longer is read in pieces."""
_SYNONYMS = {
    **dict.fromkeys(("start", "starts", "started", "began", "begins", "before", "initial", "initially", "first"), "first"),
    **dict.fromkeys(("now", "latest", "end", "ends", "ended", "after", "finally", "final", "stands", "last"), "last"),
    **dict.fromkeys(("best", "peak", "peaked", "highest", "top", "largest", "most", "widest"), "best"),
}
_STAGES = frozenset(_SYNONYMS.values())
_UP = (
    r"ris(?:es?|ing|en)|rose|gr(?:ows?|ew|owing|own)|gain(?:s|ed|ing)|increas(?:es?|ed|ing)|climb(?:s|ed|ing)?|improv(?:es?|ed|ing)|went up"
)
_DOWN = (
    r"fall(?:s|ing|en)?|fell|declin(?:es|ed|ing)|drop(?:s|ped|ping)|decreas(?:es?|ed|ing)|shr(?:inks?|ank|inking)"
    r"|collaps(?:es|ed|ing)|los(?:t|es|ing)|worsen(?:s|ed|ing)?|degrad(?:es|ed|ing)|getting worse|went down"
)
_FLAT = r"flat|plateaued|unchanged|constant|steady|stopped moving"
_PEAK = r"peak(?:s|ed)|past its best"
_SET = re.compile(r"`\s*=\s*$")
"""Before the value of a setting, which is no direction: `` `lr_scheduler_type` = constant ``."""
_DIRECTION = re.compile(rf"\b(?:(?P<up>{_UP})|(?P<down>{_DOWN})|(?P<flat>{_FLAT})|(?P<peak>{_PEAK}))\b", re.IGNORECASE)
_NEGATED = re.compile(r"\b(?:not|no|never|neither|nor|without|cannot|hardly|n't|nothing)\b(?:\W+\w+){0,2}\W*$", re.IGNORECASE)
_OPEN = re.compile(r"\s+or\s+(?:not|flat|falling|rising)|\s+(?:cannot|can not)\s+be", re.IGNORECASE)
_MAYBE = re.compile(r"\b(?:if|whether|should|would|could|may|might|does|do|can|will|until|expect|predicts?)\b|\?$", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"(]|[a-z]+/)|\n+")
_CLAUSE = re.compile(r"[;]|,\s|:\s")
_LINKS = re.compile("|".join(link.value.replace("_", "[ _]") for link in Link if "_" in link.value), re.IGNORECASE)
_METRIC = re.compile(r"\b[A-Za-z][\w]*(?:/[\w@.*+-]*\w)+")


@dataclass(frozen=True)
class Mention:
    """A metric, concept or pattern that is named, with its place in the text."""

    kind: str
    """metric, concept, pattern, or link: a link of the loop is a name, but nothing that has a value."""
    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Number:
    """A number that is said: its value and the half unit of its last digit, as a step or as a value."""

    value: float
    half: float
    role: str
    """step, value, checkpoint, or count: a number of steps."""
    percent: bool
    near: frozenset[str]
    """The words right before it, in their plain form."""
    start: int
    end: int


@dataclass(frozen=True)
class Direction:
    """A word of direction: +1 up, -1 down, 0 flat, and 2 for a peak."""

    way: int
    negated: bool
    open: bool
    """Whether it is asked, conditional or said to be unknown rather than claimed."""
    start: int
    end: int


@dataclass(frozen=True)
class Sentence:
    """One sentence, taken apart; places are those of the whole text."""

    text: str
    start: int
    mentions: tuple[Mention, ...]
    numbers: tuple[Number, ...]
    directions: tuple[Direction, ...]

    def subject(self, at: int, *, besides: frozenset[str] = frozenset()) -> Mention | None:
        """What is named nearest before a place, else after it in its clause, ``besides`` left out; None when nothing is named."""
        able = [m for m in self.mentions if m.name not in besides and m.kind != "link"]
        before = [m for m in able if m.end <= at]
        after = [m for m in able if at < m.start < self.clause(at)[1]]
        return before[-1] if before else after[0] if after else None

    def clause(self, at: int) -> tuple[int, int]:
        """Begin and end of the clause around a place."""
        cuts = [self.start, *(self.start + m.end() for m in _CLAUSE.finditer(self.text)), self.start + len(self.text)]
        begin = max(c for c in cuts if c <= at)
        return begin, min((c for c in cuts if c > at), default=cuts[-1])


def concept(metric: str) -> str:
    """The plain word for a metric; empty for one that has none."""
    return next((word for start, word in _STARTS if metric.startswith(start)), "")


def sentences(text: str, patterns: frozenset[str], metrics: frozenset[str] = frozenset()) -> list[Sentence]:
    """The sentences of a text with what they name and claim; ``patterns`` and ``metrics`` are the names that count as such."""
    ends = [0, *(m.end() for m in _SENTENCE.finditer(text)), len(text)]
    # No sentence of a person is this long; the cost of one grows with the square of its length.
    cuts = [*(cut for a, b in pairwise(ends) for cut in range(a, b, LONGEST)), len(text)]
    return [_sentence(text[a:b].rstrip(), a, patterns, metrics) for a, b in pairwise(cuts) if text[a:b].strip()]


def _sentence(text: str, at: int, patterns: frozenset[str], metrics: frozenset[str]) -> Sentence:
    mentions = _mentions(text, patterns, metrics)
    hidden = _hide(text, mentions)
    placed = tuple(replace(m, start=m.start + at, end=m.end + at) for m in mentions)
    return Sentence(text, at, placed, tuple(_numbers(text, hidden, at)), tuple(_directions(text, hidden, at)))


def _hide(text: str, mentions: list[Mention]) -> str:
    """The text with every name blanked out, so that no digit or word in it is read as a claim."""
    for m in mentions:
        text = text[: m.start] + "\0" * (m.end - m.start) + text[m.end :]
    return text


def _mentions(text: str, patterns: frozenset[str], metrics: frozenset[str]) -> list[Mention]:
    found = [Mention("metric", m[0], m.start(), m.end()) for m in _METRIC.finditer(text)]
    if metrics:
        found += [Mention("metric", m[0], m.start(), m.end()) for m in _any_of(metrics).finditer(text)]
    found += [Mention("pattern", m[0].lower().replace(" ", "_"), m.start(), m.end()) for m in _patterns(patterns).finditer(text)]
    found += [Mention("link", m[0].lower(), m.start(), m.end()) for m in _LINKS.finditer(text)]
    for word, regex in CONCEPTS:
        found += [Mention("concept", word, m.start(), m.end()) for m in re.finditer(rf"\b(?:{regex})\b(?![-_/])", text, re.IGNORECASE)]
    taken: list[Mention] = []
    for m in sorted(found, key=lambda m: (m.start - m.end, m.start)):
        if all(m.end <= t.start or m.start >= t.end for t in taken):
            taken.append(m)
    return [m for m in sorted(taken, key=lambda m: m.start) if not _gloss(m, text, taken)]


def _gloss(m: Mention, text: str, all_of_them: list[Mention]) -> bool:
    """Whether a plain word in brackets only explains the metric before it, as in "reward/mean (the reward)"."""
    opened = re.search(r" \((?:the |a )?$", text[: m.start])
    return bool(m.kind == "concept" and opened and any(o.kind == "metric" and o.end == opened.start() for o in all_of_them))


@lru_cache(maxsize=64)
def _any_of(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(rf"(?<![\w/]){re.escape(n)}(?![\w/])" for n in sorted(names, key=len, reverse=True)))


@lru_cache(maxsize=64)
def _patterns(names: frozenset[str]) -> re.Pattern[str]:
    """Names of several words anywhere; a single word only where it stands as a heading, because it is an ordinary word too."""
    many = [re.escape(n.replace("_", " ")).replace(r"\ ", "[ _-]") for n in sorted(names, key=len, reverse=True) if "_" in n]
    single = [rf"{re.escape(n)}(?=:| \()" for n in names if "_" not in n]
    return re.compile(r"\b(?:" + "|".join([*many, *single] or ["(?!)"]) + r")\b", re.IGNORECASE)


def _numbers(text: str, hidden: str, at: int) -> list[Number]:
    found = [Number(float(m[1]), 0.0, "checkpoint", False, frozenset(), m.start(1) + at, m.end(1) + at) for m in _CHECKPOINT.finditer(text)]
    for m in _NUMBER.finditer(hidden):
        said = m[1].replace(",", "")
        digits = len(re.sub(r"[eE].*", "", said).partition(".")[2])
        power = int(said.lower().partition("e")[2] or 0)
        role = "step" if _STEP_BEFORE.search(hidden[: m.start()]) else "count" if _STEP_AFTER.match(text[m.end() :]) else "value"
        half = 0.5 * 10.0 ** (power - digits)
        if not digits and not power and abs(float(said)) < 10 and role == "value" and not m[2]:
            half = 0.0
        found.append(Number(float(said), half, role, bool(m[2]), near(hidden[: m.start(1)]), m.start(1) + at, m.end(1) + at))
    return sorted(found, key=lambda n: n.start)


def near(before: str) -> frozenset[str]:
    """The last three words of the clause before a number, synonyms of first, last and best made one."""
    clause = re.split(r"[;:,()]", before)[-1]
    words = plain_words(clause)[-3:]
    stages = [w for w in words if w in _STAGES]
    return frozenset(w for w in words if w not in stages[:-1])


def plain_words(text: str) -> list[str]:
    """The words of a text, synonyms of first, last and best made one."""
    return [_SYNONYMS.get(w.lower(), w.lower()) for w in re.findall(r"[A-Za-z]{3,}", text)]


def _directions(text: str, hidden: str, at: int) -> list[Direction]:
    ways = {"up": 1, "down": -1, "flat": 0, "peak": 2}
    found = []
    for m in _DIRECTION.finditer(hidden):
        if _SET.search(hidden[: m.start()]):
            continue
        way = next(w for kind, w in ways.items() if m[kind])
        clause = re.split(r"[;:,]", hidden[: m.start()])[-1]
        unsure = bool(_OPEN.match(hidden[m.end() :]) or _MAYBE.search(clause) or text.endswith("?"))
        denied = bool(_NEGATED.search(clause) or re.match(r"\s+nothing\b", hidden[m.end() :]))
        found.append(Direction(way, denied, unsure, m.start() + at, m.end() + at))
    return found
