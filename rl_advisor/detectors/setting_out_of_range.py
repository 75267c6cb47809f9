"""A setting lies beyond anything that is used with this method.

Looks for: learning rate, trust region, entropy weight, KL penalty, sampling temperature, passes over a batch or gradient limit
    outside the range that the table of priors calls possible for the method, the framework and the weights that are trained.
Means: a slip of a power of ten, a copied default of another method, or an experiment on purpose. It holds from the first step, so no curve
    has to change for it to be the cause.
Not to be confused with: an unusual value in a run that learns, which its own past defends; a rate inside its warm-up.
Next test: the middle of the usual range, everything else as it is, for a twentieth of the steps.
Source: the table of priors (rl_advisor/priors), each row with its own source.
"""

import math

import numpy as np

from rl_advisor.curves import outcomes
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, not_logged, number, present, unclear
from rl_advisor.priors import Prior, prior
from rl_advisor.priors.circumstances import circumstances
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
ROLE = Role.FAULT
KINDS = ("any",)
NEEDS: tuple[str, ...] = ()
ASKED = {
    "policy/learning_rate": "learning_rate",
    "ratio/clip_range": "clip_range",
    "entropy/coef": "entropy_coef",
    "kl/ref_coef": "kl_coef",
    "setting/temperature": "temperature",
    "setting/updates_per_batch": "updates_per_batch",
    "setting/max_grad_norm": "max_grad_norm",
}
"""Name in the table of priors, which is that of the curve where one is logged -> the setting."""


def detect(run: Run) -> Answer:
    """Present when a setting is beyond what is possible and the run does not learn; unclear when it learns all the same."""
    known = circumstances(run)
    asked = [
        (s, v, p, name) for name, s in ASKED.items() if (v := value_of(run, name, s)) is not None and (p := prior(name, known)) is not None
    ]
    if not asked:
        return not_logged("No setting with a known usual range was found.")
    measures = {setting: value for setting, value, *_ in asked}
    far = [one for one in asked if beyond(one[2], one[1])]
    if not far:
        return absent("Settings are within usual ranges: " + ", ".join(f"{s} {number(v)}" for s, v, *_ in asked) + ".", None, measures)
    setting, value, row, name = max(far, key=lambda f: distance(f[2], f[1]))
    where = (Evidence(name, run.first_step, run.last_step),)
    measures |= {"usual_low": row.usual[0], "usual_high": row.usual[1]}
    text = f"{setting} is {number(value)}, usually {number(row.usual[0])} to {number(row.usual[1])}: {row.means(value)}"
    onset = Onset(run.first_step, run.first_step, run.first_step)
    if outcomes.thriving(run):
        return unclear(f"{text} The run learns nevertheless.", onset, measures, where)
    return present(text, onset, measures, where)


def value_of(run: Run, name: str, setting: str) -> float | None:
    """The value of a setting: the middle of the first half of a schedule, what stays constant, or what the configuration says."""
    curve = run.curves.get(name)
    if curve is not None and curve.finite()[1].size:
        value = curve.finite()[1]
        if setting == "learning_rate":
            return float(np.median(value[: max(3, value.size // 2)]))
        # What moves by itself (a temperature that is learned, an adaptive penalty) is no setting.
        return float(value[0]) if np.ptp(value) <= 0.01 * abs(value[0]) else None
    told = run.settings.get(setting)
    return float(told) if isinstance(told, int | float) and not isinstance(told, bool) and math.isfinite(told) else None


def beyond(row: Prior, value: float) -> bool:
    """Whether a value lies outside what is possible; a zero that switches something off does not."""
    return row.side(value) in {"far_above", "far_below"} and value != 0


def distance(row: Prior, value: float) -> float:
    """How many powers of ten a value lies outside the usual range."""
    low, high = row.usual
    near = high if value > high else low
    return abs(math.log10(abs(value) / near)) if value and near > 0 and value * near > 0 else 1.0
