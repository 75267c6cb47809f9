"""The reward pays the opposite of the task.

Looks for: a reward that rises while the held-out score falls from the very first evaluations and never passes zero; or a return that
    falls from the first steps while every measure of the update is healthy: small steps, a policy that grows certain. Then something
    is being optimised, only not what the return measures.
Means: a sign error, swapped chosen and rejected labels, or a cost fed as a reward.
Not to be confused with: reward hacking, which usually helps the task first and leaves it later; penalties, which are negative by
    nature and rise with a rising score.
Next test: print ten graded samples; a good one must be graded above a bad one.
Source: the field guide on wiring mistakes (sign errors, reversed preference labels).
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.features.relation import correlation
from rl_advisor.finding import Answer, Evidence, Outcome, Role, absent, number, present, unclear
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.GAMING
WEIGHT = 3.0
NEEDS: tuple[str, ...] = ("reward/mean|reward/used", "eval/score/*|kl/old")


def detect(run: Run) -> Answer:
    """Present when score and reward move against each other from the start, or the return falls under healthy updates."""
    by_score = _against_score(run)
    if by_score is not None and by_score.outcome is Outcome.PRESENT:
        return by_score
    by_update = _against_update(run)
    return by_update or by_score or unclear("Too little is logged to compare reward and score.")


def _against_update(run: Run, small: float = 0.1) -> Answer | None:
    reward, step_size, entropy = outcomes.training(run), run.curves.get("kl/old"), run.curves.get("entropy/mean")
    s = outcomes.course_or_none(reward)
    if reward is None or s is None or step_size is None or entropy is None or min(c.finite()[1].size for c in (step_size, entropy)) < 6:
        return None
    size, left = np.abs(step_size.finite()[1]), entropy.finite()[1]
    usual, highest = float(np.quantile(size, 0.9)), float(size.max())
    # Growing certain takes several updates; a policy thrown to one answer does it in one.
    begin, early, now = float(left[0]), float(left[2]), float(np.median(segments.final(entropy)))
    measures = {"return_start": s.start, "return_last": s.last, "kl_old": usual, "entropy_start": begin, "entropy_last": now}
    text = f"{s.name} went {about(s.start, s.last)} with KL per update at most {number(usual)} at the p90 of the updates; "
    text += f"entropy {number(begin)} to {number(now)}"
    # What a policy does in its first steps it did before it learned anything: a best there is the start, whatever noise made of it.
    first = s.best_step <= s.step[0] + 0.15 * (s.step[-1] - s.step[0])
    never_rose = s.fell and first and s.lost > 0.6
    healthy = usual < small and highest < 5 * small and begin > 0.05 and early > 0.3 * begin and now < 0.9 * begin
    if never_rose and healthy:
        where = (Evidence(s.name, float(s.step[0]), float(s.step[-1])),)
        said = f"{text}: something else is being optimised."
        return present(said, segments.decline_began(reward), measures, where)
    return absent(f"{text}.", measures=measures) if outcomes.held_out(run) is None else None


def _against_score(run: Run) -> Answer | None:
    score, reward = outcomes.held_out(run), outcomes.training(run)
    held, train = outcomes.course_or_none(score), outcomes.course_or_none(reward)
    if score is None or held is None or train is None:
        return None
    at_evals = np.interp(held.step, train.step, train.smoothed)
    together = correlation(at_evals, held.value)
    highest = float(train.value.max())
    measures = {"correlation": together.rho, "reward_highest": highest, "score_start": held.start, "score_last": held.last}
    where = (
        Evidence(train.name, float(train.step[0]), float(train.step[-1])),
        Evidence(held.name, float(held.step[0]), float(held.step[-1])),
    )
    text = f"Reward and {held.name} have a rank correlation of {number(together.rho)}; the highest reward is {number(highest)}"
    early = held.best_step <= held.step[0] + 0.1 * (held.step[-1] - held.step[0])
    if highest <= 0 and float(train.value.min()) < 0 and held.fell and early and train.last > train.start and not train.fell:
        return present(f"{text}: failures earn more reward.", segments.decline_began(score), measures, where)
    return absent(f"{text}.", measures=measures, evidence=where)
