"""Sampling takes most of a step.

Looks for: generation above a stated share of the step, by the trainer's own timers or, without them, by the GPUs' power.
Means: the trainer waits for samples; a faster engine, shorter samples or overlap would help, a faster update would not.
Not to be confused with: a trainer that waits for data in an asynchronous set-up and calls that generation.
Next test: halve the longest allowed sample for a few steps: does the step shorten in proportion?
Source: studies of rollout skew put generation near seven tenths of a step; the seed's advice on GPU use in generation.
"""

from rl_advisor.finding import Answer, Role
from rl_advisor.gpu.dominating import dominating
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("time/phase/*|telemetry",)
CHANGE: tuple[tuple[str, str], ...] = (("max_response_length", "half"),)


def detect(run: Run) -> Answer:
    """Present when generation takes more than three fifths of the step at the low end of its interval; unclear where it cannot be told."""
    return dominating(run, "generation")
