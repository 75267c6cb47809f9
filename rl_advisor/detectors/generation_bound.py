"""Sampling takes most of a step.

Looks for: generation above a stated share of the step, by the trainer's own timers or, without them, by the GPUs' power.
Means: the trainer waits for samples; a faster engine, shorter answers or overlap would help, a faster update would not.
Not to be confused with: a trainer that waits for data in an asynchronous set-up and calls that generation.
Next test: halve the longest allowed response for a few steps: does the step shorten in proportion?
Source: studies of rollout skew put generation near seven tenths of a step; the seed's advice on GPU use in generation.
"""

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Evidence, Finding, Outcome, number
from rl_advisor.gpu.profile import profile
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
NEEDS: tuple[str, ...] = ("time/phase/*|telemetry",)
SYMPTOM = True
"""It says where time goes, not that anything broke."""


def detect(run: Run, most: float = 0.6) -> Finding:
    """Present when generation takes more than ``most`` of the step at the low end of its interval; unclear where phases cannot be told."""
    rows = {row["name"]: row for row in profile(run)["phases"]}
    if "generation" not in rows:
        raise TooFewPoints("generation cannot be told from training in what was recorded")
    row = rows["generation"]
    measures = {key: float(row[key]) for key in ("share", "share_low", "share_high", "seconds_per_step") if row[key] is not None}
    share, low, high = (number(100 * row[key]) for key in ("share", "share_low", "share_high"))
    text = f"Generation takes {share} % of a step ({low} to {high} %)"
    where = (Evidence("telemetry" if len(run.telemetry) else "time/phase/*", run.first_step, run.last_step),)
    if row["confidence"] == "low":
        return Finding(
            "generation_bound", LINK, Outcome.UNCLEAR, f"{text}, if the lower level of power is generation.", None, measures, where
        )
    if row["share_low"] > most:
        return Finding("generation_bound", LINK, Outcome.PRESENT, f"{text}.", None, measures, where)
    if row["share_high"] < most:
        return Finding("generation_bound", LINK, Outcome.ABSENT, f"{text}.", None, measures, where)
    return Finding("generation_bound", LINK, Outcome.UNCLEAR, f"{text}, which lies on both sides of the mark.", None, measures, where)
