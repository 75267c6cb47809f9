"""What the update used went another way than what all samples earned: a filter or a penalty stands between the two.

Looks for: the reward of all samples and that of the samples that were trained on, both logged, one of which rose or fell while the other
    did not.
Means: with dynamic filtering the used reward is held where groups still differ: that it stays level is expected, and progress shows in the
    reward of all samples. With a penalty in the reward it is the penalty that grows.
Not to be confused with: two names for one measure; a used reward that falls because the task's does.
Next test: log the share of groups that the filter drops, and the penalty by itself.
Source: AReaL's guide on task_reward and rollout/reward; DAPO's dynamic sampling.
"""

from rl_advisor.curves import outcomes
from rl_advisor.finding import Answer, Evidence, Role, absent, present
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("reward/mean", "reward/used")
MUCH = 3
"""How many of the smallest changes that matter one must have gone beyond the other."""


def detect(run: Run) -> Answer:
    """Present when the two moved apart by far."""
    whole, used = (outcomes.course_of(run.curves[name]) for name in ("reward/mean", "reward/used"))
    gap = (whole.last - whole.start) - (used.last - used.start)
    went = f"The reward of all samples went {about(whole.start, whole.last)}, that of the samples trained on "
    went += f"{about(used.start, used.last)}"
    measures = {"all_first": whole.start, "all_last": whole.last, "used_first": used.start, "used_last": used.last, "gap": gap}
    where = (Evidence("reward/used", float(used.step[0]), float(used.step[-1])),)
    if abs(gap) > MUCH * max(whole.margin, used.margin):
        why = "a filter or a penalty stands between the two" if gap > 0 else "what is trained on is filtered upwards"
        return present(f"{went}: {why}, so judge progress by the first.", measures=measures, evidence=where)
    return absent(f"{went}.", measures=measures, evidence=where)
