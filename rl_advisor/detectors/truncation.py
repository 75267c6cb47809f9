"""Responses are cut at the length limit before they end.

Looks for: a truncated share of half and more, from the start or by now, or one that rises well above its beginning; where none is logged,
    responses that pile up at one greatest length: in the samples, in a mean length that equals the longest, or in a share as long as the
    longest of its batch that is more than chance.
Means: cut responses are graded as failures whatever they would have said, and feed noise or zeros into the advantage.
Not to be confused with: a policy that rambles to the limit because the reward pays it, or because it fell apart: then truncation
    follows something else, and its onset comes later.
Next test: raise the response limit for one evaluation: does the score jump?
Source: AReaL's guide (share without an end token above 5 percent deserves action); overlong filtering in DAPO (arXiv 2503.14476).
"""

import numpy as np

from rl_advisor.curves import segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, not_logged, present
from rl_advisor.output.wording import percent, roughly
from rl_advisor.run import Curve, Run
from rl_advisor.samples.measured_text import measured
from rl_advisor.vocabulary import Link

LINK = Link.ENVIRONMENT_DATA
ROLE = Role.CONSEQUENCE
NEEDS: tuple[str, ...] = ("response/truncated|rollouts|response/length_max|response/padded_max",)
CHANGE: tuple[tuple[str, str], ...] = (("max_response_length", "twice"), ("mask_truncated", ""))
REMEDY = "raise the length limit, or leave cut responses out of the loss"


def detect(run: Run, share: float = 0.05, most: float = 0.5) -> Answer:
    """Present when most responses are cut, from the start or by now, or the share rises well above ``share`` and its own beginning."""
    found = _cut(run)
    if found is None:
        return not_logged("No truncated share is logged, and lengths do not pile up at a cap.")
    curve, least = found
    step, value = curve.finite()
    begin, now = float(np.median(value[:3])), float(np.median(segments.final(curve)))
    measures = {"at_start": begin, "now": now, "highest": float(value.max())}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])),)
    went = f"{roughly(now, 'share').capitalize()} of completions are truncated ({percent(begin)} at the start)"
    if min(begin, now) >= most:
        onset = Onset(float(step[0]), float(step[0]), float(step[0]))
        return present(f"{went}, from the first step on: {REMEDY}.", onset, measures, where)
    if value.size < 3:
        raise TooFewPoints(f"{value.size} points of the truncated share")
    if now >= most or now > max(share, min(least, 3 * begin)) + 3 * begin:
        onset = segments.began(curve) or segments.around(step, float(step[int(np.argmax(value >= (begin + now) / 2))]))
        return present(f"{went}: {REMEDY}.", onset, measures, where)
    return absent(f"{went}.", measures=measures, evidence=where)


def _cut(run: Run, chance: float = 0.2) -> tuple[Curve, float] | None:
    """The share of cut responses, and how much of it may be chance: as logged, as flagged in the samples, or as lengths at a cap tell it.

    A share as long as the longest of its batch counts what stands at the cap as soon as that is more than a few.
    """
    logged = run.curves.get("response/truncated")
    if logged is not None and logged.finite()[1].size:
        return logged, 0.0
    told = _of_samples(run) or _at_cap(run)
    if told is not None:
        return told, 0.0
    padded = run.curves.get("response/padded_max")
    return (padded, chance) if padded is not None and padded.finite()[1].size else None


def _at_cap(run: Run) -> Curve | None:
    """Ones and zeros where the mean response is as long as the longest, step by step at one and the same length; None if it never is."""
    mean, longest = run.curves.get("response/length"), run.curves.get("response/length_max")
    if mean is None or longest is None or mean.step.size != longest.step.size or not longest.finite()[1].size:
        return None
    cap = float(np.nanmax(longest.value))
    full = (mean.value >= 0.995 * cap).astype(np.float64)
    return Curve("response/length", mean.raw, mean.source, mean.step, full, mapped=True) if full.any() and cap > 1 else None


def _of_samples(run: Run) -> Curve | None:
    """The share of cut responses at each step with samples, as flagged or where lengths pile up; None where neither is so."""
    table = measured(run) if len(run.rollouts) else None
    if table is None or "truncated" not in table or not table["truncated"].notna().any():
        return None
    share = table.groupby("step")["truncated"].mean().dropna()
    return Curve("rollouts", "truncated", "rollouts", share.index.to_numpy(np.float64), share.to_numpy(np.float64), mapped=True)
