"""Clipping comes in bursts, and more and more of them.

Looks for: single steps whose clip fraction stands far above its surroundings, more often in the second half of the run than in the
    first, together with a largest ratio that spreads or probabilities of trainer and engine that no longer agree.
Means: the ratio of new to old probability has become erratic. In a mixture of experts the usual reason is that the router picks other
    experts in training than in sampling; the log of a trainer seldom shows the routing itself.
Not to be confused with: a steady high clip fraction (updates too large); a few outlying batches spread evenly over the run.
Next test: replay one frozen batch with the routing recorded while sampling: are the ratios one now?
Source: reports that router shift precedes volatile ratios, bursts of clipping and the collapse (arXiv 2510.11370, arXiv 2510.23027).
"""

import numpy as np

from rl_advisor.curves import segments
from rl_advisor.features import TooFewPoints
from rl_advisor.features.change import spikes
from rl_advisor.finding import Answer, Evidence, Onset, Outcome, Role, present
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.DATA_FRESHNESS
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("ratio/clip_fraction", "ratio/max|mismatch/correlation|kl/mismatch|mismatch/logprob")
CHANGE: tuple[tuple[str, str], ...] = (("routing_replay", ""), ("deterministic", ""))


def erratic(run: Run, correlation: float = 0.99, times: float = 2.0) -> list[str]:
    """The measures of agreement that got worse: in words."""
    out = []
    agree = run.curves.get("mismatch/correlation")
    if agree is not None and agree.finite()[1].size >= 6:
        first, last = float(np.median(segments.opening(agree, 0.2))), float(np.median(segments.final(agree)))
        if last < correlation and last < first - 0.001:
            out.append(f"the correlation of probabilities fell {about(first, last)}")
    for name in ("ratio/max", "kl/mismatch", "mismatch/logprob"):
        curve = run.curves.get(name)
        if curve is None or curve.finite()[1].size < 6:
            continue
        first, last = float(np.quantile(segments.opening(curve, 0.3), 0.75)), float(np.quantile(segments.final(curve, 0.3), 0.75))
        if last > times * max(first, 1e-9):
            out.append(f"{name} went {about(first, last)}")
    return out


def detect(run: Run, fewest: int = 5) -> Answer:
    """Present when bursts multiply and a measure of agreement got worse; unclear when only the bursts multiply."""
    curve = run.curves["ratio/clip_fraction"]
    step, value = curve.finite()
    if value.size < 40:
        raise TooFewPoints(f"{value.size} points of the clip fraction, 40 needed")
    found = spikes(step, value)
    middle = float(step[step.size // 2])
    late, early = int((found.steps >= middle).sum()), int((found.steps < middle).sum())
    worse = erratic(run)
    measures = {"bursts_first_half": float(early), "bursts_second_half": float(late), "agreement_worse": float(len(worse))}
    where = (Evidence("ratio/clip_fraction", float(step[0]), float(step[-1])),)
    text = f"{early} bursts of clipping in the first half of the run, {late} in the second"
    # More than chance would move between two halves of equal rate: two standard deviations of a fair split.
    more = late >= fewest and late - early > 2 * np.sqrt(late + early)
    if more and worse:
        at = float(found.steps[found.steps >= middle][0])
        onset = Onset(at, float(found.steps[0]), at)
        return present(f"{text}; {'; '.join(worse)}.", onset, measures, where)
    outcome = Outcome.UNCLEAR if more else Outcome.ABSENT
    return Answer(outcome, f"{text}.", measures=measures, evidence=where)
