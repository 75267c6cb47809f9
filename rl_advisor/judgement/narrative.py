"""The lists of an assessment: what was looked for and is not there, and what could not be seen, so that silence is no all-clear."""

from collections.abc import Mapping
from itertools import zip_longest

from rl_advisor.curves import outcomes
from rl_advisor.curves.task import TRAITS, task
from rl_advisor.discovery import table
from rl_advisor.finding import Outcome, Role
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.diagnosis import role_of
from rl_advisor.output.wording import counted, plain
from rl_advisor.run import Run

LINES: Mapping[str, list[str]] = table(__file__, "blind_spots.toml")
"""For whom a failure that stays out of sight matters -> the failure, why it cannot be seen, and the check that shows it."""
MOST = 8
"""Gaps that are listed; a broken folder may have hundreds."""


def ruled_out(case: Case, outcome: Outcome = Outcome.ABSENT) -> list[str]:
    """Causes that were looked for in the data and measured as absent, or have that outcome; what was not logged of symptoms, too."""
    told = [f for f in case.findings.values() if f.outcome is outcome]
    return [f"{plain(f.pattern)}: {f.statement}" for f in told if outcome is Outcome.NOT_LOGGED or role_of(f.pattern) is not Role.SYMPTOM]


def could_not_see(case: Case) -> list[str]:
    """What the data lacks first, then what stayed unclear, what no log of this kind of run shows, and what is not logged."""
    plan = "planned steps: not in the configuration, so the remaining budget is unknown"
    gaps = [f"{g.where}: {g.why}" for g in case.run.gaps[:MOST]]
    lacking = [*_score(case), *([plan] if case.run.planned_steps is None else []), *gaps]
    return [*lacking, *ruled_out(case, Outcome.UNCLEAR), *fitting(case.run), *ruled_out(case, Outcome.NOT_LOGGED)]


def _score(case: Case) -> list[str]:
    """What is missing of a held-out score: all of it, or evaluations."""
    if case.held is not None:
        return []
    curve = outcomes.held_out(case.run)
    if curve is None:
        return ["held-out score: not logged, so curves alone cannot tell a gamed reward from a good one"]
    n = int(curve.finite()[0].size)
    return [f"held-out score: {counted(n, 'evaluation')}, too few for a trend ({outcomes.FEWEST} needed)"]


def fitting(run: Run) -> list[str]:
    """At most eight lines on what cannot be seen in this kind of run: one of each kind first, the most particular kinds before."""
    by_family = (LINES[family] for family in (*TRAITS, "any") if family in LINES and family in {*task(run).traits, "any"})
    return [line for turn in zip_longest(*by_family) for line in turn if line is not None][:8]
