"""Episodes of several turns repeat one another: the spread of rewards goes first, the reward after it.

Looks for: in a task of several turns or tool calls, a spread of the reward that lost more than half of its early level, clearly before
    the reward itself began to fall, and with room above the reward.
Means: the policy settles on a way of going on that it has been paid for once; nothing is left to compare, and what follows (certainty,
    gradient spikes, loss of reward) is hard to undo.
Not to be confused with: a task that is solved, where the spread goes because nearly every reward is the highest; a reward that fell first
    and took the spread with it.
Next test: read ten episodes of one prompt from before and after the spread fell; then keep only prompts whose rewards vary.
Source: RAGEN on the collapse of multi-turn agents (arXiv 2504.20073).
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Outcome, Role, absent, present
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.TRAINING_SIGNAL
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("reward/group_std|reward/std", "reward/mean|reward/used", "episode/turns|episode/tool_calls")
CHANGE: tuple[tuple[str, str], ...] = (("dynamic_filtering", ""),)


def detect(run: Run, left: float = 0.5) -> Answer:
    """Present when the spread fell below ``left`` of its start clearly before the reward fell; unclear when the reward has not fallen."""
    curve = run.curves.get("reward/group_std") or run.curves["reward/std"]
    reward = outcomes.training(run)
    assert reward is not None  # diagnosis asked for it
    s = outcomes.course_of(reward)
    step, value = curve.finite()
    if value.size < 12:
        raise TooFewPoints(f"{value.size} points of {curve.name}, 12 needed")
    begin, now = float(np.median(segments.opening(curve, 0.15))), float(np.median(segments.final(curve)))
    measures = {"spread_start": begin, "spread_now": now, "reward_best": s.best, "reward_last": s.last}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])), Evidence(s.name, float(s.step[0]), float(s.step[-1])))
    text = f"{curve.name} went {about(begin, now)}, {s.name} {about(s.best, s.last)} since its best"
    onset = segments.began(curve)
    if not now < left * begin or s.at_ceiling or onset is None:
        return absent(f"{text}.", measures=measures, evidence=where)
    if not s.fell:
        outcome = Outcome.ABSENT if s.direction() == "rising" else Outcome.UNCLEAR
        return Answer(outcome, f"{text}: the reward has not fallen.", measures=measures, evidence=where)
    if onset.high < segments.decline_began(reward).low:
        return present(f"{text}: the spread of rewards fell first.", onset, measures, where)
    return absent(f"{text}: the spread did not fall first.", measures=measures, evidence=where)
