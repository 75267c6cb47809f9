"""What the KL curve shows is made by its estimator, not by the policy.

Looks for: single values of KL to the reference many times above their surroundings that come back at once, with entropy and length
    quiet at the same steps; or a signed estimate that is below zero for a good part of the run.
Means: the exponential in the non-negative estimator (k3) turns a few tokens into a peak, and the signed one (k1) is noise around a small
    number. The level and the slope of such a curve say little; its median over a window says more.
Not to be confused with: a real jump of the policy, after which KL, entropy or length stay where they went.
Next test: compute k1, k2 and k3 of one frozen batch in full precision, a token and a sequence at a time; compare medians.
Source: studies of KL estimators in policy optimisation (arXiv 2510.01555, arXiv 2512.21852).
"""

import numpy as np
import numpy.typing as npt

from rl_advisor.features import TooFewPoints
from rl_advisor.features.change import spikes
from rl_advisor.finding import Answer, Evidence, Onset, Outcome, Role, number, present
from rl_advisor.output.wording import counted, percent
from rl_advisor.run import Floats, Run
from rl_advisor.vocabulary import Link

LINK = Link.NUMERICS
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("kl/ref",)
BESIDE = ("entropy/mean", "response/length")


def moved(run: Run, steps: Floats) -> npt.NDArray[np.bool_]:
    """Which of the steps coincide, within one point, with a spike of entropy or length."""
    out = np.zeros(steps.size, dtype=np.bool_)
    for name in BESIDE:
        curve = run.curves.get(name)
        if curve is None or curve.finite()[1].size < 20:
            continue
        step, value = curve.finite()
        jumps = np.abs(np.diff(value, prepend=value[0]))
        usual = 1.4826 * float(np.median(jumps)) or 1e-12
        far = step[jumps > 5 * usual]
        width = float(np.median(np.diff(step)))
        out |= np.array([bool((np.abs(far - s) <= width).any()) for s in steps], dtype=np.bool_)
    return out


def detect(run: Run, below: float = 0.1, ratio: float = 10.0) -> Answer:
    """Present when three quiet peaks stand out, or more than ``below`` of the values are negative."""
    step, value = run.curves["kl/ref"].finite()
    if value.size < 20:
        raise TooFewPoints(f"{value.size} points of KL to the reference, 20 needed")
    negative = float(np.mean(value < 0))
    found = spikes(step, value, ratio=ratio)
    known = any(name in run.curves for name in BESIDE)
    single = found.steps[found.recovered]
    quiet = single[~moved(run, single)] if single.size else single
    measures = {"negative_share": negative, "single_peaks": float(single.size), "quiet_peaks": float(quiet.size), "times": ratio}
    where = (Evidence("kl/ref", float(step[0]), float(step[-1])),)
    text = f"{percent(negative)} of the KL values are below zero; "
    text += f"{counted(single.size, 'single-step peak')} of {number(ratio)} times their surroundings"
    if negative > below:
        at = float(step[np.argmax(value < 0)])
        return present(f"{text}: a signed estimate.", Onset(at, at, at), measures, where)
    if quiet.size >= 3 and known:
        at = float(quiet[0])
        text += f", {quiet.size} of them with entropy and length quiet."
        return present(text, Onset(at, at, at), measures, where)
    outcome = Outcome.UNCLEAR if quiet.size >= 3 else Outcome.ABSENT
    return Answer(outcome, f"{text}.", measures=measures, evidence=where)
