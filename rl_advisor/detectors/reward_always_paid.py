"""The reward is stuck at its highest value from the start: it pays whatever is said.

Looks for: a training reward that stays at one high value from the first step on, with no spread inside the batch where that is logged.
Means: the reward is too loose. The advantage is zero and the policy gradient silent, however good the curve looks.
Not to be confused with: a reward that reached its ceiling by learning; a task the model had solved before training.
Next test: grade the outputs of a deliberately bad policy: they must not be paid.
Source: the field guide's table of reward distributions (almost all 1).
"""

from rl_advisor.curves import outcomes, segments
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.SILENCE
WEIGHT = 2.0
NEEDS: tuple[str, ...] = ("reward/mean|reward/used|reward/component/*",)


def detect(run: Run) -> Answer:
    """Present when the reward is constant from the first step on and stands at its top."""
    curve = outcomes.training(run)
    assert curve is not None  # diagnosis asked for it
    found = segments.constant(curve, run.curves.get("reward/std"))
    where = (Evidence(curve.name, found.first, found.last),)
    measures = {"level": found.level, "share_at_level": found.share, "spread": found.spread}
    if found.constant and found.high:
        text = f"{curve.name} is {number(found.level)} at {percent(found.share)} of the steps, from the "
        text += "first on: it stands at its top."
        return present(text, Onset(found.first, found.first, found.first), measures, where)
    return absent(
        f"{curve.name} is not at its maximum from the start.",
        measures=measures,
        evidence=where,
    )
