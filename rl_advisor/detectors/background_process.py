"""Another process takes memory on the GPU while training runs.

Looks for: memory in use above the run's settled level by more than 256 MiB for more than a second that goes away again and does not
    come back with the steps; the steps before, during and after are compared.
Means: a merge, an upload, an evaluation or somebody else shares the GPU. Whether it causes a slow-down, the times can only suggest.
Not to be confused with: engines that sleep and wake with each step; an allocator that grows and stays.
Next test: run without the other process, or list the processes on the GPU while it happens.
Source: recordings with a model merger beside training; the seed's advice on memory spikes that coincide with background work.
"""

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present, unclear
from rl_advisor.gpu.look import MEASURED, look
from rl_advisor.output.wording import seconds_of
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("telemetry",)


def detect(run: Run) -> Answer:
    """Present when such a stretch was seen to end; unclear when memory rose and stayed, absent when it kept its level."""
    seen = look(run)
    if not {"memory_gib", "other_gib"} & seen.ticks.value.keys() or len(seen.steps.spans) < 4:
        raise TooFewPoints("needs memory in use, and four steps with known ends")
    ended = [f for f in seen.foreign if f["ended"]]
    if not ended:
        left = unclear("Memory in use rose and did not come back.")
        return left if seen.foreign else absent("Memory in use never rose a quarter of a GiB above its baseline for a second.")
    event = max(ended, key=lambda f: f["end"] - f["start"])
    (first, last), seconds = event["steps"], event["end"] - event["start"]
    measures = {"stretches": float(len(ended)), "seconds": seconds, "excess_gib": event["excess_gib"]}
    measures |= {f"{name}_{when}": v for name in ("step_s", *MEASURED) for when, v in event[name].items() if v is not None}
    took = ", ".join(f"{seconds_of(v)} {when}" for when, v in event["step_s"].items())
    text = f"For {seconds_of(seconds)}, steps {first:.0f} to {last:.0f}, {number(event['excess_gib'])} GiB more were in use"
    return present(f"{text}; steps took {took}.", Onset(first, first, first), measures, (Evidence("telemetry", first, last),))
