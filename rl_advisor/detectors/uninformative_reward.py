"""The reward does not respond to what the policy does.

Looks for: a reward that is flat by equivalence with a healthy spread inside the batch, while the policy measurably moves (KL to
    the reference, entropy) and the held-out score falls.
Means: what is rewarded has nothing to do with the responses: shuffled labels, a random or broken judge, a grader that reads the
    wrong field. The updates are a random walk, and a random walk away from a good policy is a decline.
Not to be confused with: a task out of reach (no spread in the reward); a policy that does not move at all.
Next test: grade the same frozen batch twice and after shuffling responses between prompts: the scores must agree, then differ.
Source: spurious and random rewards; the field guide on proxies that do not agree with human judgement.
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("reward/mean|reward/used", "eval/score/*", "kl/ref|entropy/mean")


def detect(run: Run) -> Answer:
    """Present when the reward stays flat from start to end while the held-out score falls and the policy moves."""
    score, reward = outcomes.held_out(run), outcomes.training(run)
    assert score is not None and reward is not None  # diagnosis asked for both
    held, train = outcomes.course_of(score), outcomes.course_of(reward)
    std = run.curves.get("reward/std")
    spread = float(np.median(std.finite()[1])) if std is not None and std.finite()[1].size else float("nan")
    moved = segments.departures(run)
    change = train.overall.slope * train.overall.span
    measures = {"reward_change": change, "reward_spread": spread, "score_start": held.start, "score_last": held.last}
    where = (Evidence(train.name, float(train.step[0]), float(train.step[-1])), Evidence(held.name, held.best_step, float(held.step[-1])))
    went = f"{train.name} changed by {number(change)} over the run while {held.name} went {about(held.start, held.last)}"
    # A score that steps by itself was measured otherwise; it says nothing of the reward.
    silent = (
        not outcomes.stepped(run)
        and train.direction_overall() == "flat"
        and train.gain.high <= train.margin
        and not (spread <= train.margin)
    )
    if silent and held.fell and held.lost > 0.3 and moved:
        onset = Onset(float(train.step[0]), float(train.step[0]), float(train.step[0]))
        text = f"{went}: the reward does not track what the policy does."
        return present(text, onset, measures, where)
    return absent(f"{went}.", measures=measures, evidence=where)
