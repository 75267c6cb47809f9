"""The GPUs stand still inside the step, before training: the shape of a slow reward, judge or environment.

Looks for: quiet stretches inside a step (not right after the step before ended), or the trainer's own timer of the reward.
Means: the update waits for something outside the GPU. The GPU-hours are paid and unused.
Not to be confused with: a wait right after a step's end (checkpoint, data loader); waits that spin on a collective, which look busy.
Next test: replace the reward by a constant for ten steps: does the stretch vanish?
Source: recordings with a delayed reward; timers named reward in the trainers' logs.
"""

from rl_advisor.finding import Answer, Evidence, Role, absent, not_logged, present, unclear
from rl_advisor.gpu.look import look
from rl_advisor.gpu.steps import logged_seconds
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("time/phase/*|telemetry",)


def detect(run: Run, most: float = 0.15) -> Answer:
    """Present when more than ``most`` of the time in steps is such a wait; unclear without step ends or utilisation."""
    logged = logged_seconds(run)
    if logged:
        share = logged.get("waiting", 0.0) / logged["step"]
        source, text = (
            "time/phase/*",
            f"GPU idle {percent(share)} of each step, waiting for the reward or data (by the trainer's timers)",
        )
        return _finding(run, share, share > most, text, source)
    if not len(run.telemetry):
        return not_logged("Neither complete phase timers nor GPU telemetry are logged.")
    seen = look(run)
    if not len(seen.steps.spans) or any(c.startswith("idle time: utilisation") for c in seen.cannot_tell):
        return unclear(
            "Needs step ends and utilisation to tell where in a step the GPUs idle.",
        )
    total = float((seen.steps.spans[:, 1] - seen.steps.spans[:, 0]).sum())
    share = sum(i["seconds"] for i in seen.idle if i.get("where") == "inside the step") / total
    return _finding(
        run,
        share,
        share > most,
        f"GPU idle {percent(share)} of each step, most likely waiting for the reward (stretches of half a second or more)",
        "telemetry",
    )


def _finding(run: Run, share: float, much: bool, text: str, source: str) -> Answer:
    return (present if much else absent)(f"{text}.", None, {"share": share}, (Evidence(source, run.first_step, run.last_step),))
