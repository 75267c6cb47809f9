"""What is weighed: pieces of evidence, each saying what it speaks for or against, how much, and why.

No piece decides alone and no order counts. Three kinds go in together: what the outcome did (amounts of ``curves.course``, by weights that
were fitted on labelled runs), what the detectors found (by the role and the weight that each declares), and the context (whether anything
was measured). A weight is a change of the logarithm of the odds. The outcome is one piece: what it says for
or against a verdict is what that verdict means (``meaning``).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from rl_advisor.curves.performance import Performance
from rl_advisor.detectors import marked, patterns
from rl_advisor.finding import VERDICTS, Finding, Outcome, Role, Verdict
from rl_advisor.judgement import meaning
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.causes import explained_by
from rl_advisor.judgement.weights import Weights, centred, weights
from rl_advisor.output.wording import counted, told_once
from rl_advisor.vocabulary import Link

Speaks = Mapping[Verdict, float]


@dataclass(frozen=True)
class Piece:
    """One piece of evidence."""

    says: str
    """What it says whatever it is said for; of the outcome see ``told``."""
    speaks: Speaks
    """Verdict -> what it adds to the logarithm of its odds; against it where negative."""
    metric: str | None = None
    steps: tuple[float, float] | None = None
    outcome: Performance | None = None
    """The outcome, where the piece is that."""

    symptom: bool = False
    """Whether it tells of the outcome again, as a finding of a symptom does."""

    @property
    def beside(self) -> bool:
        """Whether it says something beside the outcome."""
        return bool(self.says) and not self.symptom

    def told(self, verdict: Verdict, *, against: bool = False) -> str:
        """What it says for a verdict, or against it; empty where it has nothing to say of it."""
        if self.outcome is None:
            return self.says
        return meaning.denies(verdict, self.outcome) if against else told_once(meaning.says(verdict, self.outcome))

    @property
    def strongest(self) -> Verdict:
        """The verdict that it speaks for most."""
        return max(self.speaks, key=lambda v: self.speaks[v])


GAMED = 4.0
"""What a sign of gaming weighs against the usual, when the reward rose and the score did not, or did not keep it."""
EXPLAINED = 0.3
"""What is left of it where another finding that is present would bring it about; nothing where the evaluation was changed."""
BESIDE, ENOUGH_SOUND = 0.75, 3
"""What it weighs that a run stays within what sound runs did, and from how many of them on: fitted on the proving ground (docs/log.md).
That it leaves their band speaks for no verdict, only for a link: a run that does less than its twins may still rise."""
FEW, SAY_LITTLE = 8, 4.0
"""Points below which an outcome is hardly a course, and what a single one weighs for not being able to tell."""
GAIN, MOST_OF_IT = 0.5, (0.7, 0.8)
"""Share of its range that a gain must be to be measured by, and the share of it that is gone where degrading ends and collapsed begins."""
LEAST_FIT = 0.05
"""What is left of the odds of a verdict whose meaning the outcome denies."""
FALLS: tuple[Verdict, ...] = ("collapsed", "degrading")
PARTED = 0.8
"""How much of the odds of a fall goes where the reward surely rose and kept its rise while the score surely did not."""
EITHER = 0.45
"""How much of the odds of improving goes to a gamed reward where nothing tells whether what is paid is the task or its opposite."""
INSIDE = -2.0
"""How far below the middle of its band an outcome still counts as within."""


def gather(case: Case, by: Weights | None = None) -> list[Piece]:
    """Everything that speaks for or against a verdict."""
    return [
        *outcome_piece(case, by or weights()),
        *found(case),
        *beside_sound_runs(case),
        *context(case),
    ]


def outcome_piece(case: Case, by: Weights) -> Iterator[Piece]:
    """What the outcome did: by weights, and by how well it fits what each verdict means."""
    amounts, counts = case.performance.amounts(), case.performance.counts
    if amounts is not None and counts is not None:
        steps, meant = (float(counts.level.step[0]), float(counts.level.step[-1])), fitting(case)
        weighed = zip(VERDICTS, by.total(amounts).tolist(), strict=True)
        yield Piece("", centred({v: w + meant[v] for v, w in weighed}), counts.name, steps, case.performance)


def fitting(case: Case) -> Speaks:
    """How well the outcome fits each verdict's meaning; what stands at its ceiling has learnt, and can be told."""
    if case.performance.counts is None:
        return dict.fromkeys(VERDICTS, 0.0)
    amounts = case.performance.counts.amounts
    fits = {v: max(LEAST_FIT, means(amounts)) for v, means in meaning.MEANS.items()}
    fits |= dict.fromkeys(("not_learning", "undecidable"), LEAST_FIT) if case.solved else {}
    for v in FALLS:  # a score that fell beside a reward that rose and stayed is gaming's, not a fall of all there is
        fits[v] *= 1 - PARTED * case.gamed
    return centred({v: float(np.log(fit)) for v, fit in fits.items()})


