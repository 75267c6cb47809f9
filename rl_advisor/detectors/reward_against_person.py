"""A person who scored samples without seeing their reward orders them otherwise than the reward does.

Looks for: a filled audit sheet (``samples RUN --audit SHEET.csv``) in the run's folder; of the pairs of samples that the reward, and each
    of its parts, tells apart, the share that it puts in the person's order, with its interval. A half is chance.
Means: the reward pays for what the person finds worse; the better it is climbed, the worse it gets.
Not to be confused with: scores of few samples, whose interval holds a half; a part that is meant to cost (length) beside a whole
    that agrees.
Next test: read the samples that the two rank most differently, which the same command shows; have a second person score the sheet.
Source: the field guide on auditing a reward by blind human labels.
"""

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, not_logged, present, unclear
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.samples.person import FEWEST, agreement, scored
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("rollouts",)


def detect(run: Run) -> Answer:
    """Present when the whole interval of the reward's agreement lies below a half, absent when it lies above."""
    if not run.scores:
        return not_logged("No audit sheet with a person's scores lies beside the samples.")
    rows = scored(run)
    found = agreement(rows)
    if "reward" not in found:
        raise TooFewPoints(f"{len(rows)} scored samples, {FEWEST} that differ in score and in reward needed")
    told = "; ".join(f"{name} {percent(a['share'])} ({percent(a['low'])} to {percent(a['high'])})" for name, a in found.items())
    text = f"Of the pairs among {len(rows)} samples that a person scored, in the person's order are by {told}; half is chance."
    said = present if found["reward"]["high"] < 0.5 else absent if found["reward"]["low"] > 0.5 else unclear
    measures = {f"{name} {end}": a[end] for name, a in found.items() for end in ("share", "low", "high")} | {"scored": float(len(rows))}
    return said(text, measures=measures, evidence=(Evidence("rollouts", float(rows["step"].min()), float(rows["step"].max())),))
