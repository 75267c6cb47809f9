"""No gradient arrives: its norm is exactly zero, step after step.

Looks for: a gradient norm of zero at nearly every row of the last fifth, or at every row there is.
Means: nothing is learned, whatever the other curves do. Every group got one reward, the parameters that would train are frozen, all tokens
    are masked, or the learning rate and the penalty are both zero.
Not to be confused with: a norm that is small, or zero at some steps because a few batches were flat; a metric that is rounded to zero
    while the policy moves.
Next test: one batch by hand: is the advantage zero, is the mask empty, does any parameter require a gradient?
Source: GRPO's advantage is zero in a group of one reward, and so is its gradient; reports of frozen adapters under offloading.
"""

import numpy as np
import numpy.typing as npt

from rl_advisor.curves import outcomes, segments
from rl_advisor.finding import Answer, Evidence, Role, absent, present, unclear
from rl_advisor.output.wording import roughly
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.TRAINING_SIGNAL
ROLE = Role.SILENCE
WEIGHT = 2.0
NEEDS: tuple[str, ...] = ("policy/grad_norm",)
Bools = npt.NDArray[np.bool_]


def detect(run: Run, share: float = 0.9) -> Answer:
    """Present when at least ``share`` of the last fifth of the rows have no gradient; unclear where the policy moves all the same."""
    curve = run.curves["policy/grad_norm"]
    step, value = curve.finite()
    none = np.abs(value) <= 1e-12
    late = none[-max(3, value.size // 5) :]
    measures = {"rows_without": float(none.sum()), "rows": float(value.size), "share_late": float(late.mean())}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])),)
    text = f"The gradient norm is exactly zero at {int(none.sum())} of {value.size} steps"
    if late.mean() < share:
        return absent(f"{text}.", measures=measures, evidence=where)
    first = begins(none)
    if moved(run, float(step[min(first, step.size - 1)])):
        return unclear(f"{text}, yet the policy moves.", measures=measures, evidence=where)
    if outcomes.thriving(run):
        return unclear(f"{text}: the run has learned what there was to learn.", measures=measures, evidence=where)
    groups = run.curves.get("reward/flat_groups")
    flat = float(np.median(segments.final(groups))) if groups is not None and groups.finite()[1].size else float("nan")
    text += f", and {roughly(flat, 'share')} of the groups have zero reward variance" if flat >= share else ""
    return present(f"{text}: nothing is learned.", segments.around(step, float(step[min(first, step.size - 1)])), measures, where)


def begins(none: Bools, share: float = 0.9) -> int:
    """The first row from which on nearly all rows have no gradient."""
    left = np.cumsum(none[::-1])[::-1] / np.arange(none.size, 0, -1)
    return int(np.flatnonzero(none & (left >= share))[0])


def moved(run: Run, since: float) -> bool:
    """Whether KL to the reference or entropy went far after a step: then a gradient there is, and its norm is not what is logged."""
    for name in ("kl/ref", "entropy/mean"):
        if name not in run.curves:
            continue
        step, value = run.curves[name].finite()
        after = value[step >= since]
        if after.size >= 9:
            early, late = np.split(after[: after.size // 3 * 3], 3)[::2]
            gap, scatter = float(np.median(late) - np.median(early)), float(np.median(np.abs(np.diff(after))))
            if abs(gap) > max(0.02, 5 * scatter, 0.3 * abs(float(np.median(early)))):
                return True
    return False