def told_apart(case: Case, odds: Mapping[Verdict, float]) -> Mapping[Verdict, float]:
    """The odds, those of a fall parted by how much of what was gained is gone, those of progress where its sign is not known."""
    c = case.performance.counts
    if case.present(*marked("either sign")):
        other = EITHER * odds["improving"]
        odds = {**odds, "improving": odds["improving"] - other, "reward_hacking": odds["reward_hacking"] + other}
    if c is None or not (gain := c.best - c.start) > GAIN * np.ptp(c.level.value):
        return odds
    most = float(np.interp((c.best - c.last) / gain, MOST_OF_IT, (0, 1)))
    fall = sum(odds[v] for v in FALLS)
    return {**odds, "collapsed": most * fall, "degrading": (1 - most) * fall}


def found(case: Case) -> Iterator[Piece]:
    """What the present findings speak for, by the role that their detectors declare."""
    for finding in case.findings.values():
        if finding.outcome is Outcome.PRESENT and (speaks := speaks_for(case, finding)):
            at = finding.evidence[0] if finding.evidence else None
            yield Piece(
                finding.statement,
                centred(speaks),
                at.metric if at else None,
                (at.first_step, at.last_step) if at else None,
                symptom=patterns()[finding.pattern].role is Role.SYMPTOM,
            )


def speaks_for(case: Case, finding: Finding) -> dict[Verdict, float]:
    """What a present finding adds to the odds of which verdict: what its detector declares, heard less where the outcome denies it."""
    pattern = patterns()[finding.pattern]
    if pattern.speaks:
        return {v: pattern.speaks[v] for v in VERDICTS if v in pattern.speaks}
    if pattern.role is Role.GAMING:
        by = explained_by(case, finding)
        own = 0.0 if Link.EVALUATION in {f.link for f in by} else EXPLAINED if by else 1.0
        return {"reward_hacking": own * GAMED * pattern.weight * (1 - case.progressed) * (0.4 + 0.6 * case.paid)}
    if pattern.role is Role.SILENCE:
        return {"not_learning": pattern.weight * (1 - max(case.rose, case.paid))}
    return {}


def beside_sound_runs(case: Case) -> Iterator[Piece]:
    """What it speaks for that the outcome stays in the band of the user's sound runs."""
    finding = next((case.findings[p] for p in marked("beside") if p in case.findings), None)
    if finding is not None and finding.measures.get("outcome", -np.inf) > INSIDE:
        runs = int(finding.measures["sound_runs"])
        weight = BESIDE * min(runs, ENOUGH_SOUND) / ENOUGH_SOUND
        many = "the earlier sound run" if runs == 1 else f"the {runs} earlier sound runs"
        yield Piece(f"the outcome goes where {many} went", centred({"improving": weight, "plateaued": weight}))


def context(case: Case) -> Iterator[Piece]:
    """What the little that is there speaks for."""
    counts = case.performance.counts
    if counts is None:
        yield Piece("no reward and no score that can judge it is logged", centred({"undecidable": 6.0}))
    elif counts.n < FEW:
        speaks = centred({"undecidable": SAY_LITTLE * (1 - counts.n / FEW)})
        yield Piece(f"{counts.name} has only {counted(counts.n, 'point')}", speaks, counts.name)
