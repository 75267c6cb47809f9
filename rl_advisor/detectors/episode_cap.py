"""Episodes run into their time limit.

Looks for: a mean episode length that came to stand at its maximum and does not vary there, and beside it a return that no longer rises
    and a critic that explains little.
Means: the limit, not the task, ends the episodes. Where the end by the limit is treated as a real end, the critic learns that worth stops
    there; where standing still is paid, the policy may just wait for the limit.
Not to be confused with: a task whose goal is to last, solved when the limit is reached; tasks of one fixed length.
Next test: bootstrap the value at the limit, and raise the limit once: does the return move?
Source: time limits in reinforcement learning (arXiv 1712.00378); the difference between terminated and truncated.
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, present, unclear
from rl_advisor.output.wording import about, percent
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.ENVIRONMENT_DATA
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("episode/length", "reward/mean|reward/used|eval/score/*")
CHANGE: tuple[tuple[str, str], ...] = (("bootstrap_at_cap", ""),)


def detect(run: Run, explained: float = 0.3) -> Answer:
    """Present when the length is pinned, the return flat or falling and the critic poor; unclear when only the length is pinned."""
    curve = run.curves["episode/length"]
    step, value = curve.finite()
    if value.size < 8:
        raise TooFewPoints(f"{value.size} points of the episode length, 8 needed")
    highest, late = float(value.max()), segments.final(curve)
    pinned = float(np.mean(late >= 0.995 * highest))
    begin = float(np.median(segments.opening(curve)))
    critic = run.curves.get("value/explained_variance")
    fit = float(np.median(segments.final(critic))) if critic is not None and critic.finite()[1].size else float("nan")
    now = float(np.median(late))
    measures = {"at_start": begin, "now": now, "highest": highest, "pinned_share": pinned, "explained_variance": fit}
    where = (Evidence("episode/length", float(step[0]), float(step[-1])),)
    text = f"Episode length went {about(begin, now)}, "
    text += f"{percent(pinned)} of the latest points at its maximum"
    if pinned < 0.8:
        return absent(f"{text}.", measures=measures, evidence=where)
    if begin >= 0.995 * highest:
        return absent(f"{text}: all episodes have one length.", measures=measures, evidence=where)
    s = outcomes.course_or_none(outcomes.outcome(run))
    stuck = s is not None and s.direction() in ("flat", "falling") and not s.at_ceiling
    with_length = s is not None and s.rose and s.last >= s.best - s.margin
    if stuck and fit < explained and not with_length:
        return present(f"{text}, and the return does not rise.", segments.began(curve), measures, where)
    text += "; the log does not say whether the limit or the goal ends them"
    return unclear(f"{text}.", measures=measures, evidence=where)
