"""Evaluation episodes earn far less than training episodes of the same policy.

Looks for: with returns of one scale, a training return that rose while evaluation stayed near where training began, so that it never
    followed; at least eight evaluations.
Means: evaluation sees the world differently: running statistics of observations that are not shared or frozen, another version of the
    environment, a deterministic policy where the learned one relies on its noise. The learning itself may be sound.
Not to be confused with: a held-out set that is harder by nature; a score on another scale; a gamed reward, where evaluation rises first
    and falls later.
Next test: evaluate with the training environment's wrappers and statistics, once with noise and once without.
Source: implementation studies of on-policy learning (arXiv 2005.12729, arXiv 2006.05990).
"""

import numpy as np

from rl_advisor.curves import outcomes
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present, unclear
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EVALUATION
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("eval/score/*", "reward/mean|reward/used", "episode/length")


def detect(run: Run, part: float = 0.25) -> Answer:
    """Present when evaluation made less than ``part`` of the way that training made, all along; unclear where the scales may differ."""
    score, reward = outcomes.held_out(run), outcomes.training(run)
    assert score is not None and reward is not None  # diagnosis asked for both
    held, train = outcomes.course_of(score), outcomes.course_of(reward)
    if held.n < 8:
        raise TooFewPoints(f"{held.n} evaluations, 8 needed")
    way, floor = train.last - train.start, train.start
    reached = float(np.quantile(held.value, 0.9))
    measures = {"train_start": floor, "train_last": train.last, "eval_last": held.last, "eval_nine_tenths": reached}
    where = (
        Evidence(held.name, float(held.step[0]), float(held.step[-1])),
        Evidence(train.name, float(train.step[0]), float(train.step[-1])),
    )
    text = f"{train.name} went {about(floor, train.last)}; the p90 of the evaluations is {number(reached)}"
    behind = train.rose and not train.fell and way > 5 * train.margin and reached < floor + part * way
    if not behind:
        return absent(f"{text}.", measures=measures, evidence=where)
    # Returns of one task begin at about the same level; far apart from the start, they are of different scales.
    alike = abs(held.start - floor) < 0.5 * way
    if not alike:
        return unclear(f"{text}; the scales may differ.", measures=measures, evidence=where)
    at = float(held.step[0])
    return present(f"{text}.", Onset(at, at, float(held.step[-1])), measures, where)
