"""Responses are cut at the length limit before they end.

Looks for: a truncated share that is high from the start, or rises together with the length; where none is logged, responses that pile up
    at one greatest length (see the samples). A share taken against the longest
    response of the batch (padding) is never zero and is not used.
Means: cut responses are graded as failures whatever they would have said, and feed noise or zeros into the advantage.
Not to be confused with: a policy that rambles to the limit because the reward pays it, or because it fell apart: then truncation
    follows something else, and its onset comes later.
Next test: raise the response limit for one evaluation: does the score jump?
Source: AReaL's guide (share without an end token above 5 percent deserves action); overlong filtering in DAPO (arXiv 2503.14476).
"""

import numpy as np

from rl_advisor import course, trajectory
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, not_logged, number, present
from rl_advisor.run import Curve, Run
from rl_advisor.samples.measured_text import measured
from rl_advisor.vocabulary import Link

LINK = Link.ENVIRONMENT_DATA
ROLE = Role.CONSEQUENCE
NEEDS: tuple[str, ...] = ("response/truncated|rollouts",)
BRINGS: tuple[str, ...] = ("reward_never_paid", "zero_variance_groups", "reward_outliers")
CHANGE: tuple[tuple[str, str], ...] = (("max_response_length", "twice"), ("mask_truncated", ""))


def detect(run: Run, share: float = 0.05, most: float = 0.5) -> Answer:
    """Present when the share starts above ``most`` or rises there, or rises well above ``share`` and its own beginning."""
    curve = run.curves.get("response/truncated") or _of_samples(run)
    if curve is None:
        text = "No share of cut responses is logged, and the lengths of the samples pile up at no cap."
        return not_logged(text)
    step, value = curve.finite()
    if value.size < 3:
        raise TooFewPoints(f"{value.size} points of response/truncated")
    begin, now = float(np.median(value[:3])), float(np.median(course.final(curve)))
    measures = {"at_start": begin, "now": now, "highest": float(value.max())}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])),)
    went = f"Truncated share {number(begin)} at the start, {number(now)} at the end"
    if begin >= most:
        onset = Onset(float(step[0]), float(step[0]), float(step[0]))
        return present(f"{went}: cut from the first step on.", onset, measures, where)
    if now > share and (now > 3 * begin + 0.02 or (now >= most and _rose(curve))):
        return present(f"{went}: rising.", course.began(curve), measures, where)
    return absent(f"{went}.", measures=measures, evidence=where)


def _of_samples(run: Run) -> Curve | None:
    """The share of cut responses at each step with samples, as flagged or where lengths pile up; None where neither is so."""
    table = measured(run)
    if "truncated" not in table or not table["truncated"].notna().any():
        return None
    share = table.groupby("step")["truncated"].mean().dropna()
    return Curve("rollouts", "truncated", "rollouts", share.index.to_numpy(np.float64), share.to_numpy(np.float64), mapped=True)


def _rose(curve: Curve) -> bool:
    """Whether the share surely rose between its first and its last fifth."""
    s = trajectory.shape_or_none(curve)
    return s is not None and s.gain.low > 0 and s.gain.delta > s.margin
