"""The verdict: all evidence weighed into a probability of every verdict, and what broke first, which is an answer of its own.

Nothing depends on the order of the evidence. ``undecidable`` is a verdict like the others, with its own evidence; a verdict that less than
half of the weight speaks for is given with low confidence, beside its rivals.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from rl_advisor.curves.task import task
from rl_advisor.detectors import patterns
from rl_advisor.finding import BROKEN, FALLS, Confidence, Finding, Role, Verdict
from rl_advisor.judgement import meaning
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.causes import STRONG, before, is_weak, root_of_fall, roots
from rl_advisor.judgement.diagnosis import with_role
from rl_advisor.judgement.evidence import Piece, gather, told_apart
from rl_advisor.judgement.weights import probabilities, weights
from rl_advisor.output.wording import told_once
from rl_advisor.settings import checks
from rl_advisor.vocabulary import Link

SURE, LIKELY = 0.75, 0.5
"""Probability from which a confidence is high, or medium."""
ODDS = 0.5
"""How much a piece must speak against the verdict to be at odds with it."""
MOST_AT_ODDS, MOST_REASONS = 3, 3
FEWEST_SURE, EARLY = 10, 0.15
"""Points below which nothing is sure, and the share of a plan before which it takes three times as many."""
TELLS = 0.5
"""How much a piece beside the outcome must speak for a verdict to be told among its reasons."""


@dataclass(frozen=True)
class Judged:
    """A verdict, what it rests on and how sure it is."""

    verdict: Verdict
    why: str
    confidence: Confidence
    cause: Finding | None = None
    """The first break; None when nothing is broken or when what broke is not in the log."""
    link: Link | None = None
    """The link of the first break where no finding names it."""
    probabilities: Mapping[Verdict, float] = field(default_factory=dict)
    evidence: tuple[Piece, ...] = ()
    """The weightiest first."""

    @property
    def verdict_set(self) -> tuple[Verdict, ...]:
        """The likeliest verdicts that stay possible, two at least where none has half of it."""
        likely = sorted(self.probabilities, key=lambda v: -self.probabilities[v])
        weight = np.cumsum([self.probabilities[v] for v in likely])
        many = max(int(np.searchsorted(weight, weights().covered)) + 1, 1 if weight[0] >= LIKELY else 2)
        chosen = likely[:many]
        return (self.verdict, *(v for v in chosen if v != self.verdict))

    @property
    def at_odds(self) -> tuple[str, ...]:
        """What speaks against the verdict, most of all first."""
        against = sorted((p for p in self.evidence if p.speaks[self.verdict] < -ODDS), key=lambda p: p.speaks[self.verdict])
        said = (p.told(self.verdict, against=True) for p in against)
        return tuple(dict.fromkeys(text for text in said if text))[:MOST_AT_ODDS]


def judge(case: Case) -> Judged:
    """The verdict that the evidence speaks for, and what broke first."""
    evidence = sorted(gather(case), key=lambda p: -max(abs(w) for w in p.speaks.values()))
    odds = told_apart(case, probabilities(weights(), [p.speaks for p in evidence]))
    verdict = max(odds, key=lambda v: odds[v])
    cause = cause_of(case, verdict)
    return Judged(
        verdict,
        reason(case, verdict, evidence),
        confidence(case, verdict, odds[verdict], broken=cause is not None),
        cause,
        None if cause else likely_link(case, verdict),
        odds,
        tuple(evidence),
    )


def confidence(case: Case, verdict: Verdict, p: float, *, broken: bool = False) -> Confidence:
    """High from three in four, medium from one in two; low for a guessed outcome.

    Never high for progress that nothing checks, or in which something is ``broken``.
    """
    if verdict == "undecidable" or p < LIKELY or case.run.outcome_guess is not None:
        return "low"
    unchecked = case.performance.held is None and not len(case.run.rollouts) and "language" in task(case.run).traits
    return "high" if p >= SURE and enough(case, verdict) and not (verdict == "improving" and (unchecked or broken)) else "medium"


def enough(case: Case, verdict: Verdict) -> bool:
    """Whether there are points enough to be sure of anything, and the outcome does what the word means: odds alone do not make it so."""
    counts, planned = case.performance.counts, case.run.planned_steps
    if counts is None:
        return False
    early = planned is not None and case.step < EARLY * planned
    means = meaning.MEANS.get(verdict)
    return counts.n >= FEWEST_SURE * (3 if early else 1) and (means is None or means(counts.amounts) >= SURE)


def reason(case: Case, verdict: Verdict, evidence: list[Piece]) -> str:
    """One sentence: what the verdict's own definition measured, and what else speaks most for it."""
    own = meaning.says(verdict, case.performance)
    others = sorted((p for p in evidence if p.beside and p.speaks[verdict] > TELLS), key=lambda p: -p.speaks[verdict])
    clauses = [*own, *((p.says, p.metric) for p in others[: MOST_REASONS - len(own)])]
    return told_once(clauses) or "nothing that was measured speaks for any verdict"


def cause_of(case: Case, verdict: Verdict) -> Finding | None:
    """The finding that broke first, as far as the log shows; a fault that is present is one whatever the outcome does."""
    if verdict in FALLS:
        return root_of_fall(case)
    if verdict == "reward_hacking":
        gaming = (case.findings[p] for p in with_role(Role.GAMING) if case.present(p))
        return next(iter((*gaming, *(f for f in roots(case) if f.link is Link.REWARD_SIGNAL))), None)
    left = roots(case)
    if verdict == "not_learning":
        silent = [f for f in left if patterns()[f.pattern].role is Role.SILENCE and not any(before(other, f) for other in left)]
        return next((f for f in silent or left if f.link is not Link.SYSTEMS or breaks(f)), None)
    return next((f for f in left if breaks(f, case.run.first_step)), None)


def breaks(finding: Finding, since: float = -np.inf) -> bool:
    """Whether a finding is a break although the outcome is good: a fault, a limit, gaming; of systems or silence only a strong one.

    What usually follows from something else limits the run where it was there ``since`` its first step.
    """
    pattern = patterns()[finding.pattern]
    follows = pattern.role is Role.CONSEQUENCE and (finding.onset is None or finding.onset.low > since)
    return not follows and (pattern.weight >= STRONG or not is_weak(finding))


def likely_link(case: Case, verdict: Verdict) -> Link | None:
    """Where to look first when nothing in the log names what broke: at what the settings prove, else where such runs break most often."""
    if verdict not in BROKEN:
        return None
    if wrong := checks.proven(case.run):
        return wrong[0].link
    if verdict == "not_learning":
        return Link.TRAINING_SIGNAL
    return Link.REWARD_SIGNAL if verdict == "reward_hacking" or case.parted else Link.POLICY_UPDATE
