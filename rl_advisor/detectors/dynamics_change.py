"""The world behaves otherwise from one step on.

Looks for: the return and the length of the training episodes stepping at one place, within a tenth of the run of each other, while the
    score of separate evaluation episodes does not step there.
Means: actions, observations or rules of the training environment changed, or episodes come from another version of it: a reward function
    alone cannot change from one update to the next how long episodes last. What was learned no longer fits.
Not to be confused with: a policy that broke, which changes evaluation as well; a reward that changed its scale, which leaves the
    lengths as they are (see reward_jump); a task whose length is its return, learned in one leap.
Next test: run one checkpoint from before the step in the training environment of today and in the one of evaluation.
Source: data and environment as the first link to suspect; L26 and L20 of the field guide told apart by what the reward cannot touch.
"""

import numpy as np

from rl_advisor.curves import outcomes, segments, untrail
from rl_advisor.features import TooFewPoints
from rl_advisor.features.change import change_points
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present, unclear
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.ENVIRONMENT_DATA
ROLE = Role.LIMIT
NEEDS: tuple[str, ...] = ("episode/length", "reward/mean|reward/used|reward/success", "eval/score/*")


def detect(run: Run, share: float = 0.25, ratio: float = 1.3, near: float = 0.05) -> Answer:
    """Present when the return falls by ``share`` of its scale, lengths change by ``ratio`` there, and evaluation stays for a while."""
    score, reward = outcomes.held_out(run), outcomes.training(run)
    assert score is not None and reward is not None  # diagnosis asked for both
    held, train = outcomes.course_of(score), outcomes.course_of(reward)
    length = outcomes.course_of(untrail.untrailed(run, run.curves["episode/length"]))
    scale, span = train.scale, float(train.step[-1] - train.step[0])
    if segments.counts_steps(train, length):
        text = "Return equals episode length here, so the two cannot be separated."
        return unclear(text)
    steps = change_points(length.step, length.value)
    for fall in change_points(train.step, train.value):
        if fall.before - fall.after < share * scale:
            continue
        with_it = [c for c in steps if abs(c.step - fall.step) <= near * span and not 1 / ratio < c.after / max(c.before, 1e-9) < ratio]
        if float(np.median(train.value[train.step > fall.step])) > fall.before - share / 2 * scale:
            continue  # it came back
        stays = _stays(held, fall.step, (fall.before - fall.after) / scale)
        if with_it and stays:
            at = with_it[0]
            text = f"{train.name} jumps {about(fall.before, fall.after)} and episodes from {number(at.before)} to "
            text += f"{number(at.after)} steps near step {fall.step:.0f} while {held.name} does not: the training environment changed."
            onset = Onset(fall.step, min(fall.step, at.step) - near * span / 2, max(fall.step, at.step))
            measures = {"before": fall.before, "after": fall.after, "length_before": at.before, "length_after": at.after}
            where = (Evidence(train.name, onset.low, onset.high), Evidence("episode/length", onset.low, onset.high))
            return present(text, onset, measures, where)
    return absent("Return and episode length do not change together.")


def _stays(held: outcomes.Course, at: float, part: float) -> bool:
    """Whether the next evaluations keep most of the level of those before, measured against the part that the return lost."""
    place = int((held.step <= at).sum())
    before, after = held.value[max(0, place - 4) : place], held.value[place : place + 3]
    if min(before.size, after.size) < 3:
        raise TooFewPoints(f"{min(before.size, after.size)} evaluations on one side of the change, 3 needed")
    lost = float(np.median(before) - np.median(after)) / (held.scale)
    return lost < part / 2
