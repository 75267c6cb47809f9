"""Half precision overflows: updates are skipped and the loss scale is halved, again and again.

Looks for: lines of the loss scaler that say that it skipped a step, after its first search is over.
Means: gradients no longer fit into half precision. Each skipped step is lost, and a scale that sinks on ends in NaN.
Not to be confused with: the first steps, in which a dynamic scale finds its level by overflowing a few times; one skip now and then.
Next test: the same stretch in bf16, which has the range of full precision; or a gradient clip of a half with a dynamic scale.
Source: the field guide's table of what comes before NaN (fp16 overflow: bf16, dynamic loss scaling).
"""

from rl_advisor.curves import segments
from rl_advisor.finding import Answer, Evidence, Role, absent, not_logged, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.NUMERICS
ROLE = Role.LIMIT
NEEDS: tuple[str, ...] = ()
CHANGE: tuple[tuple[str, str], ...] = (("max_grad_norm", "half"),)


def detect(run: Run, first: float = 0.05, many: int = 3) -> Answer:
    """Present when the log tells of ``many`` skipped steps after the ``first`` share of the run."""
    told = [e for e in run.events if e.kind == "overflow"]
    if not run.events:
        return not_logged("No log of the process was found that would show it.")
    after = run.first_step + first * (run.last_step - run.first_step)
    late = [e for e in told if e.step is None or e.step > after]
    measures = {"skipped_steps": float(len(told)), "after_the_first_steps": float(len(late))}
    if len(late) < many:
        text = f"The log tells of {len(told)} steps skipped for overflow, {len(late)} of them after the first steps."
        return absent(text, measures=measures)
    steps = [e.step for e in late if e.step is not None]
    since = f" from step {steps[0]:.0f} on" if steps else ""
    text = f"Half precision overflowed at least {len(late)} times{since}: each time an update was skipped and the loss scale halved. "
    text += "bf16 has the range for it."
    onset = segments.around(segments.logged(run), steps[0]) if steps else None
    return present(
        text, onset, measures, (Evidence("events", steps[0] if steps else run.first_step, steps[-1] if steps else run.last_step),)
    )
