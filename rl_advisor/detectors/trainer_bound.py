"""Updates take most of a step.

Looks for: training (log-probabilities among it) above a stated share of the step, by the trainer's own timers or, without them, by the
    GPUs' power.
Means: a faster engine would change little; larger micro-batches, fewer passes over a batch, recomputing less, or sharding over more GPUs
    would.
Not to be confused with: the first steps, which compile; a step that trains long because it samples little on purpose.
Next test: double the micro-batch, gradient accumulation halved: does the step shorten?
Source: the mirror of the studies of rollout skew; trainers' own timers of update and log-probabilities.
"""

from rl_advisor.finding import Answer, Role
from rl_advisor.gpu.dominating import dominating
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("time/phase/*|telemetry",)


def detect(run: Run) -> Answer:
    """Present when training takes more than three fifths of the step at the low end of its interval; unclear where it cannot be told."""
    return dominating(run, "training")
