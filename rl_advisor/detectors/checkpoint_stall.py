"""Every so often the GPUs stand still right after a step: the shape of a checkpoint, a merge or an upload that blocks training.

Looks for: quiet stretches that begin as a step ends, and whether those steps wrote a checkpoint that still exists; or the trainer's timer.
Means: saving blocks training. Save less often, or in the background.
Not to be confused with: a slow data loader, which stalls after every step; an evaluation, which keeps the GPU busy.
Next test: turn saving off for twenty steps: do the stretches vanish?
Source: recordings with frequent checkpoints; timers named save in the trainers' logs.
"""

import numpy as np

from rl_advisor.finding import Answer, Evidence, Outcome, Role, not_logged, number, present, unclear
from rl_advisor.gpu.look import look
from rl_advisor.gpu.steps import logged_seconds
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("time/phase/*|telemetry",)


def detect(run: Run, most: float = 0.05) -> Answer:
    """Present when such stretches, after some steps and not after all, take more than ``most`` of the time."""
    logged = logged_seconds(run)
    if "checkpoint" in logged:
        share = logged["checkpoint"] / logged["step"]
        outcome = Outcome.PRESENT if share > most else Outcome.ABSENT
        text = f"GPU idle {percent(share)} of each step while saving (by the trainer's timers)."
        return Answer(outcome, text, None, {"share": share}, (Evidence("time/phase/*", run.first_step, run.last_step),))
    if not len(run.telemetry):
        return not_logged("Neither a timer of saving nor GPU telemetry is logged.")
    seen = look(run)
    if not len(seen.steps.spans) or any(c.startswith("idle time: utilisation") for c in seen.cannot_tell):
        return unclear("Stalls at step ends cannot be seen without step ends and utilisation.")
    stalls = [i for i in seen.idle if str(i.get("where", "")).startswith("after")]
    total = float((seen.steps.spans[:, 1] - seen.steps.spans[:, 0]).sum())
    share, after = sum(i["seconds"] for i in stalls) / total, len({i["step"] for i in stalls}) / len(seen.steps.spans)
    written = {c.step + 1 for c in run.checkpoints}
    measures = {
        "share": share,
        "stalls": float(len(stalls)),
        "after_share_of_steps": after,
        "beside_a_checkpoint": float(sum(i["step"] in written for i in stalls)),
    }
    text = f"GPU idle {percent(share)} of the time right after steps end"
    text += f", half a second or more after {percent(after)} of them"
    if share > most and after < 0.8:
        median = float(np.median([i["seconds"] for i in stalls]))
        measures["median_seconds"] = median
        where = tuple(Evidence("telemetry", i["step"], i["step"]) for i in stalls[:5])
        return present(f"{text} (median {number(median)} s).", None, measures, where)
    every = ", after nearly every step: more likely a data loader" if share > most else ""
    return Answer(Outcome.UNCLEAR if every else Outcome.ABSENT, f"{text}{every}.", None, measures)
