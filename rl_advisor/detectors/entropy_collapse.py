"""The policy has become certain before it has become good.

Looks for: entropy that fell to a small part of its start, together with groups that lost their spread or a reward that no longer
    rises, while there is still room above the score.
Means: nothing new is tried any more; the reward stalls below what could be reached, and pass@k narrows.
Not to be confused with: healthy convergence: entropy falls and the reward still rises, or the score is at its ceiling; a task whose
    entropy is low by nature, where only the fall against its own start counts.
Next test: sample the last checkpoint at a higher temperature: does diversity, and the best of k, come back?
Source: entropy mechanism of reasoning RL (arXiv 2505.22617); clip-higher in DAPO (arXiv 2503.14476); the field guide on exploration.
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, present, unclear
from rl_advisor.output.wording import about, percent
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.LIMIT
SPEAKS = {"collapsed": 0.7, "not_learning": 0.5}
NEEDS: tuple[str, ...] = ("entropy/mean",)
CHANGE: tuple[tuple[str, str], ...] = (("clip_higher", ""), ("entropy_coef", "three times"))

HALF_WAY = 0.5
"""Share of the task below which nobody converges who knows more than one answer."""


def detect(run: Run, left: float = 0.2, dead: float = 0.9) -> Answer:
    """Present when entropy is below ``left`` of its start, the signal is gone, and the outcome has room above it."""
    curve = run.curves["entropy/mean"]
    step, value = curve.finite()
    if value.size < 6:
        raise TooFewPoints(f"{value.size} points of entropy")
    begin, now = float(np.median(segments.opening(curve))), float(np.median(segments.final(curve)))
    share = now / begin if begin > 0 else float("nan")
    groups = run.curves.get("reward/flat_groups")
    flat = float(np.median(segments.final(groups))) if groups is not None and groups.finite()[1].size else float("nan")
    held = outcomes.course_or_none(outcomes.held_out(run))
    s = held or outcomes.course_or_none(outcomes.training(run))
    room = s is None or not s.at_ceiling
    ways = [x.direction() for x in (held, outcomes.course_or_none(outcomes.training(run))) if x is not None]
    rises = "rising" in ways and "falling" not in ways
    stalled = not rises or flat >= dead
    # Without groups to look at, a policy that learned, kept what it had and levelled off looks the same when it simply converged.
    converged = not bool({"flat", "falling"} & set(ways)) or outcomes.thriving(run)
    low = s is not None and s.ceiling == 1.0 and s.last < HALF_WAY and share < left / 4  # certain, with half of the task unsolved
    idle = s is not None and not s.gain.low > 0 and share < left / 4  # certain, and nothing was learned that it could be certain of
    sure = flat >= dead or not ways or outcomes.any_fell(run) or not converged or low or idle
    measures = {"at_start": begin, "now": now, "share_left": share, "flat_groups": flat}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])),)
    text = f"Entropy went {about(begin, now)}"
    if share < left and room and stalled and sure and (flat >= dead or np.isnan(flat)):
        return present(
            f"{text} before the score reached its maximum.",
            segments.began(curve),
            measures,
            where,
        )
    if share < left and room and stalled:
        spread = f"; {percent(1 - flat)} of the groups still have reward variance"
        text += "; whether exploration was lost or the policy has converged cannot be told" if np.isnan(flat) else spread
        return unclear(f"{text}.", measures=measures, evidence=where)
    return absent(f"{text}.", measures=measures, evidence=where)
