"""The learning rate changes abruptly in the middle of the run.

Looks for: a ratio of two or more between neighbouring points of the logged learning rate, after any warm-up.
Means: a schedule with restarts, a resumed run with another configuration, or a mistake; what follows is another experiment.
Not to be confused with: warm-up, which climbs in many small steps; a decay.
Next test: compare the configuration of before and after; repeat the stretch at the old rate.
Source: the practitioner's guide on abrupt changes; invariants of the log (the rate matches its schedule).
"""

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("policy/learning_rate",)
BRINGS: tuple[str, ...] = (
    "update_too_large",
    "destructive_drift",
    "drift_without_gain",
    "entropy_explosion",
    "truncation",
    "zero_variance_groups",
    "gradient_spikes",
    "loss_discontinuity",
    "length_collapse",
    "non_finite",
    "value_divergence",
    "critic_failure",
    "reward_jump",
    "sample_repetition",
    "template_collapse",
    "reward_shortcut",
    "reward_never_paid",
    "reward_always_paid",
)
CHANGE: tuple[tuple[str, str], ...] = (("lr_schedule", "constant"),)


def detect(run: Run, times: float = 2.0) -> Answer:
    """Present when the rate rises ``times`` or more from one point to the next, outside the first tenth of the run."""
    step, rate = run.curves["policy/learning_rate"].finite()
    if rate.size < 5:
        raise TooFewPoints(f"{rate.size} points of the learning rate")
    later = np.flatnonzero((step[1:] > step[0] + 0.1 * (step[-1] - step[0])) & (rate[:-1] > 0)) + 1
    ratio = rate[later] / rate[later - 1] if later.size else np.ones(1)
    biggest = int(np.argmax(ratio))
    measures = {"first": float(rate[0]), "last": float(rate[-1]), "largest_ratio": float(ratio[biggest])}
    if later.size and ratio[biggest] >= times:
        at = float(step[later[biggest]])
        before, after = float(rate[later[biggest] - 1]), float(rate[later[biggest]])
        onset = Onset(at, float(step[later[biggest] - 1]), at)
        text = f"The learning rate jumps from {number(before)} to {number(after)} at step {at:.0f}."
        measures |= {"before": before, "after": after}
        return present(text, onset, measures, (Evidence("policy/learning_rate", onset.low, at),))
    return absent(
        f"The learning rate goes from {number(rate[0])} to {number(rate[-1])} without a jump.",
        measures=measures,
    )
