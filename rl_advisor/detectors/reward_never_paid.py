"""The reward is stuck at its lowest value from the start: there is nothing to learn from.

Looks for: a training reward that stays at one low value from the first step on, with no spread inside the batch where that is logged.
Means: the task is out of reach, the reward too sparse, or what grades or simulates it broken. The advantage is zero and the policy
    gradient silent.
Not to be confused with: samples cut before they end, which are all graded zero for a reason outside the reward (see truncation);
    samples drawn so hot that none can be right.
Next test: grade the outputs of a hand-written good policy and of a random one: the reward must tell them apart; then train on the
    easiest tenth of the task.
Source: the field guide's table of reward distributions (almost all 0); AReaL's guide on rewards that do not rise.
"""

from rl_advisor.curves import outcomes, segments
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.SILENCE
WEIGHT = 3.0
NEEDS: tuple[str, ...] = ("reward/mean|reward/used|reward/component/*",)
CHANGE: tuple[tuple[str, str], ...] = (("group_size", "four times"),)


def detect(run: Run) -> Answer:
    """Present when the reward is constant from the first step on and stands at its floor."""
    curve = outcomes.training(run)
    assert curve is not None  # diagnosis asked for it
    found = segments.constant(curve, run.curves.get("reward/std"))
    where = (Evidence(curve.name, found.first, found.last),)
    measures = {"level": found.level, "share_at_level": found.share, "spread": found.spread}
    if found.constant and not found.high:
        text = f"{curve.name} is {number(found.level)} at {percent(found.share)} of the steps, from the "
        text += "first on: it never leaves its floor."
        return present(text, Onset(found.first, found.first, found.first), measures, where)
    return absent(
        f"{curve.name} is not at its floor from the start.",
        measures=measures,
        evidence=where,
    )
