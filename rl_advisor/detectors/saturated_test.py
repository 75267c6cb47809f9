"""The test is used up: its score has next to no room left, so it cannot show whether anything gets better.

Looks for: a held-out score that is a share of one and ends within a few hundredths of it.
Means: what is left are the test's own mistakes and its noise. Differences between checkpoints there are luck, and more steps can look like
    no progress.
Not to be confused with: a solved task, which needs no further training; a score that everybody reaches because the test leaked.
Next test: a harder test, the starting model evaluated on it first.
Source: the field guide on what a test is worth that has been used up; benchmarks saturate.
"""

from rl_advisor.curves.course import course
from rl_advisor.curves.outcomes import held_out
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EVALUATION
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("eval/score/*",)
FEWEST = 3


def detect(run: Run, full: float = 0.95) -> Answer:
    """Present when a held-out share ends at ``full`` or above."""
    curve = held_out(run)
    assert curve is not None  # diagnosis asked for it
    found = course(curve)
    if found is None or found.n < FEWEST:
        raise TooFewPoints(f"fewer than {FEWEST} evaluations")
    where = (Evidence(curve.name, float(found.level.step[0]), float(found.level.step[-1])),)
    measures = {"end": found.last}
    if found.ceiling == 1.0 and found.last >= full:
        text = f"{curve.name} stands at {number(found.last)} of 1: the test is used up, a harder one is needed to see more."
        return present(text, measures=measures, evidence=where)
    return absent(f"{curve.name} ends at {number(found.last)}.", measures=measures, evidence=where)
