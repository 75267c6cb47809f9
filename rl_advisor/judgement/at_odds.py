"""Facts that do not fit a verdict, or could overturn it: that is where a reader with more knowledge overrules."""

import re

from rl_advisor.detectors import marked
from rl_advisor.finding import BROKEN, Outcome
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.verdict import Judged
from rl_advisor.output.wording import about
from rl_advisor.settings import checks

MOST = 5
"""Facts that are told."""
UNEXPLAINED = 2
"""Metrics that nobody explained, of those that moved."""
MACHINERY = re.compile(
    r"(?i)time|mem|fps|speed|sec|eps|step|iter|epoch|lr|gb|loss|grad|norm|len|token|count|num|total|duration|frame|update|seen"
    r"|(?:^|[/_ ])(?:min|max|std|var|episodes?)$"
)
"""Names of what turns while a policy learns, and says nothing of how well; ends of a series of values, and counters."""


def is_machinery(name: str) -> bool:
    """Whether a metric nobody mapped is, by its name, a clock, a counter or the edge of another metric."""
    return MACHINERY.search(name) is not None


def at_odds(case: Case, judged: Judged) -> list[str]:
    """What speaks against the verdict, a guessed outcome, settings at fault beside a good outcome, unexplained metrics that moved."""
    odd = [f for p in marked("at_odds") if (f := case.findings.get(p)) is not None and f.outcome is Outcome.UNCLEAR and f.measures]
    told = [*judged.at_odds, *(f.statement for f in odd)]
    guess = case.run.outcome_guess
    if guess is not None and guess.p < 1:
        other = f"; the next best is {guess.runner_up}" if guess.runner_up else ""
        told.append(f"{guess.raw} was taken as the outcome: a guess{other}")
    if judged.verdict not in BROKEN:
        told += [wrong.statement for wrong in checks.proven(case.run)[:1]]
    # Where the outcome is known, what nobody can name is no fact against a verdict.
    unsure = guess is not None or case.performance.counts is None
    moved = [m for m in case.run.unmapped_moved() if not is_machinery(m[0])][:UNEXPLAINED] if unsure else []
    told += [f"{raw} has no known meaning and moved {about(first, last)}" for raw, first, last in moved]
    return told[:MOST]
