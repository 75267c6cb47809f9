"""What is weighed: pieces of evidence, each saying what it speaks for or against, how much, and why.

No piece decides alone and no order counts. Three kinds go in together: what the outcome and the metrics beside it did (amounts of
``curves.course`` and ``signs``, by weights that were fitted on labelled runs), what the detectors found (by the role and the weight that
each declares), and the context (how much of the plan is done, whether anything was measured). A weight is a change of the logarithm of the
odds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from rl_advisor.assessment import VERDICTS, Verdict
from rl_advisor.curves.performance import PARTED, Performance
from rl_advisor.curves.sentences import says
from rl_advisor.finding import Finding, Outcome, Role
from rl_advisor.judgement import signs
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.causes import explained
from rl_advisor.judgement.diagnosis import patterns
from rl_advisor.judgement.weights import Weights, centred, weights
from rl_advisor.output.wording import counted
from rl_advisor.run import Run

Speaks = Mapping[Verdict, float]


@dataclass(frozen=True)
class Piece:
    """One piece of evidence."""

    says: str
    speaks: Speaks
    """Verdict -> what it adds to the logarithm of its odds; against it where negative."""
    metric: str | None = None
    steps: tuple[float, float] | None = None
    topic: str = ""

    @property
    def strongest(self) -> Verdict:
        """The verdict that it speaks for most."""
        return max(self.speaks, key=lambda v: self.speaks[v])


GAMED = 4.0
"""What a sign of gaming weighs against the usual, when the reward rose and the score did not, or did not keep it."""
EXPLAINED = 0.3
"""What is left of it where another finding that is present would bring it about."""
BESIDE, ENOUGH_SOUND = 0.75, 3
"""What it weighs that a run stays within what sound runs did, and from how many of them on: fitted on the proving ground (docs/log.md).
That it leaves their band speaks for no verdict, only for a link: a run that does less than its twins may still rise."""
FEW, SAY_LITTLE = 8, 4.0
"""Points below which an outcome is hardly a course, and what a single one weighs for not being able to tell."""
INSIDE = -2.0
"""How far below the middle of its band an outcome still counts as within."""
TOPICS: dict[str, tuple[str, ...]] = {
    "rise": ("start height", "height at a tenth", "climb", "above start", "clear", "net"),
    "end": ("end height", "height at nine tenths", "lost", "lost of all", "end of best"),
    "lately": (
        *("second half", "last quarter", "lately", "late slope", "half slope", "still rises", "falls lately", "flat lately"),
        *("height half way", "height at three quarters", "best at"),
    ),
    "way": ("slope", "order", "usual height"),
    "swings": ("wander", "deepest dip"),
    "parted": tuple(PARTED),
    "level": ("size", "nothing", "share at the end", "above nothing"),
    "points": ("points",),
}
"""What is told in one sentence: amounts that measure much the same thing speak together."""


def gather(case: Case, by: Weights | None = None) -> list[Piece]:
    """Everything that speaks for or against a verdict."""
    return [
        *course_pieces(case.performance, by or weights(), case.run),
        *sign_pieces(case, by or weights()),
        *found(case),
        *beside_sound_runs(case),
        *context(case),
    ]


def course_pieces(performance: Performance, by: Weights, run: Run) -> list[Piece]:
    """What the outcome did, a piece a topic."""
    amounts, counts = performance.amounts(), performance.counts
    if amounts is None or counts is None:
        return []
    steps = (float(counts.level.step[0]), float(counts.level.step[-1]))
    told = ((topic, {name: amounts[name] for name in names if name in amounts}) for topic, names in TOPICS.items())
    return [Piece(says(topic, performance, run), by.speak(part), counts.name, steps, topic) for topic, part in told if part]


def sign_pieces(case: Case, by: Weights) -> Iterator[Piece]:
    """What the run shows beside its outcome, a piece a sign; nothing where there is no outcome."""
    told = signs.signs(case.run) if case.performance.counts is not None else {}
    for name, amount in told.items():
        at = signs.SIGNS.get(name)
        yield Piece(signs.says(name, case.run), by.speak({name: amount}), at.metric if at else None, topic=name)


def found(case: Case) -> Iterator[Piece]:
    """What the present findings speak for, by the role that their detectors declare."""
    for finding in case.findings.values():
        if finding.outcome is Outcome.PRESENT and (speaks := speaks_for(case, finding)):
            at = finding.evidence[0] if finding.evidence else None
            yield Piece(finding.statement, centred(speaks), at.metric if at else None, (at.first_step, at.last_step) if at else None)


def speaks_for(case: Case, finding: Finding) -> dict[Verdict, float]:
    """What a present finding adds to the odds of which verdict: what its detector declares, heard less where the outcome denies it."""
    pattern = patterns()[finding.pattern]
    if pattern.speaks:
        return {v: pattern.speaks[v] for v in VERDICTS if v in pattern.speaks}
    if pattern.role is Role.GAMING:
        own = EXPLAINED if explained(case, finding) else 1.0
        return {"reward_hacking": own * GAMED * pattern.weight * (1 - case.progressed) * (0.4 + 0.6 * case.paid)}
    if pattern.role is Role.SILENCE:
        return {"not_learning": pattern.weight * (1 - max(case.rose, case.paid))}
    return {}


def beside_sound_runs(case: Case) -> Iterator[Piece]:
    """What it speaks for that the outcome stays in the band of the user's sound runs."""
    finding = case.findings.get("unlike_sound_runs")
    if finding is not None and finding.measures.get("outcome", -np.inf) > INSIDE:
        runs = int(finding.measures["sound_runs"])
        weight = BESIDE * min(runs, ENOUGH_SOUND) / ENOUGH_SOUND
        many = "the earlier sound run" if runs == 1 else f"the {runs} earlier sound runs"
        yield Piece(f"the outcome goes where {many} went", centred({"improving": weight, "plateaued": weight}))


def context(case: Case) -> Iterator[Piece]:
    """What the little that is there, or the little that was done, speaks for."""
    counts = case.performance.counts
    if counts is None:
        yield Piece("no reward and no score is logged", centred({"undecidable": 6.0}))
    elif counts.n < FEW:
        speaks = centred({"undecidable": SAY_LITTLE * (1 - counts.n / FEW)})
        yield Piece(f"{counts.name} has only {counted(counts.n, 'point')}", speaks, counts.name, topic="points")
    planned = case.run.planned_steps
    if planned and counts is not None and counts.n < 40 and case.step < 0.05 * planned:
        yield Piece(f"only {100 * case.step / planned:.0f} % of the plan is done", centred({"undecidable": 2.0}))
