"""When the run stops, and what is kept when it does.

Relates: evaluation cadence, checkpoints that are kept, and the planned steps.
Why: the best policy is often not the last. Without evaluation nobody knows when to stop; with only the last checkpoint kept, the best one
    is overwritten; a plan far beyond where learning ends invites a collapse.
Confirmed by: a score that peaks before the end; fewer checkpoints than evaluations.
Source: stable-baselines issue 837; ml-agents issues 2059 and 6040; Henderson et al. 2018.
"""

from rl_advisor.settings.given import NOT_GIVEN, CheckSaid, Given, Settings
from rl_advisor.vocabulary import Link

LINK = Link.EVALUATION


def check(s: Settings) -> CheckSaid:
    """A note for each gap."""
    evaluates, keep, total = s.given("eval_every"), s.given("keep"), s.given("total_steps")
    keys = s.keys("eval_every", "keep", "total_steps", "save_every")
    notes = []
    logged = any(name.startswith("eval/score/") and curve.value.size > 1 for name, curve in s.run.curves.items())
    if evaluates is not None and _never(evaluates) and not logged:
        notes.append(f"nothing is evaluated ({evaluates}), so no score says when to stop")
    if keep is not None and keep.number is not None and 0 < keep.number <= 1:
        notes.append(f"only the last checkpoint is kept ({keep}), which need not be the best")
    if total is not None and total.number and s.around.framework == "mlagents" and total.number >= 1e6:
        notes.append(f"the plan is long ({total}): stop when the reward has been flat for a tenth of it, and keep the best checkpoint")
    if notes:
        text = "; ".join(notes)
        return CheckSaid(
            "note", text[0].upper() + text[1:] + ".", keys, "Evaluate at a fixed cadence and keep the checkpoint with the best score."
        )
    return CheckSaid("fine", "Evaluation and checkpoints are set.", keys) if keys else NOT_GIVEN


def _never(given: Given) -> bool:
    return (
        given.value is False
        or str(given.value).lower() in ("no", "none", "intervalstrategy.no")
        or (given.number is not None and given.number <= 0)
    )
