"""The part of the reward that is the task falls while the sum rises: the sum is earned by something else.

Looks for: reward parts logged one by one, of which one is named as the task itself (accuracy, correct, success, solved, answer, exact
    match) and surely ends lower, while another part and the total end higher.
Means: the weights pay more for form, length or tone than for being right, and the policy has made that trade.
Not to be confused with: parts learned one after the other, where none falls; a task part that dips while a format is learned and comes
    back.
Next test: train on from before the fall with the other parts paid only where the task's own part is.
Source: the field guide on logging reward components apart; format rewards that are gated by correctness.
"""

import re

from rl_advisor.curves import outcomes, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, not_logged, present
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.GAMING
WEIGHT = 2.0
NEEDS: tuple[str, ...] = ("reward/component/*",)
TASK = re.compile(
    r"(?:^|[^a-z])(?:accura\w{0,9}|acc|correct\w{0,9}|success\w{0,9}|solved|answer|exact_?match|em|pass\w{0,9}|task|outcome)(?:[^a-z]|$)",
    re.IGNORECASE,
)
MUCH = 3
"""How many of the smallest changes that matter a part must rise or fall by."""


def detect(run: Run) -> Answer:
    """Present when a part named as the task ends surely lower while another part and the total end higher."""
    curves = run.family("reward/component/")
    shapes = {name.removeprefix("reward/component/"): outcomes.course_or_none(c) for name, c in curves.items()}
    parts = {name: s for name, s in shapes.items() if s is not None}
    total = outcomes.course_or_none(outcomes.training(run))
    if len(parts) < 2 or total is None:
        raise TooFewPoints(f"{len(parts)} parts of the reward with enough points, 2 and the total needed")
    task = {name: s for name, s in parts.items() if TASK.search(name)}
    if not task:
        return not_logged("No part of the reward is named as the task itself.")
    fell = [n for n, s in task.items() if s.gain.high < 0 and s.start - s.last > max(MUCH * s.margin, 0.2 * abs(s.start))]
    rose = [n for n, s in parts.items() if s.gain.low > 0 and s.last - s.start > MUCH * s.margin]
    measures = {f"{n}_{when}": v for n, s in parts.items() for when, v in (("first", s.start), ("latest", s.last))}
    measures |= {"total_first": total.start, "total_latest": total.last}
    went = "; ".join(f"{n} {about(s.start, s.last)}" for n, s in parts.items())
    where = tuple(Evidence(s.name, float(s.step[0]), float(s.step[-1])) for s in parts.values())
    if fell and rose and total.last > total.start:
        text = f"{fell[0]}, the task's own part of the reward, fell while the sum rose ({went}): the sum is earned by {rose[0]}."
        return present(text, segments.decline_began(curves[f"reward/component/{fell[0]}"]), measures, where)
    return absent(f"The task's own part did not fall while the sum rose: {went}.", measures=measures, evidence=where)
